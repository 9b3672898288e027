//! What a token is worth: only for what it binds, only signed by the owner, only in time, only as often as it says.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_domain::approval::{
    ApprovalScope, ApprovalToken, Binding, Card, CardId, Decided, KeyId, Nonce, RiskLevel, Signature, Strength,
    TokenId, Verdict,
};
use windlass_domain::{BaseCase, Budget, Check, CheckProbe, Digest, ExecutionId, Expectation, Secret, Tenant, Wall};
use windlass_policy::approve::{
    BadKey, CLOCK_SKEW, CallSeen, Leave, Listed, Need, Order, OwnerKey, PlanSeen, PublicKeys, Purpose, Reaches,
    Refusal, SpawnPolicySeen, Subject, Unhashable, binding_hash, canonical_json, check, issue, need, plan_hash,
    read_token, spawn_policy_hash, verify, write_token,
};
use windlass_policy::risk::Level;

pub const NOW: Wall = Wall::from_millis(1_790_000_000_000);
pub const LATER: Wall = Wall::from_millis(1_790_000_600_000);

pub fn key() -> OwnerKey {
    OwnerKey::new(&[7; 32])
}

pub fn keys() -> PublicKeys {
    let mut keys = PublicKeys::default();
    keys.add(&key().public()).expect("a good key");
    keys
}

pub fn card() -> Card {
    Card {
        card_id: CardId::new(NOW, 1),
        intent: "Remove the build folder".into(),
        risk_level: RiskLevel::High,
        rationale: "It is stale".into(),
        consequence_label: "deletes files".into(),
        affected_items: vec!["target/".into()],
        details: json!({"argv": ["rm", "-r", "target"]}),
        worst_case: None,
        expires_at: LATER,
        binds: Binding {
            tenant: Tenant::local(),
            work_item_id: "task-1".into(),
            scope: ApprovalScope::SingleStep,
            plan_hash: Some(Digest::of(b"plan")),
            binding_hash: Some(Digest::of(b"call")),
            spawn_policy_hash: Some(Digest::of(b"spawn")),
            max_executions: 2,
        },
    }
}

pub fn decision() -> Decided {
    Decided {
        verdict: Verdict::Conditional,
        by: "owner".into(),
        approval_strength: Strength::Confirmed,
        conditions: vec!["only on Sundays".into()],
        note: String::new(),
    }
}

pub fn token_signed_by(key: &OwnerKey) -> ApprovalToken {
    let order = Order {
        card: &card(),
        decision: &decision(),
        token_id: TokenId::new(NOW, 2 << 64),
        nonce: Nonce::new(3),
        issued_at: NOW,
        expires_at: LATER,
    };
    issue(order, key).expect("plain data")
}

pub fn token() -> ApprovalToken {
    token_signed_by(&key())
}

pub fn subject() -> Subject {
    let binds = card().binds;
    Subject {
        tenant: binds.tenant,
        work_item_id: binds.work_item_id,
        scope: binds.scope,
        plan_hash: binds.plan_hash,
        binding_hash: binds.binding_hash,
        spawn_policy_hash: binds.spawn_policy_hash,
        least_strength: Strength::Confirmed,
        executions_used: 0,
        execution_nonces: vec![],
    }
}

fn refused(token: &ApprovalToken, subject: &Subject, now: Wall) -> Option<Refusal> {
    verify(token, subject, &keys(), now, Nonce::new(9)).err()
}

#[test]
fn a_good_token_is_worth_what_it_says() {
    let proof = verify(&token(), &subject(), &keys(), NOW, Nonce::new(9)).expect("good");
    assert_eq!((proof.token(), proof.execution_nonce(), proof.slot()), (&token(), Nonce::new(9), 0));
    assert_eq!(proof.claims()[0], format!("approval/{}/0", token().token_id));
}

type Change = Box<dyn Fn(&mut Subject)>;

#[test]
fn every_bound_field_must_be_the_one_that_was_approved() {
    let other = Some(Digest::of(b"other"));
    let changes: Vec<(Refusal, Change)> = vec![
        (Refusal::OtherTenant, Box::new(|subject| subject.tenant = Tenant::new("other"))),
        (Refusal::OtherWorkItem, Box::new(|subject| subject.work_item_id = "task-2".into())),
        (Refusal::OtherScope, Box::new(|subject| subject.scope = ApprovalScope::FullPlan)),
        (Refusal::OtherPlan, Box::new(move |subject| subject.plan_hash = other)),
        (Refusal::OtherPlan, Box::new(|subject| subject.plan_hash = None)),
        (Refusal::OtherCall, Box::new(move |subject| subject.binding_hash = other)),
        (Refusal::OtherCall, Box::new(|subject| subject.binding_hash = None)),
        (Refusal::OtherSpawnPolicy, Box::new(move |subject| subject.spawn_policy_hash = other)),
        (Refusal::OtherSpawnPolicy, Box::new(|subject| subject.spawn_policy_hash = None)),
        (Refusal::OtherCount, Box::new(|subject| subject.executions_used = 1)),
        (Refusal::OtherCount, Box::new(|subject| subject.execution_nonces = vec![Nonce::new(1)])),
    ];
    assert_eq!(refused(&token(), &subject(), NOW), None);
    for (expected, change) in changes {
        let mut subject = subject();
        change(&mut subject);
        assert_eq!(refused(&token(), &subject, NOW), Some(expected.clone()));
        assert_eq!(check(&token(), &subject, &keys(), Nonce::new(9)).err(), Some(expected));
    }
}

#[test]
fn time_is_judged_when_a_use_is_spent_and_not_afterwards() {
    let last_moment = Wall::from_millis(LATER.as_millis() - 1);
    assert_eq!(refused(&token(), &subject(), last_moment), None);
    assert_eq!(refused(&token(), &subject(), LATER), Some(Refusal::Expired));
    let skew = u64::try_from(CLOCK_SKEW.as_millis()).expect("small");
    assert_eq!(refused(&token(), &subject(), Wall::from_millis(NOW.as_millis() - skew)), None);
    let before = Wall::from_millis(NOW.as_millis() - skew - 1);
    assert_eq!(refused(&token(), &subject(), before), Some(Refusal::NotYetValid));
    // `check` has no clock at all, and asks only that `verify` came first.
    let used = ApprovalToken { executions_used: 1, execution_nonces: vec![Nonce::new(9)], ..token() };
    let on_record = Subject { executions_used: 1, execution_nonces: vec![Nonce::new(9)], ..subject() };
    assert_eq!(check(&used, &on_record, &keys(), Nonce::new(9)), Ok(()));
    assert_eq!(check(&used, &on_record, &keys(), Nonce::new(8)), Err(Refusal::NeverVerified));
    assert_eq!(check(&token(), &subject(), &keys(), Nonce::new(9)), Err(Refusal::NeverVerified));
}

#[test]
fn uses_are_counted_and_nonces_are_fresh() {
    let used = |nonces: &[u128]| {
        let execution_nonces: Vec<Nonce> = nonces.iter().map(|nonce| Nonce::new(*nonce)).collect();
        let executions_used = u32::try_from(nonces.len()).expect("few");
        let token = ApprovalToken { executions_used, execution_nonces: execution_nonces.clone(), ..token() };
        (token, Subject { executions_used, execution_nonces, ..subject() })
    };
    let (once, on_record) = used(&[1]);
    let proof = verify(&once, &on_record, &keys(), NOW, Nonce::new(9)).expect("the second use");
    assert_eq!(proof.slot(), 1);
    assert_eq!(verify(&once, &on_record, &keys(), NOW, Nonce::new(1)), Err(Refusal::NonceUsed));
    let (twice, on_record) = used(&[1, 2]);
    assert_eq!(refused(&twice, &on_record, NOW), Some(Refusal::UsedUp(2)));
}

#[test]
fn a_rotated_key_keeps_what_it_signed_and_a_strangers_key_signs_nothing() {
    let (old, new, stranger) = (key(), OwnerKey::new(&[8; 32]), OwnerKey::new(&[9; 32]));
    let mut keys = PublicKeys::default();
    for key in [&old, &new] {
        assert_eq!(keys.add(&key.public()), Ok(key.key_id()));
    }
    assert_eq!(keys.ids().count(), 2);
    for key in [&old, &new] {
        assert!(verify(&token_signed_by(key), &subject(), &keys, NOW, Nonce::new(9)).is_ok());
    }
    let foreign = token_signed_by(&stranger);
    let verdict = verify(&foreign, &subject(), &keys, NOW, Nonce::new(9));
    assert_eq!(verdict, Err(Refusal::UnknownKey(stranger.key_id())));
    let claims_ours = ApprovalToken { key_id: new.key_id(), ..foreign };
    assert_eq!(verify(&claims_ours, &subject(), &keys, NOW, Nonce::new(9)), Err(Refusal::BadSignature));
    let other_of_ours = ApprovalToken { key_id: new.key_id(), ..token_signed_by(&old) };
    assert_eq!(verify(&other_of_ours, &subject(), &keys, NOW, Nonce::new(9)), Err(Refusal::BadSignature));
}

#[test]
fn what_a_key_signs_after_it_was_retired_counts_no_more() {
    let token = token();
    let issued = token.issued_at;
    let earlier = Wall::from_millis(issued.as_millis() - 1);
    let used = ApprovalToken { executions_used: 1, execution_nonces: vec![Nonce::new(9)], ..token.clone() };
    let on_record = Subject { executions_used: 1, execution_nonces: vec![Nonce::new(9)], ..subject() };
    let retired = |at: Wall| {
        let mut keys = PublicKeys::default();
        assert_eq!(keys.add_retired(&key().public(), at), Ok(key().key_id()));
        keys
    };
    let verdict = |keys: &PublicKeys| {
        let verified = verify(&token, &subject(), keys, NOW, Nonce::new(9)).map(drop);
        assert_eq!(check(&used, &on_record, keys, Nonce::new(9)), verified);
        verified
    };
    assert_eq!(verdict(&retired(earlier)), Err(Refusal::RetiredKey(key().key_id())));
    assert_eq!(verdict(&retired(issued)), Ok(()), "signed while the key was in use");
    assert_eq!(verdict(&keys()), Ok(()), "the key is in use");
}

#[test]
fn a_no_that_was_signed_is_still_a_no() {
    for verdict in Verdict::ALL {
        let decision = Decided { verdict, ..decision() };
        let order = Order {
            card: &card(),
            decision: &decision,
            token_id: TokenId::new(NOW, 2),
            nonce: Nonce::new(3),
            issued_at: NOW,
            expires_at: LATER,
        };
        let token = issue(order, &key()).expect("plain data");
        let expected = (!verdict.allows()).then_some(Refusal::NotApproved(verdict));
        assert_eq!(refused(&token, &subject(), NOW), expected);
    }
}

#[test]
fn a_weaker_answer_than_needed_and_a_token_that_binds_nothing_are_refused() {
    let weak = Decided { approval_strength: Strength::Explicit, ..decision() };
    let mut nothing = card();
    (nothing.binds.plan_hash, nothing.binds.binding_hash, nothing.binds.spawn_policy_hash) = (None, None, None);
    let sign = |card: &Card, decision: &Decided| {
        let order = Order {
            card,
            decision,
            token_id: TokenId::new(NOW, 2),
            nonce: Nonce::new(3),
            issued_at: NOW,
            expires_at: LATER,
        };
        issue(order, &key()).expect("plain data")
    };
    assert_eq!(refused(&sign(&card(), &weak), &subject(), NOW), Some(Refusal::TooWeak(Strength::Confirmed)));
    let lenient = Subject { least_strength: Strength::Explicit, ..subject() };
    assert_eq!(refused(&sign(&card(), &weak), &lenient, NOW), None);
    let unbound = Subject { plan_hash: None, binding_hash: None, spawn_policy_hash: None, ..subject() };
    assert_eq!(refused(&sign(&nothing, &decision()), &unbound, NOW), Some(Refusal::BindsNothing));
}

#[test]
fn a_signature_for_one_purpose_is_nothing_for_another() {
    let (key, keys) = (key(), keys());
    let purposes = [Purpose::ApprovalToken, Purpose::AuditHead, Purpose::OwnerMessage];
    for made_for in purposes {
        let signature = key.sign(made_for, b"head");
        for used_for in purposes {
            assert_eq!(keys.holds(&key.key_id(), used_for, b"head", &signature), made_for == used_for);
        }
        assert!(!keys.holds(&key.key_id(), made_for, b"heaD", &signature));
        assert!(!keys.holds(&KeyId("other".into()), made_for, b"head", &signature));
    }
}

#[test]
fn weak_and_broken_public_keys_are_refused() {
    let mut identity = [0; 32];
    identity[0] = 1;
    let mut keys = PublicKeys::default();
    assert_eq!(keys.add(&identity), Err(BadKey::NotAPublicKey));
    assert_eq!(keys.add(&[0; 32]), Err(BadKey::NotAPublicKey));
    assert_eq!(keys.add(&[2; 32]), Err(BadKey::NotAPublicKey));
    assert_eq!(keys.ids().count(), 0);
}

/// Adding the group's order to the second half of a signature leaves it valid for a lenient reader.
#[test]
fn a_signature_has_one_form_only() {
    const ORDER: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let mut bytes = *token().signature.as_bytes();
    let mut carry = 0_u16;
    for (byte, order) in bytes[32..].iter_mut().zip(ORDER) {
        carry += u16::from(*byte) + u16::from(order);
        *byte = u8::try_from(carry & 0xff).expect("a byte");
        carry >>= 8;
    }
    let other_form = ApprovalToken { signature: Signature::new(bytes), ..token() };
    assert_eq!(refused(&other_form, &subject(), NOW), Some(Refusal::BadSignature));
}

#[test]
fn low_and_medium_run_on_leave_high_asks_and_critical_never_runs() {
    use Level::{Critical, High, Low, Medium};
    let shown = Leave::Plan(Listed::Shown);
    let not_shown = Leave::Plan(Listed::NotShown);
    let leaves = [Leave::None, Leave::Issuer, not_shown, shown];
    let table = [
        (Low, Reaches::Beyond, [Need::Nothing; 4]),
        (Medium, Reaches::Beyond, [Need::Card, Need::Nothing, Need::Nothing, Need::Nothing]),
        (High, Reaches::WorktreeOnly, [Need::Card, Need::Card, Need::Card, Need::Nothing]),
        (High, Reaches::Beyond, [Need::Card; 4]),
        (Critical, Reaches::WorktreeOnly, [Need::Refused; 4]),
    ];
    for (level, reaches, expected) in table {
        assert_eq!(leaves.map(|leave| need(level, leave, reaches)), expected, "{level:?} {reaches:?}");
    }
}

#[test]
fn a_private_key_survives_being_kept() {
    let kept = key().reveal();
    let read = OwnerKey::read(&Secret::new(format!("{}\n", kept.expose())));
    assert_eq!(read.map(|key| key.key_id()), Ok(key().key_id()));
    assert!(OwnerKey::read(&Secret::new("not a key")).is_err());
}

#[test]
fn canonical_json_is_rfc_8785() {
    let value = json!({"\u{20ac}": 1, "\r": 2, "1": 4.5, "b": [1e30, 2e-7, 1.0, -0.0], "a": "\u{7}\"\\/\u{e9}"});
    let text = String::from_utf8(canonical_json(&value).expect("plain")).expect("text");
    let expected = "{\"\\r\":2,\"1\":4.5,\"a\":\"\\u0007\\\"\\\\/é\",\"b\":[1e+30,2e-7,1,0],\"€\":1}";
    assert_eq!(text, expected);
    for too_large in [json!(u64::MAX), json!([{"a": (1_u64 << 53)}]), json!(i64::MIN)] {
        assert!(matches!(canonical_json(&too_large), Err(Unhashable::NumberTooLarge(_))), "{too_large}");
    }
    assert!(canonical_json(&json!((1_u64 << 53) - 1)).is_ok());
}

#[test]
fn a_token_has_one_spelling() {
    let bytes = write_token(&token()).expect("plain");
    assert_eq!(read_token(&bytes), Ok(token()));
    let text = String::from_utf8(bytes).expect("text");
    let respelt = [
        format!(" {text}"),
        format!("{text}\n"),
        text.replace("\"executions_used\":0", "\"executions_used\":0 "),
        text.replace("\"executions_used\":0", "\"executions_used\":0,\"executions_used\":0"),
        text.replace("only", "\\u006fnly"),
    ];
    for other in respelt {
        assert_ne!(other, text);
        assert!(read_token(other.as_bytes()).is_err(), "{other}");
    }
    let unknown = text.replacen('{', "{\"admin\":true,", 1);
    assert!(matches!(read_token(unknown.as_bytes()), Err(Refusal::NotAToken(_))));
    assert_eq!(read_token(&vec![b' '; 100_000]), Err(Refusal::TooLarge));
}

fn a_check() -> Check {
    Check {
        name: "tests".into(),
        probe: CheckProbe::Run { run: "cargo test".into(), expect: Expectation::ExitCode(0) },
        timeout_seconds: 600,
        network: false,
        protect: vec!["tests".into()],
    }
}

/// A plan in which nothing is empty, so that every leaf can be changed.
fn plan() -> PlanSeen {
    let mut plan =
        PlanSeen::one_atom("atom-1", "Fix the test\nand keep it", BaseCase(vec![a_check()]), Budget::default());
    let child = plan.clone();
    let words = |word: &str| vec![word.to_owned()];
    plan.tasks = vec![child];
    (plan.depends_on, plan.skills, plan.input_artifacts_from) = (words("a"), words("s"), words("i"));
    plan.any_of = Some("group".into());
    (plan.follow_up_of, plan.continuation_of) = (Some("f".into()), Some("c".into()));
    (plan.schedule, plan.failure_context) = (Some("daily".into()), Some("$failed_checks".into()));
    plan.gates = vec![json!({"name": "g"})];
    (plan.touches.paths, plan.touches.services) = (words("src"), words("db"));
    plan.escalation = BTreeMap::from([("to".to_owned(), json!("human"))]);
    plan.skill_digests = BTreeMap::from([("s".to_owned(), Digest::of(b"skill"))]);
    plan.script_digests = BTreeMap::from([("gate.sh".to_owned(), Digest::of(b"script"))]);
    plan
}

/// Every way of changing one leaf of a value, and every name of a field with its value gone.
fn changes(value: &Value) -> Vec<Value> {
    match value {
        Value::Null => vec![json!("something")],
        Value::Bool(truth) => vec![json!(!truth)],
        Value::Number(number) => vec![json!(number.as_f64().expect("a number") + 1.0)],
        Value::String(text) => vec![json!(format!("{text}x")), json!(text.chars().skip(1).collect::<String>())],
        Value::Array(items) => {
            let mut all = vec![json!([])];
            for (index, item) in items.iter().enumerate() {
                for changed in changes(item) {
                    let mut items = items.clone();
                    items[index] = changed;
                    all.push(Value::Array(items));
                }
            }
            all
        }
        Value::Object(fields) => {
            let mut all = Vec::new();
            for (name, field) in fields {
                for changed in changes(field) {
                    let mut fields = fields.clone();
                    fields.insert(name.clone(), changed);
                    all.push(Value::Object(fields));
                }
            }
            all
        }
    }
}

#[test]
fn any_change_of_what_was_seen_changes_the_plan_hash() {
    let hash = plan_hash(&plan()).expect("plain");
    assert_eq!(plan_hash(&plan()).expect("plain"), hash);
    let seen = serde_json::to_value(plan()).expect("plain");
    let mut tried = 0;
    for changed in changes(&seen) {
        // A change that is no plan any more cannot be approved for another reason.
        let Ok(other) = serde_json::from_value::<PlanSeen>(changed) else { continue };
        if other != plan() {
            assert_ne!(plan_hash(&other).expect("plain"), hash);
            tried += 1;
        }
    }
    assert!(tried > 80, "only {tried} changes were tried");
    let fields = seen.as_object().expect("fields");
    let empty: Vec<&String> = fields.iter().filter(|(_, value)| value.is_null()).map(|(name, _)| name).collect();
    assert!(empty.is_empty(), "{empty:?} cannot be changed");
}

fn call() -> CallSeen {
    CallSeen {
        tool: "bash".into(),
        argv: vec![b"rm".to_vec(), b"-r".to_vec(), b"target".to_vec()],
        env: BTreeMap::from([(b"PATH".to_vec(), b"/usr/bin".to_vec())]),
        cwd: b"/workspace".to_vec(),
        files: BTreeMap::from([("target".to_owned(), Some(Digest::of(b"t"))), ("gone".to_owned(), None)]),
        sandbox_profile: Digest::of(b"profile"),
        execution: ExecutionId::new(NOW, 5 << 64),
    }
}

#[test]
fn every_byte_of_a_call_is_bound() {
    let hash = binding_hash(&call()).expect("plain");
    assert_eq!(binding_hash(&call()).expect("plain"), hash);
    let mut others: Vec<CallSeen> = Vec::new();
    let mut add = |change: &dyn Fn(&mut CallSeen)| {
        let mut other = call();
        change(&mut other);
        others.push(other);
    };
    for word in 0..3 {
        for at in 0..call().argv[word].len() {
            for byte in 0..=255_u8 {
                add(&|call| call.argv[word][at] = byte);
            }
        }
    }
    for at in 0..call().cwd.len() {
        for byte in 0..=255_u8 {
            add(&|call| call.cwd[at] = byte);
        }
    }
    for byte in 0..=255_u8 {
        add(&|call| {
            call.env.insert(b"PATH".to_vec(), vec![byte]);
        });
        add(&|call| {
            call.env.insert(vec![byte], b"x".to_vec());
        });
    }
    add(&|call| call.argv = vec![b"rm -r target".to_vec()]);
    add(&|call| call.argv = vec![b"rm".to_vec(), b"-rtarget".to_vec()]);
    add(&|call| call.argv.push(Vec::new()));
    add(&|call| call.env.clear());
    add(&|call| call.tool = "bash2".into());
    add(&|call| {
        call.files.insert("gone".into(), Some(Digest::of(b"")));
    });
    add(&|call| {
        call.files.remove("gone");
    });
    add(&|call| {
        call.files.insert("target".into(), Some(Digest::of(b"u")));
    });
    add(&|call| call.sandbox_profile = Digest::of(b"wider"));
    add(&|call| call.execution = ExecutionId::new(NOW, 6 << 64));
    let mut refused = 0;
    for other in others.iter().filter(|other| **other != call()) {
        assert_ne!(binding_hash(other).expect("plain"), hash, "{other:?}");
        refused += 1;
    }
    assert!(refused > 5_000, "only {refused} changes were tried");
}

#[test]
fn a_spawn_policy_binds_its_whole_template_and_its_parent() {
    let policy = SpawnPolicySeen {
        parent: "goal-1".into(),
        failure_context: Some("fix $failed_checks".into()),
        skills: vec!["git".into()],
        gates: vec![json!({"name": "g"})],
        verify: BaseCase(vec![a_check()]),
        escalation: BTreeMap::from([("to".to_owned(), json!("human"))]),
    };
    let hash = spawn_policy_hash(&policy).expect("plain");
    for changed in changes(&serde_json::to_value(&policy).expect("plain")) {
        if let Ok(other) = serde_json::from_value::<SpawnPolicySeen>(changed)
            && other != policy
        {
            assert_ne!(spawn_policy_hash(&other).expect("plain"), hash);
        }
    }
    assert_ne!(hash, plan_hash(&plan()).expect("plain"));
}

proptest! {
    /// Splitting bytes between arguments differently, or between argv and cwd, is another call.
    #[test]
    fn no_two_calls_share_a_hash(
        one in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..4), 0..4),
        two in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..4), 0..4),
    ) {
        let hash = |argv: &Vec<Vec<u8>>| binding_hash(&CallSeen { argv: argv.clone(), ..call() }).expect("plain");
        prop_assert_eq!(hash(&one) == hash(&two), one == two);
    }
}
