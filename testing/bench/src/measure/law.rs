//! What the law costs a tool call: how risky it is, what a file of gates says about it, and whether a signed approval holds.
//! Pure functions, one thread; nothing is stored.

#![expect(clippy::disallowed_methods, reason = "a measured part reads the clock")]
#![expect(clippy::print_stdout, reason = "its figures are read from its output")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_domain::approval::{
    ApprovalScope, ApprovalToken, Binding, Card, CardId, Decided, Nonce, RiskLevel, Strength, TokenId, Verdict,
};
use windlass_domain::{Digest, Taint, Tenant, Wall};
use windlass_policy::approve::{self, Order, OwnerKey, PublicKeys, issue, verify};
use windlass_policy::gate::{Law, Subject, Trigger, evaluate, read_gates, risk_gate};
use windlass_policy::risk::{Place, Table, assess_call};

const LENGTH: Duration = Duration::from_secs(1);
const NOW: Wall = Wall::from_millis(1_790_000_000_000);
const LATER: Wall = Wall::from_millis(1_790_000_600_000);

/// What it prints when it is done.
#[derive(Debug, Serialize, Deserialize)]
pub struct Figures {
    pub risk_micros: f64,
    pub gates: usize,
    pub gates_micros: f64,
    pub verified_per_s: f64,
}

/// As agents write them, from plain to tangled.
const COMMANDS: [&str; 8] = [
    "cargo test -p windlass-store --all-targets",
    "ls -la src && git status --short",
    "grep -rn 'fn main' --include='*.rs' . | head -20",
    "for f in $(git ls-files '*.md'); do sed -n '1,5p' \"$f\"; done",
    "env RUST_LOG=debug timeout 60 nice -n 10 make -j4 build 2>&1 | tee build.log",
    "find . -name '*.tmp' -mtime +7 -exec rm -f {} +",
    "bash -c 'cd crates && for d in */; do (cd \"$d\" && cargo fmt -- --check); done'",
    "python3 - <<'END'\nimport json\nprint(json.dumps({'a': 1}))\nEND",
];

const GATES: &str = "
- { name: no keys, on: on_tool_call, type: regex, config: { field: tool_args.command, pattern: 'AKIA[0-9A-Z]{16}' } }
- { name: no pushes, on: on_tool_call, type: string_match, config: { field: tool_args.command, any_of: [git push] } }
- { name: amounts, on: on_tool_call, type: numeric_range, config: { tools: [pay], field: tool_args.amount, max: 100 } }
";

pub fn run() -> anyhow::Result<()> {
    let (table, place) = (Table::shipped(), Place::workspace());
    let calls: Vec<Value> = COMMANDS.iter().map(|command| json!({ "command": command })).collect();
    let risk = micros(|turn| {
        black_box(assess_call(&table, "bash", &calls[turn % calls.len()], &place));
    });
    let mut gates = read_gates(GATES)?;
    gates.push(risk_gate());
    let gated = micros(|turn| {
        let subject = Subject::call("bash", calls[turn % calls.len()].clone(), Taint::Auth);
        black_box(evaluate(&gates, Trigger::OnToolCall, subject, Law { table: &table, place: &place }));
    });
    let (token, subject, keys) = approved()?;
    let verifying = micros(|turn| {
        let proof = verify(&token, &subject, &keys, NOW, Nonce::new(turn as u128));
        black_box(proof.is_ok());
    });
    anyhow::ensure!(verify(&token, &subject, &keys, NOW, Nonce::new(1)).is_ok(), "the token should hold");
    let figures =
        Figures { risk_micros: risk, gates: gates.len(), gates_micros: gated, verified_per_s: 1e6 / verifying };
    println!("{}", serde_json::to_string(&figures)?);
    Ok(())
}

/// What one turn takes.
fn micros(mut turn: impl FnMut(usize)) -> f64 {
    let (begun, mut turns) = (Instant::now(), 0);
    while begun.elapsed() < LENGTH {
        for _ in 0..64 {
            turn(turns);
            turns += 1;
        }
    }
    begun.elapsed().as_secs_f64() * 1e6 / turns as f64
}

fn approved() -> anyhow::Result<(ApprovalToken, approve::Subject, PublicKeys)> {
    let binds = Binding {
        tenant: Tenant::local(),
        work_item_id: "task".into(),
        scope: ApprovalScope::SingleStep,
        plan_hash: None,
        binding_hash: Some(Digest::of(b"call")),
        spawn_policy_hash: None,
        max_executions: 1,
    };
    let card = Card {
        card_id: CardId::new(NOW, 1),
        intent: "Remove the build folder".into(),
        risk_level: RiskLevel::High,
        rationale: "It is stale".into(),
        consequence_label: "deletes files".into(),
        affected_items: vec!["target/".into()],
        details: json!({"argv": ["rm", "-r", "target"]}),
        worst_case: None,
        expires_at: LATER,
        binds: binds.clone(),
    };
    let decision = Decided {
        verdict: Verdict::Approved,
        by: "owner".into(),
        approval_strength: Strength::Confirmed,
        conditions: Vec::new(),
        note: String::new(),
    };
    let token_id = TokenId::new(NOW, 2);
    let order =
        Order { card: &card, decision: &decision, token_id, nonce: Nonce::new(3), issued_at: NOW, expires_at: LATER };
    let key = OwnerKey::new(&[7; 32]);
    let mut keys = PublicKeys::default();
    keys.add(&key.public())?;
    let subject = approve::Subject {
        tenant: binds.tenant,
        work_item_id: binds.work_item_id,
        scope: binds.scope,
        plan_hash: binds.plan_hash,
        binding_hash: binds.binding_hash,
        spawn_policy_hash: binds.spawn_policy_hash,
        least_strength: Strength::Confirmed,
        executions_used: 0,
        execution_nonces: Vec::new(),
    };
    Ok((issue(order, &key)?, subject, keys))
}
