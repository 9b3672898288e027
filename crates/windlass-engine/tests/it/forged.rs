//! Tokens that nobody gave. Whoever can write to the disk puts a token of their own making where the owner's stands; the
//! call does not run. The control of each case is the owner's own token, put there in the very same way.

use windlass_domain::approval::{
    ApprovalEvent, ApprovalScope, ApprovalState, ApprovalToken, CardId, Decided, Issued, KeyId, Nonce, Requested,
    Strength, TokenId, Verdict,
};
use windlass_domain::{Digest, TaskId, Tenant, Wall};
use windlass_engine::Engine;
use windlass_policy::approve::{Order, OwnerKey, issue};
use windlass_store::StreamId;

use crate::court::{Court, bash, call, owner_key, yes};

/// A task that waits for its card, with an answer in the stream that gave nobody a token yet.
struct Case {
    court: Court,
    engine: Engine,
    task: TaskId,
    card: CardId,
}

impl Case {
    fn new() -> Self {
        let court = Court::new(vec![vec![bash("rm notes")]]);
        let engine = court.process();
        let (task, asked) = court.park(&engine);
        Self { court, engine, task, card: asked.card.card_id }
    }

    fn put(&self, event: &ApprovalEvent) {
        self.court.forge(&StreamId::new("approval", self.card), event.encode());
    }

    /// A token for this card, signed by `key`.
    fn token(&self, key: &OwnerKey) -> ApprovalToken {
        let ApprovalState::Requested { card } = self.court.approval(&self.engine, self.card) else {
            panic!("not requested");
        };
        let decision = decided();
        let now = self.court.wall();
        let order = Order {
            card: &card,
            decision: &decision,
            token_id: TokenId::new(now, 1),
            nonce: Nonce::new(1),
            issued_at: now,
            expires_at: card.expires_at,
        };
        issue(order, key).unwrap()
    }

    /// Puts the answer and the token into the stream, and goes on: whether the call was performed, and what the audit says.
    fn with(self, token: ApprovalToken) -> (bool, Vec<String>) {
        self.put(&ApprovalEvent::Decided(decided()));
        self.put(&ApprovalEvent::Issued(Issued { token }));
        self.goes_on()
    }

    fn goes_on(self) -> (bool, Vec<String>) {
        self.court.drive(&self.engine, self.task);
        let reasons = self.court.audit(&self.engine).into_iter().map(|noted| noted.reason).collect();
        (!self.court.performed().is_empty(), reasons)
    }
}

fn decided() -> Decided {
    let windlass_domain::approval::Answer { verdict, by, approval_strength, conditions, note, .. } = yes();
    Decided { verdict, by, approval_strength, conditions, note }
}

/// The attack with its reason, beside its control.
fn check(what: &str, forge: impl FnOnce(&Case) -> ApprovalToken, why: &str) {
    let control = Case::new();
    let own = control.token(&owner_key());
    assert!(control.with(own).0, "{what}: the owner's own token lets it run");
    let case = Case::new();
    let token = forge(&case);
    let (performed, reasons) = case.with(token);
    assert!(!performed, "{what}");
    assert!(reasons.iter().any(|reason| reason.contains(why)), "{what}: {reasons:?}");
}

#[test]
fn a_token_signed_by_another_key_lets_nothing_run() {
    let strangers = OwnerKey::new(&[8; 32]);
    check("another key", |case| case.token(&strangers), "is not one of the owner's");
    let pretends = |case: &Case| ApprovalToken { key_id: owner_key().key_id(), ..case.token(&strangers) };
    check("another key that says it is the owner's", pretends, "the signature does not hold");
}

/// Every field is signed or compared.
#[test]
fn a_token_with_any_field_edited_lets_nothing_run() {
    type Edit = (&'static str, fn(&mut ApprovalToken));
    let edits: [Edit; 17] = [
        ("token_id", |token| token.token_id = TokenId::new(Wall::from_millis(5), 5)),
        ("tenant", |token| token.tenant = Tenant::new("other")),
        ("key_id", |token| token.key_id = KeyId("0".repeat(32))),
        ("plan_hash", |token| token.plan_hash = Some(Digest::of(b"plan"))),
        ("binding_hash", |token| token.binding_hash = Some(Digest::of(b"call"))),
        ("no binding_hash", |token| token.binding_hash = None),
        ("spawn_policy_hash", |token| token.spawn_policy_hash = Some(Digest::of(b"spawn"))),
        ("work_item_id", |token| token.work_item_id.push('0')),
        ("scope", |token| token.scope = ApprovalScope::FullPlan),
        ("verdict", |token| token.verdict = Verdict::Conditional),
        ("signature", |token| {
            let mut bytes = *token.signature.as_bytes();
            bytes[0] ^= 1;
            token.signature = windlass_domain::approval::Signature::new(bytes);
        }),
        ("issued_at", |token| token.issued_at = token.issued_at + std::time::Duration::from_millis(1)),
        ("expires_at", |token| token.expires_at = token.expires_at + std::time::Duration::from_millis(1)),
        ("nonce", |token| token.nonce = Nonce::new(2)),
        ("approval_strength", |token| token.approval_strength = Strength::Explicit),
        ("conditions", |token| token.conditions.push("x".to_owned())),
        ("max_executions", |token| token.max_executions = 2),
    ];
    for (field, edit) in edits {
        let case = Case::new();
        let mut token = case.token(&owner_key());
        edit(&mut token);
        let (performed, reasons) = case.with(token);
        assert!(!performed, "{field}");
        assert!(reasons.iter().any(|reason| !reason.is_empty()), "{field}: {reasons:?}");
    }
}

/// Good tokens, each for something else.
#[test]
fn a_token_of_another_card_task_tenant_or_plan_lets_nothing_run() {
    check("another card", |_| Case::new().token(&owner_key()), "belongs to another work item");
    let same_task = |case: &Case| {
        let mut other = case.court.approval(&case.engine, case.card).card().unwrap().clone();
        other.binds.binding_hash = Some(Digest::of(b"another call of the same task"));
        signed(case, &other)
    };
    check("another call", same_task, "the call is not the one that was approved");
    let of_tenant = |case: &Case| {
        let mut other = case.court.approval(&case.engine, case.card).card().unwrap().clone();
        other.binds.tenant = Tenant::new("other");
        signed(case, &other)
    };
    check("another tenant", of_tenant, "belongs to another tenant");
    let of_plan = |case: &Case| {
        let mut other = case.court.approval(&case.engine, case.card).card().unwrap().clone();
        (other.binds.plan_hash, other.binds.binding_hash) = (Some(Digest::of(b"plan")), None);
        signed(case, &other)
    };
    check("a plan's", of_plan, "the plan is not the one that was approved");
}

fn signed(case: &Case, card: &windlass_domain::approval::Card) -> ApprovalToken {
    let now = case.court.wall();
    let (token_id, nonce) = (TokenId::new(now, 9), Nonce::new(9));
    let decision = decided();
    let order = Order { card, decision: &decision, token_id, nonce, issued_at: now, expires_at: card.expires_at };
    issue(order, &owner_key()).unwrap()
}

/// A card that says less than the call: its risk made small, so that a weak answer would do. The hash and the signature do
/// not know of that; the strength that is asked for must not come from what lies in the store alone.
#[test]
fn a_card_rewritten_to_a_lower_risk_does_not_make_a_weak_answer_enough() {
    let case = Case::new();
    let mut card = case.court.approval(&case.engine, case.card).card().unwrap().clone();
    card.risk_level = windlass_domain::approval::RiskLevel::Low;
    case.put(&ApprovalEvent::Requested(Requested { card }));
    let weak = windlass_domain::approval::Answer { approval_strength: Strength::Implied, ..yes() };
    let _accepted_or_not = case.court.answer(&case.engine, case.card, weak);
    assert!(!case.goes_on().0);
}

#[test]
fn a_retired_key_still_verifies_and_a_forgotten_one_does_not() {
    let rotated = Case::new();
    rotated.court.approve(&rotated.engine, rotated.card);
    rotated.court.ring.add(&OwnerKey::new(&[9; 32]));
    assert!(rotated.goes_on().0, "the old key is kept");
    let forgotten = Case::new();
    forgotten.court.approve(&forgotten.engine, forgotten.card);
    forgotten.court.ring.forget_all();
    forgotten.court.ring.add(&OwnerKey::new(&[9; 32]));
    let (performed, reasons) = forgotten.goes_on();
    assert!(!performed);
    assert!(reasons.iter().any(|reason| reason.contains("is not one of the owner's")), "{reasons:?}");
}

#[test]
fn without_a_keyring_nothing_that_needs_a_signature_runs() {
    let case = Case::new();
    case.court.approve(&case.engine, case.card);
    let blind = case.court.process_with(|parts| parts.keyring = None);
    case.court.drive(&blind, case.task);
    assert_eq!(case.court.performed(), Vec::<String>::new());
    let reasons: Vec<String> = case.court.audit(&blind).into_iter().map(|noted| noted.reason).collect();
    assert!(reasons.iter().any(|reason| reason.contains("no keyring")), "{reasons:?}");
}

/// The word "approved" in the journal is worth nothing without the token behind it.
#[test]
fn a_call_said_to_be_approved_without_a_token_does_not_run() {
    use windlass_domain::execution::{CallDecision, DecisionOutcome, ExecutionEvent};
    let case = Case::new();
    let execution = case.court.wait(case.engine.task(case.task)).unwrap().attempts[0].execution_id;
    let outcome = DecisionOutcome::Approved { card_id: case.card };
    let call_id = windlass_domain::CallId("0.0".to_owned());
    let said = ExecutionEvent::DecisionRecorded(CallDecision { call_id, outcome });
    case.court.forge(&StreamId::new("execution", execution), said.encode());
    let (performed, reasons) = case.goes_on();
    assert!(!performed);
    assert!(reasons.iter().all(|reason| !reason.contains("verified")), "{reasons:?}");
}

/// A token that was used is used up, whatever the stream is made to say afterwards: the store keeps its nonces apart.
#[test]
fn a_token_is_used_once_though_its_uses_are_wiped_from_the_stream() {
    let court = Court::new(vec![vec![bash("rm notes")], vec![bash("rm notes")]]);
    let engine = court.process();
    let (task, first) = court.park(&engine);
    court.approve(&engine, first.card.card_id);
    court.drive(&engine, task);
    let second = court.only_card(&engine).card.card_id;
    let ApprovalState::Issued { token, .. } = court.approval(&engine, first.card.card_id) else { panic!("not issued") };
    let stream = StreamId::new("approval", second);
    court.forge(&stream, ApprovalEvent::Decided(decided()).encode());
    court.forge(&stream, ApprovalEvent::Issued(Issued { token: *token }).encode());
    let driven = court.wait(engine.drive(task, std::sync::Arc::new(windlass_engine::NobodyWatches)));
    assert_eq!(court.performed().len(), 1, "{driven:?}");
}

/// Leave and the use of the approval stand together. Asked for twice at once, the second could be refused after the first had
/// been recorded without its use; the call would then be under way, and run again on nobody's approval.
#[test]
fn a_call_that_is_asked_for_twice_at_once_still_spends_its_approval() {
    let ask = call("create_skill", serde_json::json!({"path": "skill.md", "content": "text"}));
    let court = Court::new(vec![vec![ask]]);
    court.things.be_greedy();
    let engine = court.process();
    let (task, asked) = court.park(&engine);
    court.approve(&engine, asked.card.card_id);
    court.drive(&engine, task);
    assert_eq!((court.performed().len(), court.stations(asked.card.card_id).last().unwrap().as_str()), (1, "executed"));
}
