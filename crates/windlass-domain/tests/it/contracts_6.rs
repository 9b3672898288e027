//! Contracts §6, sentence by sentence, as far as it is rules: whose an execution is and what it stores of them, which records there are, what
//! can be said by either side, and what is made of it. `xtask/tests/it/contracts_6.rs` has all sentences, with the tests of other crates.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use windlass_domain::execution::{
    AnsweredBy, Carrier, Claim, ClaimKind, Direction, ExecutionEvent, ExecutionState, Hearer, Lifecycle, MessageKind,
    Observation, ObservationDecision, Observed, Rejected, Source, decide,
};
use windlass_domain::plan::{AtomId, Handling, OnStuck};
use windlass_domain::research::ResearchKey;
use windlass_domain::task::{Part, PartOf, TaskCreated};
use windlass_domain::timeline::timeline;
use windlass_domain::{Account, Digest, MessageId, Scope, ScopeKind, Taint, TaskId};

use crate::journal_format::execution_records;
use crate::notation::{START, Story};
use crate::task_notation::created;

fn task(number: u128) -> TaskId {
    TaskId::new(START, number << 64)
}

fn a_task() -> TaskCreated {
    created(&BTreeMap::new())
}

fn part(part: Part) -> TaskCreated {
    TaskCreated { part_of: Some(PartOf { task: task(1), root: task(2), part }), ..a_task() }
}

fn atom() -> AtomId {
    serde_json::from_value("a".into()).expect("an id")
}

fn research() -> ResearchKey {
    serde_json::from_value(Digest::of(b"?").to_string().into()).expect("a key")
}

fn an_item() -> TaskCreated {
    let handling = Handling::default();
    part(Part::Atom { atom: atom(), on_stuck: OnStuck::ConsultPlanner, gates: vec![], handling, pattern: None })
}

fn a_turn() -> TaskCreated {
    TaskCreated { turn: Some(MessageId::new(START, 1)), ..a_task() }
}

#[test]
fn who_creates_which_scope() {
    let own = task(3);
    let attempt = |created: &TaskCreated| Scope::of(Account::Attempt { of: own, created });
    let judge = |created: &TaskCreated| Scope::of(Account::Judge { of: own, created });
    let scope = |kind, id: TaskId| Scope { kind, id: id.to_string() };
    let (its_own, the_whole) = (scope(ScopeKind::Task, own), scope(ScopeKind::Mission, task(2)));
    for (created, worker, its_judge) in [
        (a_task(), &its_own, &its_own),
        (an_item(), &its_own, &the_whole),
        (part(Part::Plan { revision: 1, aligns: false }), &the_whole, &the_whole),
        (part(Part::Research { key: research() }), &the_whole, &the_whole),
        (part(Part::Guidance { attempt: 2 }), &the_whole, &the_whole),
        (part(Part::Probe { atom: atom() }), &the_whole, &the_whole),
        (part(Part::Split { atom: atom() }), &the_whole, &the_whole),
        (part(Part::Correction {}), &the_whole, &the_whole),
    ] {
        assert_eq!((&attempt(&created), &judge(&created)), (worker, its_judge), "{:?}", created.part_of);
    }
    let turn = attempt(&a_turn());
    assert_eq!((turn.kind, &judge(&a_turn())), (ScopeKind::Repository, &turn));
    let child = |writes| Scope::of(Account::Child { of: own, parent: &the_whole, writes });
    assert_eq!(child(None), the_whole, "whoever is sent works for what its sender works for");
    assert_eq!(child(Some("report.md")).kind, ScopeKind::Artifact);
    let system = Scope { kind: ScopeKind::System, id: "doctor".to_owned() };
    assert_eq!(Scope::of(Account::Windlass { duty: "doctor" }), system);
}

/// Whoever reads an id learns neither a path nor what a file is called, and the same thing has the same id.
#[test]
fn a_folder_and_a_file_are_named_by_digests_that_tell_them_apart() {
    let repository = |created: &TaskCreated| Scope::of(Account::Attempt { of: task(3), created }).id;
    let there = TaskCreated { workspace: "/home/you/other".to_owned(), ..a_turn() };
    let elsewhere = TaskCreated { placement: Some("another machine".to_owned()), ..a_turn() };
    let parent = Scope { kind: ScopeKind::Task, id: task(3).to_string() };
    let artifact = |of, file| Scope::of(Account::Child { of, parent: &parent, writes: Some(file) }).id;
    let ids = [
        repository(&a_turn()),
        repository(&there),
        repository(&elsewhere),
        artifact(task(3), "a.md"),
        artifact(task(3), "b.md"),
        artifact(task(4), "a.md"),
    ];
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
    assert!(ids.iter().all(|id| id.parse::<Digest>().is_ok()), "{ids:?}");
    assert_eq!(repository(&a_turn()), repository(&TaskCreated { agent_id: "another".to_owned(), ..a_turn() }));
}

/// The scopes of journals are what they were: of before there were others, a planner's is its task's.
#[test]
fn each_of_the_five_scopes_is_read_and_written_as_its_name() {
    for (scope, name) in ScopeKind::ALL.into_iter().zip(["system", "repository", "mission", "task", "artifact"]) {
        let stored = serde_json::json!({"kind": name, "id": "1"});
        let read: Scope = serde_json::from_value(stored.clone()).expect("one of the five");
        assert_eq!((read.kind, read.kind.as_str()), (scope, name));
        assert_eq!(serde_json::to_value(&read).expect("plain data"), stored);
    }
    let planner = "create[foreign=0] launching running";
    let state = Story::told(planner).state;
    assert_eq!(state.header.expect("a header").scope.kind, ScopeKind::Task);
}

/// Every name that a record of an execution has for anything, with where it stands: `header.scope.id`.
fn fields(of: &str, value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                let path = format!("{of}.{name}");
                found.insert(path.clone());
                fields(&path, value, found);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| fields(of, value, found)),
        _ => {}
    }
}

/// Whatever is added to the header has to be the execution's own; nothing of its owner's stands in any other record either.
#[test]
fn nothing_else_about_the_owner_is_stored() {
    let mut found = BTreeSet::new();
    for record in execution_records("x") {
        let stored = windlass_domain::EventFamily::encode(&record);
        let value: Value = serde_json::from_str(stored.data.get()).expect("JSON");
        fields(stored.kind, &value, &mut found);
    }
    let header: Vec<&str> = found.iter().filter_map(|path| path.strip_prefix("journal.header.")).collect();
    let top: Vec<&str> = header.iter().copied().filter(|path| !path.contains('.')).collect();
    assert_eq!(
        top,
        [
            "agent_id",
            "agent_version",
            "carrier",
            "configuration_digest",
            "execution_id",
            "labels",
            "limits",
            "model",
            "parent",
            "pattern",
            "role",
            "scope",
        ]
    );
    let scope: Vec<&str> = header.into_iter().filter(|path| path.starts_with("scope.")).collect();
    assert_eq!(scope, ["scope.id", "scope.kind"]);
    let of_the_owner = [
        "task",
        "task_id",
        "task_label",
        "goal",
        "goal_id",
        "title",
        "objective",
        "atom",
        "root",
        "part_of",
        "plan",
        "workspace",
        "working_directory",
        "cwd",
        "folder",
        "session",
        "tenant",
        "user",
        "owner",
        "status_alias",
    ];
    // Whose conversation it goes on with, and that conversation: another's, by reference, and its own from here on.
    let own = found.iter().filter(|path| !path.starts_with("execution.forked."));
    let leaks: Vec<&String> =
        own.filter(|path| path.rsplit('.').next().is_some_and(|name| of_the_owner.contains(&name))).collect();
    assert!(leaks.is_empty(), "{leaks:?}");
}

#[test]
fn at_launch_agent_version_model_and_configuration_digest_are_kept_for_audit() {
    let story = Story::told("create");
    let ExecutionEvent::Header(header) = &story.journal[0].0 else { panic!("a header comes first") };
    let stored = serde_json::to_value(header).expect("plain data");
    for field in ["agent_version", "model", "configuration_digest"] {
        assert!(stored[field].is_string(), "{field}");
    }
}

/// Without `activity.updated` and `projection.recorded`: activity and attention follow from the other records, and what is projected is not
/// written into what it is projected from.
#[test]
fn the_record_families_are_those_that_are_named() {
    let named = [
        "journal.header",
        "message.accepted",
        "message.delivery",
        "observation.recorded",
        "decision.recorded",
        "state.changed",
        "owner-effect.recorded",
        "model.requested",
        "model.responded",
        "tool.started",
        "tool.finished",
        "injection.received",
        "compaction.started",
        "subagent.spawned",
        "risk.checked",
        "doom_loop.detected",
    ];
    let missing: Vec<_> = named.into_iter().filter(|kind| !ExecutionEvent::KINDS.contains(kind)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// There is no other way to another state: without that record the fold stays where it was.
#[test]
fn every_state_change_has_its_record() {
    let story = Story::told("create prompt launching running ask call:a start:a=once ok:a paused running completed");
    let mut state = ExecutionState::default();
    for (event, at) in &story.journal {
        let before = state.lifecycle;
        state.apply(event, *at);
        let is_change = matches!(event, ExecutionEvent::StateChanged(change) if change.to == state.lifecycle);
        assert!(is_change || state.lifecycle == before, "{event:?}");
    }
}

#[test]
fn turn_starting_kinds_are_prompt_reply_resume_checkpoint_and_nudge() {
    let starting: Vec<&str> =
        MessageKind::ALL.into_iter().filter(|kind| kind.starts_turn()).map(MessageKind::as_str).collect();
    assert_eq!(starting, ["prompt", "reply", "resume", "checkpoint", "nudge"]);
    let others: Vec<&str> =
        MessageKind::ALL.into_iter().filter(|kind| !kind.starts_turn()).map(MessageKind::as_str).collect();
    assert_eq!(others, ["interrupt", "stop", "model"]);
}

#[test]
fn messages_are_described_by_descriptors_in_a_registry_computed_per_execution() {
    let hearer =
        |carrier, lifecycle| Hearer { carrier, can_be_steered: true, lifecycle, answered_by: AnsweredBy::Model };
    let registry = hearer(Carrier::Foreign, Lifecycle::Running).registry();
    for descriptor in &registry {
        let shown = serde_json::to_value(descriptor).expect("plain data");
        let names: Vec<&String> = shown.as_object().expect("an object").keys().collect();
        assert_eq!(names, ["delivery", "direction", "kind", "schema", "starts_turn"]);
        let kind = MessageKind::ALL.into_iter().find(|kind| kind.as_str() == descriptor.kind);
        let starts = descriptor.direction == Direction::ToAgent && kind.is_some_and(MessageKind::starts_turn);
        assert_eq!(descriptor.starts_turn, starts, "{}", descriptor.kind);
    }
    assert_ne!(registry, hearer(Carrier::Native, Lifecycle::Running).registry());
    assert_ne!(registry, hearer(Carrier::Foreign, Lifecycle::Paused).registry());
    assert!(hearer(Carrier::Foreign, Lifecycle::Completed).registry().is_empty());
}

#[test]
fn a_kind_that_cannot_be_delivered_is_a_typed_error() {
    for lifecycle in Lifecycle::ALL {
        for carrier in [Carrier::Native, Carrier::Foreign] {
            let hearer = Hearer { carrier, can_be_steered: true, lifecycle, answered_by: AnsweredBy::Model };
            let listed: Vec<&str> = hearer.registry().iter().map(|descriptor| descriptor.kind).collect();
            for kind in MessageKind::ALL {
                match hearer.delivery(kind) {
                    Ok(_) => assert!(listed.contains(&kind.as_str()), "{kind:?} {hearer:?}"),
                    Err(why) => assert!(!listed.contains(&kind.as_str()) && !why.to_string().is_empty(), "{kind:?}"),
                }
            }
        }
    }
}

#[test]
fn messages_from_an_agent_are_of_seven_kinds() {
    assert_eq!(
        ClaimKind::ALL.map(ClaimKind::as_str),
        ["progress", "needs_input", "blocked", "ready_for_verification", "completed_claim", "failed_claim", "note"]
    );
}

#[test]
fn claims_of_success_change_nothing() {
    let begun = "create[foreign=1] launching running";
    let before = Story::told(begun).state;
    for kind in ["ready_for_verification", "completed_claim"] {
        let story = Story::told(&format!("{begun} claim:{kind}=1"));
        assert_eq!(decision(&story), ObservationDecision::NeedsVerification);
        let state = &story.state;
        let now = (state.lifecycle, state.activity(), state.attention(), &state.deliverables);
        assert_eq!(now, (before.lifecycle, before.activity(), before.attention(), &before.deliverables), "{kind}");
        assert!(state.foreign.turn.is_none(), "{kind}");
    }
}

#[test]
fn progress_is_what_the_agent_last_said_of_it() {
    let mut story = Story::told("create[foreign=1] launching running claim:note=1");
    assert_eq!(story.state.progress(), None);
    story.goes_on("claim:progress=2 said:well=3");
    assert_eq!(story.state.progress(), Some("so it says"));
}

fn decision(story: &Story) -> ObservationDecision {
    match &story.journal.last().expect("records").0 {
        ExecutionEvent::ObservationRecorded(recorded) => {
            assert!(!recorded.reason.is_empty());
            recorded.decision
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn intake_comes_to_one_of_four_decisions_with_a_reason() {
    use ObservationDecision::{Accepted, NeedsVerification, RecordedOnly, Rejected};
    for (word, expected) in [
        ("session:s", Accepted),
        ("claim:needs_input", Accepted),
        ("claim:blocked", Accepted),
        ("claim:failed_claim", Accepted),
        ("claim:note", RecordedOnly),
        ("said:well", RecordedOnly),
        ("unheeded:foreign", Rejected),
        ("claim:completed_claim", NeedsVerification),
        ("claim:ready_for_verification", NeedsVerification),
    ] {
        let story = Story::told(&format!("create[foreign=1] launching running {word}=1"));
        assert_eq!(decision(&story), expected, "{word}");
    }
}

#[test]
fn intake_is_one_path_whatever_the_transport() {
    let story = Story::told("create[foreign=1] launching running");
    let claims = ClaimKind::ALL.map(|kind| Observation::Claimed(Claim { kind, payload: Value::Null }));
    for observation in claims {
        let made = [Source::Provider, Source::Marker, Source::Mcp, Source::Terminal].map(|source| {
            let observed = Observed { event_id: "1".to_owned(), source, observation: observation.clone() };
            let command = windlass_domain::execution::ExecutionCommand::Observe {
                observed: Box::new(observed),
                taint: Taint::External,
            };
            match decide(&story.state, command, story.now) {
                Ok(ExecutionEvent::ObservationRecorded(recorded)) => {
                    (recorded.decision, recorded.reason, recorded.observation)
                }
                other => panic!("{other:?}"),
            }
        });
        assert!(made.iter().all(|one| *one == made[0]), "{made:?}");
    }
}

/// By the fold, and hence by whoever reads the journal after a crash: nothing in memory is needed to know it.
#[test]
fn observations_are_de_duplicated_by_execution_and_event_id_durably() {
    let story = Story::told("create[foreign=1] launching running claim:note=1");
    for again in ["claim:note=1", "claim:failed_claim=1", "said:well=1"] {
        assert!(matches!(story.tell(again), Err(Rejected::ToldBefore)), "{again}");
    }
    let mut folded = ExecutionState::default();
    for (event, at) in &story.journal {
        let stored = windlass_domain::EventFamily::encode(event);
        let read = ExecutionEvent::decode(stored.kind, stored.version, stored.data.get()).expect("readable");
        folded.apply(&read, *at);
    }
    let recovered = Story { state: folded, journal: Vec::new(), now: story.now };
    assert!(matches!(recovered.tell("claim:note=1"), Err(Rejected::ToldBefore)));
    assert!(recovered.tell("claim:note=2").is_ok(), "the control");
    let another = Story::told("create[foreign=1] launching running");
    assert!(another.tell("claim:note=1").is_ok(), "of another execution it is another");
}

/// A function of the records and of nothing else; no record holds one.
#[test]
fn the_timeline_is_derived_from_the_journal_and_never_stored() {
    let words = "create prompt launching running ask call:a start:a=once ok:a inject ask say completed";
    let journal = Story::told(words).journal;
    let told = || timeline(journal.iter().map(|(event, at)| (event, *at)));
    assert_eq!(told(), told());
    let shorter = timeline(journal[..journal.len() - 2].iter().map(|(event, at)| (event, *at)));
    assert_ne!(told(), shorter, "what is not in the journal is not in the timeline");
    assert!(ExecutionEvent::KINDS.iter().all(|kind| !kind.contains("timeline") && !kind.contains("projection")));
}
