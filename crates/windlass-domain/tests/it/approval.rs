//! The approval's machine, whole: every command in every state, each mistake with its own reason, and what holds whatever
//! the order.

#![expect(clippy::disallowed_methods, reason = "these tests say themselves which signatures held")]

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use windlass_domain::approval::{
    Answer, ApprovalCommand, ApprovalEvent, ApprovalScope, ApprovalState, ApprovalToken, Card, Nonce, Proof, Rejected,
    RiskLevel, Signature, Stage, Strength, Verdict, WorstCase, bound, decide,
};
use windlass_domain::{BaseCase, Budget, Check, CheckProbe, Digest, Expectation, Taint, Tenant, Usd, Wall};

use crate::approval_notation::{
    CARD_ENDS, COMMANDS, NOW, TOKEN_ENDS, answer, card, command, proof, step, token, told, told_of,
};

/// A state's name, the history that leads there, and the time at which it is looked at.
const STATES: [(&str, &str, Wall); 14] = [
    ("absent", "", NOW),
    ("requested", "request", NOW),
    ("late", "request", CARD_ENDS),
    ("decided", "request approve", NOW),
    ("declined", "request decline", NOW),
    ("edit", "request edit", NOW),
    ("expired", "request expire", NOW),
    ("withdrawn", "request approve issue withdraw", NOW),
    ("issued", "request approve issue", NOW),
    ("verified", "request approve issue verify", NOW),
    ("attached", "request approve issue verify attach", NOW),
    ("checked", "request approve issue verify attach check", NOW),
    ("executed", "request approve issue verify attach check execute", NOW),
    ("blocked", "request approve issue verify attach check_failed", NOW),
];

/// For each command: what comes of it, and in which states; `*` is every state not named before it.
const TABLE: [(&str, &[(&str, &str)]); 13] = [
    ("request", &[("approval.requested", "absent"), ("AlreadyRequested", "*")]),
    ("approve", ANSWERED),
    ("decline", ANSWERED),
    ("edit", ANSWERED),
    (
        "expire",
        &[
            ("NotRequested", "absent"),
            ("NotExpiredYet", "requested"),
            ("approval.expired", "late"),
            ("CardExpired", "expired"),
            ("RunEnded", "withdrawn"),
            ("AlreadyAnswered", "*"),
        ],
    ),
    (
        "withdraw",
        &[
            ("NotRequested", "absent"),
            ("AlreadyAnswered", "declined edit"),
            ("CardExpired", "expired"),
            ("RunEnded", "withdrawn"),
            ("approval.withdrawn", "*"),
        ],
    ),
    (
        "issue",
        &[
            ("NotRequested", "absent"),
            ("NotAnswered", "requested"),
            ("approval.issued", "decided"),
            ("Declined", "declined"),
            ("EditRequested", "edit"),
            ("CardExpired", "late expired"),
            ("RunEnded", "withdrawn"),
            ("AlreadyIssued", "*"),
        ],
    ),
    (
        "verify",
        &[
            ("NotRequested", "absent"),
            ("NotAnswered", "requested late"),
            ("NotIssued", "decided"),
            ("Declined", "declined"),
            ("EditRequested", "edit"),
            ("CardExpired", "expired"),
            ("RunEnded", "withdrawn"),
            ("approval.verified", "issued"),
            ("UsedUp", "*"),
        ],
    ),
    ("verify_failed", &[("NotRequested", "absent"), ("approval.verify_failed", "*")]),
    (
        "attach",
        &[
            ("NotRequested", "absent"),
            ("NotAnswered", "requested late"),
            ("NotIssued", "decided"),
            ("Declined", "declined"),
            ("EditRequested", "edit"),
            ("CardExpired", "expired"),
            ("RunEnded", "withdrawn"),
            ("NotVerified", "issued"),
            ("approval.attached", "verified"),
            ("AlreadyAttached", "attached checked"),
            ("AlreadyExecuted", "executed"),
            ("Blocked", "blocked"),
        ],
    ),
    (
        "check",
        &[
            ("NotRequested", "absent"),
            ("NotAnswered", "requested late"),
            ("NotIssued", "decided"),
            ("Declined", "declined"),
            ("EditRequested", "edit"),
            ("CardExpired", "expired"),
            ("RunEnded", "withdrawn"),
            ("NotVerified", "issued"),
            ("NotAttached", "verified"),
            ("approval.checked", "attached checked"),
            ("AlreadyExecuted", "executed"),
            ("Blocked", "blocked"),
        ],
    ),
    (
        "check_failed",
        &[
            ("NotRequested", "absent"),
            ("NotAnswered", "requested late"),
            ("NotIssued", "decided"),
            ("Declined", "declined"),
            ("EditRequested", "edit"),
            ("CardExpired", "expired"),
            ("RunEnded", "withdrawn"),
            ("NotVerified", "issued"),
            ("NotAttached", "verified"),
            ("approval.check_failed", "attached checked"),
            ("AlreadyExecuted", "executed"),
            ("Blocked", "blocked"),
        ],
    ),
    (
        "execute",
        &[
            ("NotRequested", "absent"),
            ("NotAnswered", "requested late"),
            ("NotIssued", "decided"),
            ("Declined", "declined"),
            ("EditRequested", "edit"),
            ("CardExpired", "expired"),
            ("RunEnded", "withdrawn"),
            ("NotVerified", "issued"),
            ("NotAttached", "verified"),
            ("NotChecked", "attached"),
            ("approval.executed", "checked"),
            ("AlreadyExecuted", "executed"),
            ("Blocked", "blocked"),
        ],
    ),
];

const ANSWERED: &[(&str, &str)] = &[
    ("NotRequested", "absent"),
    ("approval.decided", "requested"),
    ("CardExpired", "late expired"),
    ("RunEnded", "withdrawn"),
    ("AlreadyAnswered", "*"),
];

fn outcome(result: &Result<ApprovalEvent, Rejected>) -> String {
    match result {
        Ok(event) => event.kind().to_owned(),
        Err(refused) => format!("{refused:?}").split('(').next().expect("a name").to_owned(),
    }
}

#[test]
fn every_command_in_every_state_has_the_outcome_of_the_table() {
    assert_eq!(TABLE.map(|(command, _)| command), COMMANDS);
    let mut cells = 0;
    for (word, expectations) in TABLE {
        for (name, history, now) in STATES {
            let state = told(history);
            let result = decide(&state, command(word, &state), now);
            let (expected, _) = expectations
                .iter()
                .find(|(_, states)| *states == "*" || states.split(' ').any(|state| state == name))
                .unwrap_or_else(|| panic!("the table says nothing about `{word}` when {name}"));
            assert_eq!(outcome(&result), *expected, "`{word}` when {name}");
            cells += 1;
        }
    }
    assert_eq!(cells, 13 * 14);
}

#[test]
fn what_is_refused_changes_nothing_and_what_is_recorded_survives_being_written() {
    for (word, history, now) in STATES.iter().flat_map(|(_, history, now)| COMMANDS.map(|word| (word, *history, *now)))
    {
        let before = told(history);
        let mut after = before.clone();
        match step(&mut after, command(word, &before), now) {
            Err(_) => assert_eq!(after, before),
            Ok(event) => {
                let stored = event.encode();
                let read = ApprovalEvent::decode(stored.kind, stored.version, stored.data.get()).expect("readable");
                let mut replayed = before.clone();
                replayed.apply(&read);
                assert_eq!(replayed, after, "`{word}` after `{history}`");
            }
        }
    }
}

#[test]
fn the_kinds_of_records_are_part_of_the_format() {
    let expected = [
        "approval.requested",
        "approval.decided",
        "approval.expired",
        "approval.withdrawn",
        "approval.issued",
        "approval.verified",
        "approval.verify_failed",
        "approval.attached",
        "approval.checked",
        "approval.check_failed",
        "approval.executed",
    ];
    assert_eq!(ApprovalEvent::KINDS, expected);
}

fn fields(value: &impl serde::Serialize) -> Vec<String> {
    let value = serde_json::to_value(value).expect("plain data");
    value.as_object().expect("fields").keys().cloned().collect()
}

/// Contracts §3, name by name.
#[test]
fn tokens_and_cards_have_the_fields_of_the_contract() {
    let mut expected = vec![
        "token_id",
        "tenant",
        "key_id",
        "plan_hash",
        "binding_hash",
        "spawn_policy_hash",
        "work_item_id",
        "scope",
        "verdict",
        "signature",
        "issued_at",
        "expires_at",
        "nonce",
        "approval_strength",
        "conditions",
        "max_executions",
        "executions_used",
        "execution_nonces",
    ];
    expected.sort_unstable();
    assert_eq!(fields(&token(&card())), expected);
    let card = fields(&card());
    for name in
        ["card_id", "intent", "risk_level", "rationale", "consequence_label", "affected_items", "details", "expires_at"]
    {
        assert!(card.iter().any(|field| field == name), "{name}");
    }
    let words = |value: serde_json::Value| value.to_string().replace('"', "");
    let scopes = serde_json::to_value(ApprovalScope::ALL).expect("plain data");
    let named = "[full_plan,single_step,step_range,tool_type,skill_install,credential_use,budget,self_update,standing]";
    assert_eq!(words(scopes), named);
    let verdicts = serde_json::to_value(Verdict::ALL).expect("plain data");
    assert_eq!(words(verdicts), "[approved,declined,edit_requested,conditional]");
    let levels = serde_json::to_value(RiskLevel::ALL).expect("plain data");
    assert_eq!(words(levels), "[low,medium,high,irreversible]");
}

#[test]
fn a_card_binds_something_allows_something_and_has_time_left() {
    let refused = |change: fn(&mut Card)| {
        let mut card = card();
        change(&mut card);
        decide(&ApprovalState::Absent, ApprovalCommand::Request(Box::new(card)), NOW).err()
    };
    assert_eq!(refused(|_| {}), None);
    assert_eq!(refused(|card| card.binds.binding_hash = None), Some(Rejected::BindsNothing));
    assert_eq!(refused(|card| card.binds.max_executions = 0), Some(Rejected::AllowsNothing));
    assert_eq!(refused(|card| card.expires_at = NOW), Some(Rejected::CardExpired));
}

#[test]
fn an_answer_is_a_persons_own_and_as_strong_as_the_card_asks() {
    let heard = |risk_level, answer: Answer| {
        let state = told_of(Card { risk_level, ..card() }, "request");
        decide(&state, ApprovalCommand::Answer(answer), NOW).err()
    };
    let yes = || answer(Verdict::Approved);
    for taint in [Taint::Owner, Taint::Auth] {
        assert_eq!(heard(RiskLevel::High, Answer { taint, ..yes() }), None);
    }
    let from_a_web_page = Answer { taint: Taint::External, ..yes() };
    assert_eq!(heard(RiskLevel::Low, from_a_web_page), Some(Rejected::NotAuthenticated));
    for (risk_level, strength, expected) in [
        (RiskLevel::Medium, Strength::Implied, None),
        (RiskLevel::High, Strength::Explicit, Some(Rejected::NeedsSecondStep)),
        (RiskLevel::Irreversible, Strength::Explicit, Some(Rejected::NeedsSecondStep)),
        (RiskLevel::Irreversible, Strength::Confirmed, None),
    ] {
        assert_eq!(heard(risk_level, Answer { approval_strength: strength, ..yes() }), expected, "{risk_level:?}");
    }
    let quick_no = Answer { approval_strength: Strength::Explicit, ..answer(Verdict::Declined) };
    assert_eq!(heard(RiskLevel::Irreversible, quick_no), None);
}

#[test]
fn conditions_belong_to_a_conditional_yes_and_an_edit_says_what() {
    let heard = |answer| decide(&told("request"), ApprovalCommand::Answer(answer), NOW).err();
    assert_eq!(heard(answer(Verdict::Conditional)), None);
    let without = Answer { conditions: vec![], ..answer(Verdict::Conditional) };
    assert_eq!(heard(without), Some(Rejected::NoConditions));
    let with = Answer { conditions: vec!["x".into()], ..answer(Verdict::Approved) };
    assert_eq!(heard(with), Some(Rejected::UnwantedConditions));
    let silent = Answer { note: " ".into(), ..answer(Verdict::EditRequested) };
    assert_eq!(heard(silent), Some(Rejected::NoEdit));
}

#[test]
fn the_second_answer_is_told_what_the_first_one_was() {
    for verdict in Verdict::ALL {
        let mut state = told("request");
        step(&mut state, ApprovalCommand::Answer(answer(verdict)), NOW).expect("the first");
        let again = decide(&state, ApprovalCommand::Answer(answer(Verdict::Declined)), NOW);
        assert_eq!(again.err(), Some(Rejected::AlreadyAnswered(verdict)));
    }
}

type Change = fn(&mut ApprovalToken, Option<Digest>);

#[test]
fn a_token_says_exactly_what_was_asked_and_answered() {
    let other = Some(Digest::of(b"other"));
    let changes: [(&str, Change); 12] = [
        ("tenant", |token, _| token.tenant = Tenant::new("other")),
        ("work_item_id", |token, _| token.work_item_id = "task-2".into()),
        ("scope", |token, _| token.scope = ApprovalScope::Standing),
        ("plan_hash", |token, other| token.plan_hash = other),
        ("binding_hash", |token, other| token.binding_hash = other),
        ("spawn_policy_hash", |token, other| token.spawn_policy_hash = other),
        ("max_executions", |token, _| token.max_executions = 2),
        ("verdict", |token, _| token.verdict = Verdict::Conditional),
        ("approval_strength", |token, _| token.approval_strength = Strength::Explicit),
        ("conditions", |token, _| token.conditions = vec!["none".into()]),
        ("executions_used", |token, _| token.executions_used = 1),
        ("execution_nonces", |token, _| token.execution_nonces = vec![Nonce::new(1)]),
    ];
    for (field, change) in changes {
        let mut token = token(&card());
        change(&mut token, other);
        let refused = decide(&told("request approve"), ApprovalCommand::Issue(Box::new(token)), NOW).err();
        assert_eq!(refused, Some(Rejected::OtherToken(field)));
    }
}

#[test]
fn only_the_very_token_that_was_issued_is_verified_and_only_in_time() {
    let state = told("request approve issue");
    let verify = |token: ApprovalToken, now| {
        let proof = Proof::of_checked_signature(token, Nonce::new(9));
        decide(&state, ApprovalCommand::Verify(Box::new(proof)), now).err()
    };
    let issued = token(&card());
    let last_moment = Wall::from_millis(TOKEN_ENDS.as_millis() - 1);
    assert_eq!(verify(issued.clone(), last_moment), None);
    assert_eq!(verify(issued.clone(), TOKEN_ENDS), Some(Rejected::TokenExpired));
    let signed_again = ApprovalToken { signature: Signature::new([8; 64]), ..issued.clone() };
    assert_eq!(verify(signed_again, NOW), Some(Rejected::OtherToken("signature")));
    let longer = ApprovalToken { expires_at: Wall::from_millis(9_999), ..issued.clone() };
    assert_eq!(verify(longer, TOKEN_ENDS), Some(Rejected::OtherToken("signature")));
    let ahead = ApprovalToken { executions_used: 1, ..issued };
    assert_eq!(verify(ahead, NOW), Some(Rejected::SlotTaken));
}

#[test]
fn a_use_belongs_to_one_work_item_and_its_nonce_to_one_use() {
    let mut twice = card();
    twice.binds.max_executions = 2;
    let state = told_of(twice, "request approve issue verify");
    let elsewhere = ApprovalCommand::Attach { execution_nonce: Nonce::new(9), work_item_id: "task-2".into() };
    assert_eq!(decide(&state, elsewhere, NOW).err(), Some(Rejected::OtherWorkItem));
    let same_nonce = ApprovalCommand::Verify(Box::new(proof(&state, 9)));
    assert_eq!(decide(&state, same_nonce, NOW).err(), Some(Rejected::NonceUsed));
    let fresh_nonce = ApprovalCommand::Verify(Box::new(proof(&state, 10)));
    assert!(decide(&state, fresh_nonce, NOW).is_ok());
}

#[test]
fn what_was_verified_in_time_may_run_late() {
    let long_after = Wall::from_millis(TOKEN_ENDS.as_millis() * 1_000);
    let mut state = told("request approve issue verify attach");
    for word in ["check", "execute"] {
        let command = command(word, &state);
        step(&mut state, command, long_after).expect("expiry was judged when it was verified");
    }
}

#[test]
fn a_plan_is_entered_again_after_a_crash_and_a_call_is_not() {
    let mut plan = card();
    plan.binds.plan_hash = plan.binds.binding_hash.take();
    let history = "request approve issue verify attach check execute";
    let mut state = told_of(plan, history);
    let again = command("check", &state);
    step(&mut state, again, NOW).expect("a plan");
    let executed = state.used(Nonce::new(9)).expect("used").stage.clone();
    assert_eq!(executed, Stage::Executed);
    let call = told(history);
    assert_eq!(decide(&call, command("check", &call), NOW).err(), Some(Rejected::AlreadyExecuted));
}

#[test]
fn a_forged_token_shown_a_thousand_times_takes_nothing_from_the_real_one() {
    let mut state = told("request approve issue");
    let before = state.clone();
    for _ in 0..1_000 {
        let command = command("verify_failed", &state);
        step(&mut state, command, NOW).expect("recorded");
    }
    assert_eq!(state, before);
    let verify = command("verify", &state);
    assert!(decide(&state, verify, NOW).is_ok());
}

#[test]
fn the_claims_of_two_uses_differ_and_those_of_two_racers_for_one_use_meet() {
    let mut twice = card();
    twice.binds.max_executions = 2;
    let state = told_of(twice, "request approve issue");
    let (one, two) = (proof(&state, 1).claims(), proof(&state, 2).claims());
    assert_eq!(one[0], two[0]);
    assert_ne!(one[1], two[1]);
    let mut later = state.clone();
    step(&mut later, ApprovalCommand::Verify(Box::new(proof(&state, 1))), NOW).expect("the first use");
    assert_ne!(proof(&later, 3).claims()[0], one[0]);
}

#[test]
fn the_worst_case_adds_the_last_call_and_the_checks_of_every_attempt() {
    let check = Check {
        name: "tests".into(),
        probe: CheckProbe::Run { run: "cargo test".into(), expect: Expectation::ExitCode(0) },
        timeout_seconds: 60,
        network: false,
        protect: vec![],
    };
    let base_case = BaseCase(vec![check.clone(), check]);
    let worst = bound(&Budget::default(), &base_case, (10_000, Usd::from_nanos(5)));
    let expected = WorstCase {
        attempts: 5,
        tokens: 210_000,
        cost_usd: Usd::from_nanos(2_000_000_005),
        wall_time_seconds: 1_800 + 5 * 120,
    };
    assert_eq!(worst, expected);
    let endless = Budget { max_tokens: u64::MAX, max_wall_time_seconds: u64::MAX, ..Budget::default() };
    assert_eq!(bound(&endless, &base_case, (1, Usd::ZERO)).tokens, u64::MAX);
}

/// One step of a run that means no good: any command, about any of four uses, with tokens that may be stale or forged.
#[derive(Debug, Clone)]
enum Wild {
    Word(&'static str),
    Verify { nonce: u128, stale_by: u32 },
    VerifyForged { nonce: u128 },
    AboutUse { word: &'static str, nonce: u128 },
}

fn wild() -> impl Strategy<Value = Wild> {
    let nonce = 0..6_u128;
    prop_oneof![
        prop::sample::select(&COMMANDS[..7]).prop_map(Wild::Word),
        (nonce.clone(), 0..2_u32).prop_map(|(nonce, stale_by)| Wild::Verify { nonce, stale_by }),
        nonce.clone().prop_map(|nonce| Wild::VerifyForged { nonce }),
        (prop::sample::select(&COMMANDS[9..]), nonce).prop_map(|(word, nonce)| Wild::AboutUse { word, nonce }),
    ]
}

fn wild_command(wild: &Wild, state: &ApprovalState) -> ApprovalCommand {
    let about = |word: &str, execution_nonce| match word {
        "attach" => ApprovalCommand::Attach { execution_nonce, work_item_id: "task-1".into() },
        "check" => ApprovalCommand::Check { execution_nonce },
        "check_failed" => ApprovalCommand::RecordFailedCheck { execution_nonce, reason: "no".into() },
        _ => ApprovalCommand::Execute { execution_nonce },
    };
    let verify =
        |token, nonce| ApprovalCommand::Verify(Box::new(Proof::of_checked_signature(token, Nonce::new(nonce))));
    let current = || state.token().unwrap_or_else(|| token(&card()));
    match *wild {
        Wild::Word(word) => command(word, state),
        Wild::Verify { nonce, stale_by } => {
            let mut token = current();
            token.executions_used = token.executions_used.saturating_sub(stale_by);
            verify(token, nonce)
        }
        Wild::VerifyForged { nonce } => {
            verify(ApprovalToken { signature: Signature::new([1; 64]), ..current() }, nonce)
        }
        Wild::AboutUse { word, nonce } => about(word, Nonce::new(nonce)),
    }
}

proptest! {
    /// Told from the journal alone: a use was verified with the issued signature before it was attached, attached before it
    /// was checked, checked before it was executed; no more uses than allowed; none after the end.
    #[test]
    fn no_path_leads_round_a_step(
        max_executions in 1..4_u32,
        head in prop::sample::select(vec!["", "request", "request approve", "request approve issue"]),
        steps in prop::collection::vec((wild(), 0..6_u64), 0..80),
    ) {
        let mut card = card();
        card.binds.max_executions = max_executions;
        let mut state = told_of(card.clone(), head);
        let mut stages: BTreeMap<Nonce, BTreeSet<&'static str>> = BTreeMap::new();
        let mut issued = (head.ends_with("issue")).then(|| token(&card).signature);
        let mut over = false;
        for (wild, thousands) in steps {
            let command = match (&wild, &state) {
                (Wild::Word("request"), _) => ApprovalCommand::Request(Box::new(card.clone())),
                _ => wild_command(&wild, &state),
            };
            let shown = match &command {
                ApprovalCommand::Verify(proof) => Some(proof.token().signature),
                _ => None,
            };
            let Ok(event) = step(&mut state, command, Wall::from_millis(thousands * 1_000)) else { continue };
            prop_assert!(!over || matches!(event, ApprovalEvent::VerifyFailed(_)), "after the end: {event:?}");
            let mut reached = |nonce, stage, needs: &str| {
                let stages = stages.entry(nonce).or_default();
                stages.insert(stage);
                needs.is_empty() || stages.contains(needs)
            };
            match event {
                ApprovalEvent::Issued(now) => issued = Some(now.token.signature),
                ApprovalEvent::Verified(verified) => {
                    prop_assert_eq!(shown, issued);
                    prop_assert!(shown.is_some());
                    reached(verified.execution_nonce, "verified", "");
                }
                ApprovalEvent::Attached(now) => prop_assert!(reached(now.execution_nonce, "attached", "verified")),
                ApprovalEvent::Checked(now) => prop_assert!(reached(now.execution_nonce, "checked", "attached")),
                ApprovalEvent::Executed(now) => {
                    prop_assert!(reached(now.execution_nonce, "executed", "checked"));
                }
                ApprovalEvent::CheckFailed(now) => prop_assert!(reached(now.execution_nonce, "blocked", "attached")),
                ApprovalEvent::Withdrawn(_) | ApprovalEvent::Expired(_) => over = true,
                _ => {}
            }
            prop_assert!(stages.len() <= usize::try_from(max_executions).expect("few"));
        }
    }

    /// Many hold the same state, verify in memory, and commit in some order; a commit whose claims are taken fails, as the
    /// store's would. Losers look again.
    #[test]
    fn exactly_max_executions_win_whatever_the_order(
        max_executions in 1..5_u32,
        racers in 1..64_usize,
        order in prop::collection::vec(any::<prop::sample::Index>(), 400),
    ) {
        let mut card = card();
        card.binds.max_executions = max_executions;
        let mut state = told_of(card, "request approve issue");
        let mut claimed = BTreeSet::new();
        let mut waiting: Vec<ApprovalState> = vec![state.clone(); racers];
        let mut won = 0;
        let mut turn = 0;
        while !waiting.is_empty() {
            turn += 1;
            let view = waiting.swap_remove(order[turn % order.len()].index(waiting.len()));
            let proof = proof(&view, 1_000 + u128::try_from(turn).expect("small"));
            let Ok(event) = decide(&view, ApprovalCommand::Verify(Box::new(proof.clone())), NOW) else { continue };
            if proof.claims().iter().any(|claim| claimed.contains(claim)) {
                waiting.push(state.clone());
                continue;
            }
            claimed.extend(proof.claims());
            state.apply(&event);
            won += 1;
        }
        prop_assert_eq!(won, u32::try_from(racers).expect("few").min(max_executions));
    }
}
