//! Seed 001 §8, row by row: the multi-agent tests under names that say which row they are, and a table of all rows, each with the
//! test that covers it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use windlass_domain::execution::ExecutionEvent;
use windlass_domain::graph::AtomProgress;
use windlass_domain::queue::{
    ErrorCode, ErrorPayload, ExecutionStatus, OriginAgent, QueueMessage, QueuePayload, StatusPayload,
};
use windlass_domain::{CancelSignal, Canceller, EventFamily as _, Stop, TaskId, TaskResultStatus, Tenant, Usage, Usd};
use windlass_engine::{Dispatch, Engine, JournalRecord, Planning, Submission, Until, Watcher, Watchers, WorkerOptions};
use windlass_store::queue::{AuditType, Queue};
use windlass_store::{Position, Store as _, StreamId};

use crate::court::{Court, bash, call, owner_key, write, yes};
use crate::planned::{STUCK, THREE, approve_and_drive, finished, given, text, three};
use crate::research::{WAITS, ask, drive_until, planner, wanted};

/// Every row of §8.1 to §8.4: where its test stands and what it is called.
const ROWS: &[(&str, &str, &str)] = &[
    ("8.1 queue lifecycle", QUEUES, "queue_enqueue_lease_ack_nack_dead_letter_lifecycle"),
    ("8.1 crash recovery", QUEUES, "queue_crash_recovery_re_lease_on_startup"),
    ("8.1 heartbeat and expiry", QUEUES, "queue_heartbeat_extension_and_lease_expiry"),
    ("8.1 processed set", QUEUES, "queue_processed_set_idempotency"),
    ("8.1 approval state machine", APPROVALS, "approval_state_machine_all_transitions_and_failure_paths"),
    ("8.1 research mode", KIT, "a_researcher_has_what_was_asked_for_as_far_as_it_is_on_the_list"),
    ("8.1 research mode: no mutation", KIT, "inv_04_a_researcher_cannot_act"),
    ("8.1 gates: trigger points", GATES, "gate_enforcement_all_trigger_points"),
    ("8.1 gates: lanes", GATES, "gate_enforcement_policy_and_quality_lane_separation"),
    ("8.1 executor statelessness", HERE, "executor_statelessness_no_history_persists_between_runs"),
    ("8.2 proxy → planner → proxy", HERE, "proxy_planner_proxy_plan_request_to_plan_result"),
    ("8.2 planner → executor → planner", HERE, "planner_executor_planner_research_request_to_research_result"),
    ("8.2 full approval path", HERE, "full_approval_path_plan_card_approve_execute_done"),
    ("8.2 on_stuck: guidance", HERE, "on_stuck_executor_fails_consult_planner_guidance_retry"),
    ("8.2 on_stuck: timeout", HERE, "on_stuck_consult_timeout_with_retryable_timeout_error_payload"),
    ("8.2 parallel execution", HERE, "parallel_execution_three_independent_tasks_are_isolated"),
    ("8.3 crash mid-tool-call", FAULTS, "crash_executor_mid_tool_call"),
    ("8.3 crash mid-tool-call, of an item", HERE, "crash_executor_mid_tool_call_of_a_planned_item"),
    ("8.3 duplicate delivery", FAULTS, "duplicate_message_delivery"),
    (
        "8.3 planner timeout on research",
        RESEARCH,
        "a_planner_whose_question_nobody_answers_in_time_is_told_so_and_goes_on_without",
    ),
    (
        "8.3 planner timeout: fallback",
        RESEARCH,
        "a_plan_that_takes_too_long_ends_with_a_timeout_unless_it_is_finished_then",
    ),
    ("8.3 approval timeout", APPROVALS, "approval_timeout_card_expiry_and_cleanup"),
    ("8.4 concurrent items per scope", HERE, "concurrent_work_items_per_scope_up_to_max_concurrent"),
    ("8.4 queue depth", HERE, "queue_depth_under_sustained_load"),
    ("8.4 token cost", HERE, "token_cost_tracking_accuracy_across_agents"),
];

const QUEUES: &str = include_str!("../../../windlass-store/src/conformance/queues.rs");
const APPROVALS: &str = include_str!("approval_state_machine.rs");
const KIT: &str = include_str!("../../../windlass-tools/tests/it/kits.rs");
const GATES: &str = include_str!("gate_enforcement.rs");
const FAULTS: &str = include_str!("fault_injection.rs");
const RESEARCH: &str = include_str!("research.rs");
const HERE: &str = include_str!("seed_001_8.rs");

#[test]
fn every_row_of_the_seed_has_its_test() {
    for (row, file, test) in ROWS {
        assert!(file.contains(&format!("fn {test}(")), "{row}: there is no test {test}");
    }
    for section in ["8.1", "8.2", "8.3", "8.4"] {
        assert!(ROWS.iter().filter(|(row, ..)| row.starts_with(section)).count() >= 3, "{section}");
    }
}

/// Every message that entered a queue, as `queue kind`.
fn enqueued(court: &Court, engine: &Engine) -> Vec<String> {
    let page = court.wait(engine.audit(Position(0))).unwrap();
    let events = page.records.into_iter().map(|record| record.event);
    let events = events.filter(|event| event.event_type == AuditType::Enqueue);
    events.map(|event| format!("{} {}", word(&event.details["queue"]), word(&event.details["message_kind"]))).collect()
}

fn word(value: &serde_json::Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn lies(court: &Court, queue: Queue, task: TaskId) -> Vec<QueueMessage> {
    let about = StreamId::new("task", task);
    let found = court.wait(court.store.about(&Tenant::local(), queue.name(), &about)).unwrap();
    let read = |message: windlass_store::StoredMessage| {
        QueueMessage::decode(&message.kind, message.version, &message.data).unwrap()
    };
    found.into_iter().map(read).collect()
}

fn status(message: &QueueMessage) -> &StatusPayload {
    match &message.payload {
        Some(QueuePayload::Status(status)) => status,
        other => panic!("{other:?}"),
    }
}

fn for_workers(court: &Court, engine: &Engine, planning: Planning) -> TaskId {
    let submission = Submission { planning, ..court.submission() };
    court.wait(engine.submit(submission, Dispatch::ToWorkers, Some(&owner_key()))).unwrap()
}

fn item(court: &Court, engine: &Engine, task: TaskId) -> TaskId {
    let graph = court.wait(engine.graph(task)).unwrap();
    graph.atoms.values().next().expect("an item").runs[0].task
}

#[test]
fn proxy_planner_proxy_plan_request_to_plan_result() {
    let court = Court::new(vec![]);
    court.things.cast("do it", vec![vec![]], THREE);
    let engine = court.process();
    let task = for_workers(&court, &engine, Planning::Wanted);
    court.work(&engine);
    let kinds = enqueued(&court, &engine);
    let at = |kind: &str| kinds.iter().position(|known| known == kind).unwrap_or_else(|| panic!("{kind}: {kinds:?}"));
    assert!(at("planner_queue plan_request") < at("proxy_queue plan_result"));
    assert_eq!(kinds.iter().filter(|kind| *kind == "proxy_queue plan_result").count(), 1, "{kinds:?}");
    assert!(lies(&court, Queue::Proxy, task).is_empty(), "whoever works also hears the news");
}

#[test]
fn planner_executor_planner_research_request_to_research_result() {
    let court = Court::new(vec![]);
    court.things.cast_turns("do it", vec![(vec![vec![ask("Which?")]], WAITS), (vec![], THREE)]);
    court.things.cast("Which?", vec![vec![]], "This.");
    let engine = court.process();
    let task = for_workers(&court, &engine, Planning::Wanted);
    court.work_on(&engine, 1);
    let kinds = enqueued(&court, &engine);
    let at = |kind: &str| kinds.iter().position(|known| known == kind).unwrap_or_else(|| panic!("{kind}: {kinds:?}"));
    let order = ["executor_queue research_request", "planner_queue research_result", "proxy_queue plan_result"].map(at);
    assert!(order.is_sorted(), "{kinds:?}");
    assert!(planner(&court, &engine, task).1.is_over());
}

#[test]
fn full_approval_path_plan_card_approve_execute_done() {
    let court = Court::new(vec![]);
    three(&court);
    court.things.cast("do it", vec![vec![]], THREE);
    let engine = court.process();
    let task = for_workers(&court, &engine, Planning::Wanted);
    court.work(&engine);
    assert!(court.performed().is_empty(), "nothing before the answer");
    let card = court.only_card(&engine).card.card_id;
    court.answer(&engine, card, yes()).unwrap();
    court.work(&engine);
    let result = court.wait(engine.task(task)).unwrap().result.expect("it has ended");
    assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, true), "{result:?}");
    assert_eq!(court.stations(card)[..3], ["requested", "decided", "issued"]);
    // The proxy is told of each item that it runs and that it is done.
    let told = enqueued(&court, &engine).iter().filter(|kind| *kind == "proxy_queue execution_status").count();
    assert_eq!(told, 3 * 2);
}

#[test]
fn on_stuck_executor_fails_consult_planner_guidance_retry() {
    let court = Court::new(vec![]);
    let attempt = |path: &str| vec![vec![write(path, "it")]];
    let attempts = vec![attempt("wrong.txt"), attempt("wrong_again.txt"), attempt("right.txt")];
    court.things.cast("Write it right", attempts, "written");
    court.things.cast("An item of your plan is stuck", vec![vec![]], "write the word right");
    let engine = court.process();
    let task = given(&court, &engine, STUCK);
    let result = approve_and_drive(&court, &engine, task);
    assert_eq!(result.status, TaskResultStatus::Completed, "{result:?}");
    let kinds = enqueued(&court, &engine);
    let at = |kind: &str| kinds.iter().position(|known| known == kind).unwrap_or_else(|| panic!("{kind}: {kinds:?}"));
    assert!(at("planner_queue consult_planner") < at("runtime_queue planner_guidance"));
    let told = kinds.iter().filter(|kind| *kind == "proxy_queue execution_status").count();
    // Three times it runs, twice its checks fail, once it is stuck, and then it is done.
    assert_eq!(told, 3 + 2 + 1 + 1, "{kinds:?}");
    let state = court.wait(engine.task(item(&court, &engine, task))).unwrap();
    assert_eq!(state.guidance(), ["write the word right"]);
}

#[test]
fn on_stuck_consult_timeout_with_retryable_timeout_error_payload() {
    let court = Court::new(vec![]);
    let attempt = |path: &str| vec![vec![write(path, "it")]];
    let attempts = vec![attempt("wrong.txt"), attempt("wrong_again.txt"), attempt("right.txt")];
    court.things.cast("Write it right", attempts, "written");
    let thinks = vec![vec![vec![call("read", serde_json::json!({ "path": "x" }))]]];
    court.things.cast("An item of your plan is stuck", thinks, "too late");
    let held = Canceller::default();
    court.things.hold_tool("read", held.signal());
    let engine = court.process();
    let task = given(&court, &engine, STUCK);
    court.drive(&engine, task);
    let card = court.only_card(&engine).card.card_id;
    court.approve(&engine, card);
    drive_until(&court, &engine, task, court.things.holding());
    drop(engine);
    let engine = court.process();
    let stuck = item(&court, &engine, task);
    let told = lies(&court, Queue::Proxy, stuck);
    assert_eq!(told.last().map(|message| status(message).status), Some(ExecutionStatus::Stuck));
    court.jump(Duration::from_secs(91));
    // Whoever works on anything minds the timers of all.
    let other = given(&court, &engine, THREE);
    court.drive(&engine, other);
    let expected = ErrorPayload {
        error_code: ErrorCode::Timeout,
        retryable: true,
        origin_agent: OriginAgent::Planner,
        attempt_number: 1,
        detail: "the planner did not answer in time".to_owned(),
    };
    let woken = lies(&court, Queue::Runtime, stuck);
    assert_eq!(woken[0].payload, Some(QueuePayload::Error(expected)));
    court.things.let_go();
    let result = finished(court.drive(&engine, task));
    assert_eq!(result.status, TaskResultStatus::Completed, "{result:?}");
    let state = court.wait(engine.task(stuck)).unwrap();
    assert_eq!((state.attempts.len(), state.guidance().len()), (3, 0));
    let thinker = court.wait(engine.task(state.consults[0].run)).unwrap();
    assert_eq!(thinker.result.map(|result| result.status), Some(TaskResultStatus::Cancelled));
}

#[test]
fn parallel_execution_three_independent_tasks_are_isolated() {
    let court = Court::new(vec![]);
    let items = ["a", "b", "c"].map(|name| {
        format!("  - {{ id: {name}, type: task, title: Write {name}, verify: [{{ file: {name}.txt }}] }}\n")
    });
    let plan = THREE.split("  - {").next().unwrap().to_owned() + &items.concat() + "---\n# What to do\nWrite.\n";
    three(&court);
    let engine = court.process();
    let task = given(&court, &engine, &plan);
    let result = approve_and_drive(&court, &engine, task);
    assert_eq!(result.status, TaskResultStatus::Completed, "{result:?}");
    let graph = court.wait(engine.graph(task)).unwrap();
    let base = graph.base.expect("a baseline");
    for progress in graph.atoms.values() {
        let state = court.wait(engine.task(progress.runs[0].task)).unwrap();
        assert_eq!((state.attempts.len(), state.attempts[0].base), (1, Some(base)), "each began from the same");
        assert_eq!(progress.runs[0].ended.as_ref().unwrap().touched.len(), 1, "and changed what is its own");
    }
    assert_eq!(["a", "b", "c"].map(|name| text(&court, &format!("{name}.txt")).unwrap()), ["a", "b", "c"]);
}

#[test]
fn crash_executor_mid_tool_call_of_a_planned_item() {
    let court = Court::new(vec![]);
    three(&court);
    let held = Canceller::default();
    let engine = court.process();
    let task = given(&court, &engine, THREE);
    court.drive(&engine, task);
    let card = court.only_card(&engine).card.card_id;
    court.approve(&engine, card);
    court.things.hold(held.signal());
    drive_until(&court, &engine, task, court.things.holding());
    drop(engine);
    court.things.let_go();
    let engine = court.process();
    let result = finished(court.drive(&engine, task));
    assert_eq!((result.status, result.verified), (TaskResultStatus::Completed, true), "{result:?}");
    assert_eq!(court.performed().len(), 3, "each once");
    let graph = court.wait(engine.graph(task)).unwrap();
    let interruptions = |atom: &AtomProgress| court.interruptions(&engine, atom.runs[0].task);
    assert!(graph.atoms.values().any(|atom| interruptions(atom) > 0), "whoever was cut off, it is said of them");
}

/// Nothing of an earlier attempt is in the next one's conversation but what it ran into.
#[test]
fn executor_statelessness_no_history_persists_between_runs() {
    let court = Court::new(vec![]);
    let attempt = |path: &str| vec![vec![write(path, "a secret of the first")]];
    court.things.cast("Write it right", vec![attempt("wrong.txt"), attempt("right.txt")], "written");
    let engine = court.process();
    let task = given(&court, &engine, STUCK);
    approve_and_drive(&court, &engine, task);
    let state = court.wait(engine.task(item(&court, &engine, task))).unwrap();
    assert_eq!(state.attempts.len(), 2);
    assert_ne!(state.attempts[0].execution_id, state.attempts[1].execution_id);
    let second = StreamId::new("execution", state.attempts[1].execution_id);
    let said: String = court.rows(&second).into_iter().map(|row| row.data).collect();
    assert!(!said.contains("wrong.txt"), "{said}");
}

/// How many are at work at once, of whom.
#[derive(Default)]
struct Counted(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    now: BTreeMap<Tenant, usize>,
    highest: BTreeMap<Tenant, usize>,
    begun: usize,
}

struct AtWork(Arc<Counted>, Tenant);

impl AtWork {
    /// `begun` is raised when so many have begun.
    fn new(counted: &Arc<Counted>, tenant: &Tenant, (most, begun): (usize, &Canceller)) -> Self {
        let mut counts = counted.0.lock().unwrap();
        let Counts { now, highest, begun: total } = &mut *counts;
        let here = now.entry(tenant.clone()).or_default();
        *here += 1;
        let high = highest.entry(tenant.clone()).or_default();
        *high = (*high).max(*here);
        *total += 1;
        if *total == most {
            begun.stop(Stop::Pause);
        }
        Self(Arc::clone(counted), tenant.clone())
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        *self.0.0.lock().unwrap().now.get_mut(&self.1).expect("it was counted") -= 1;
    }
}

impl Watcher for AtWork {
    fn task(&self, _: TaskId, _: &windlass_domain::task::TaskEvent, _: windlass_domain::Wall) {}
    fn execution(&self, _: windlass_domain::ExecutionId, _: &ExecutionEvent, _: windlass_domain::Wall) {}
    fn delta(&self, _: windlass_domain::ExecutionId, _: windlass_domain::Delta) {}
}

/// The most that were at work at once, of each tenant.
fn work(court: &Court, engine: &Engine, most: usize) -> BTreeMap<Tenant, usize> {
    let (counted, begun) = (Arc::new(Counted::default()), Canceller::default());
    court.things.hold(begun.signal());
    let (counting, begins) = (Arc::clone(&counted), begun.clone());
    let watchers =
        Watchers::new(move |tenant, _| Arc::new(AtWork::new(&counting, tenant, (most, &begins))) as Arc<dyn Watcher>);
    let options = WorkerOptions { until: Until::Idle, ..WorkerOptions::default() };
    court.wait(engine.work(options, watchers, CancelSignal::never())).unwrap();
    let counts = counted.0.lock().unwrap();
    counts.highest.clone()
}

#[test]
fn concurrent_work_items_per_scope_up_to_max_concurrent() {
    let court = Court::new(vec![vec![bash("ls")]]);
    let engine = court.process();
    let tenants = ["one", "other", "third"].map(Tenant::new);
    for tenant in &tenants[..2] {
        let theirs = engine.for_tenant(tenant.clone());
        for _ in 0..12 {
            court.wait(theirs.submit(court.submission(), Dispatch::ToWorkers, None)).unwrap();
        }
    }
    let highest = work(&court, &engine, 16);
    assert_eq!(highest.into_values().collect::<Vec<_>>(), [8, 8], "sixteen in all, and eight of each");
    let alone = engine.for_tenant(tenants[2].clone());
    for _ in 0..12 {
        court.wait(alone.submit(court.submission(), Dispatch::ToWorkers, None)).unwrap();
    }
    let highest = work(&court, &engine, 8);
    assert_eq!(highest.into_values().collect::<Vec<_>>(), [8], "a tenant alone has no more");
    assert_eq!(court.performed().len(), 36);
}

#[test]
fn queue_depth_under_sustained_load() {
    let court = Court::new(vec![vec![bash("ls")]]);
    let engine = court.process();
    let depth = |queue: Queue| court.wait(court.store.depth(queue.name())).unwrap();
    for wave in 1..=4_usize {
        for _ in 0..16 {
            court.wait(engine.submit(court.submission(), Dispatch::ToWorkers, None)).unwrap();
        }
        court.work_on(&engine, 16);
        assert_eq!(court.performed().len(), wave * 16);
        for queue in Queue::ALL {
            let left = depth(queue);
            assert_eq!((left.ready, left.leased), (0, 0), "{queue:?} after wave {wave}: nothing piles up");
        }
    }
    assert!(court.wait(court.store.dead_letters(&Tenant::local(), None, 10)).unwrap().is_empty());
}

/// What the model was paid for by a task's executions, as their journals say.
fn spent(court: &Court, engine: &Engine, task: TaskId) -> (u64, u64) {
    // Those who work for it have a bill of their own.
    let attempts = court.wait(engine.task(task)).unwrap().attempts;
    let is_own = |execution| attempts.iter().any(|attempt| attempt.execution_id == execution);
    let answered = court.story(engine, task).into_iter().filter_map(|record| match record {
        JournalRecord::Execution { execution, event, .. } if is_own(execution) => match *event {
            ExecutionEvent::ModelResponded(answer) => {
                Some((answer.usage.total(), answer.cost.unwrap_or_default().as_nanos()))
            }
            _ => None,
        },
        _ => None,
    });
    answered.fold((0, 0), |(tokens, nanos), (more, cost)| (tokens + more, nanos + cost))
}

fn sum(parts: impl IntoIterator<Item = (u64, u64)>) -> (u64, u64) {
    parts.into_iter().fold((0, 0), |(tokens, nanos), (more, cost)| (tokens + more, nanos + cost))
}

#[test]
fn token_cost_tracking_accuracy_across_agents() {
    let court = Court::new(vec![]);
    court.things.set_price(Usage { input: 31, output: 7, ..Usage::default() }, Usd::from_nanos(1_001));
    court.things.cast_turns("do it", vec![(vec![vec![ask("Which?"), ask("Why?")]], WAITS), (vec![vec![]], STUCK)]);
    for question in ["Which?", "Why?"] {
        court.things.cast(question, vec![vec![vec![], vec![]]], "This.");
    }
    let attempt = |path: &str| vec![vec![write(path, "it")]];
    let attempts = vec![attempt("wrong.txt"), attempt("wrong_again.txt"), attempt("right.txt")];
    court.things.cast("Write it right", attempts, "written");
    court.things.cast("An item of your plan is stuck", vec![vec![vec![]]], "write the word right");
    let engine = court.process();
    let task = wanted(&court, &engine);
    let result = approve_and_drive(&court, &engine, task);
    assert_eq!(result.status, TaskResultStatus::Completed, "{result:?}");
    let (plans, state) = planner(&court, &engine, task);
    let works = item(&court, &engine, task);
    let consults = court.wait(engine.task(works)).unwrap().consults;
    let helpers = state.inquiries.iter().map(|inquiry| inquiry.run).chain(consults.iter().map(|consult| consult.run));
    let planning = sum(std::iter::once(plans).chain(helpers).map(|run| spent(&court, &engine, run)));
    let work = spent(&court, &engine, works);
    let graph = court.wait(engine.graph(task)).unwrap();
    let bill = |bill: windlass_domain::graph::Bill| (bill.usage.total_tokens, bill.cost.as_nanos());
    assert_eq!(bill(graph.spent()), work, "an executor's budget pays executors");
    assert_eq!(bill(graph.planning), planning, "a plan's budget pays planners, researchers and consults");
    assert!(work.0 > 0 && planning.0 > 38 * 5, "{work:?} {planning:?}");
    let whole = (result.usage.total_tokens, result.cost_usd.expect("a price").as_nanos());
    assert_eq!(whole, sum([work, planning]));
}
