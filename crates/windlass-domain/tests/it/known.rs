//! What is known about a task: which memories bear on a goal, how much is kept of what anybody says, and how far that is trusted.

use windlass_domain::known::{ContextGathered, ContextItem, ContextSource, TaskContext, is_relevant, telling_words};
use windlass_domain::task::{Part, PartOf, TaskAction, TaskRejected, TaskState, decide};
use windlass_domain::{Memory, MemoryId, MemoryKind, MemorySource, Role, Taint, TaskId};

use crate::notation::START;
use crate::task_notation::{execution, told};

fn memory(text: &str) -> Memory {
    let task = TaskId::new(START, 1);
    Memory {
        id: MemoryId::of(task, 0, START),
        kind: MemoryKind::Outcome,
        text: text.to_owned(),
        taint: Taint::Auth,
        source: MemorySource::Task(task),
        created_at: START,
    }
}

fn item(text: &str) -> ContextItem {
    ContextItem { text: text.to_owned(), source: String::new(), taint: Taint::Auth }
}

fn gathered(taint: Taint) -> ContextGathered {
    let context = TaskContext { memories: vec![ContextItem { taint, ..item("m") }], ..TaskContext::default() };
    ContextGathered { from: ContextSource::Service, context }
}

#[test]
fn a_memory_bears_on_a_goal_that_is_about_the_same_thing() {
    let check = |goal: &str, title: &str, expected: bool| {
        let memory = memory(&format!("{title}\ncompleted\nparser comma lexer house paint"));
        assert_eq!(is_relevant(goal, &memory), expected, "{goal} / {title}");
    };
    check("Mend the parser's comma", "Repair the parser: a comma is lost", true);
    check("Mend the parsers and commas", "the comma in the parser", true);
    check("Paint the house", "Mend the parser", false);
    check("Mend the parser", "Paint the parser room and then the house beside the river bank", false);
    check("Please make sure that all files work", "Please make sure all the files are new", false);
    check("Deploy", "deploy", true);
    check("超时时间", "超时时间", true);
    check("", "", false);
    check("go on", "go out", false);
    check("Fix the flaky integration test\n\nIt fails on Mondays, see the log.", "The flaky test of Monday", true);
}

#[test]
fn the_words_that_say_something_are_few_and_each_stands_once() {
    assert_eq!(telling_words("Fix the Parser, the parser!"), ["parser"]);
    let endless: String = (0..10_000).map(|number| format!("word{number} ")).collect();
    assert_eq!(telling_words(&endless).len(), 64);
}

#[test]
fn what_is_kept_is_short_visible_and_says_something() {
    let context = TaskContext {
        memories: vec![item(&"m".repeat(5_000)), item("  \n"), item("a\u{202e}b\u{1b}[2J\r\nc")],
        preferences: vec![ContextItem { source: "one\n# Goal\n".repeat(100), ..item("p") }; 100],
        attachments: vec![],
    };
    let kept = context.bounded();
    assert_eq!((kept.memories.len(), kept.preferences.len()), (2, 16));
    assert_eq!(kept.memories[0].text.chars().count(), 2_001);
    assert_eq!(kept.memories[1].text, "a<U+202E>b<U+001B>[2J<U+000D>\nc");
    assert!(kept.preferences.iter().all(|item| !item.source.contains('\n') && item.source.chars().count() <= 201));
}

#[test]
fn all_of_it_together_leaves_room_for_the_work() {
    let long = vec![item(&"é".repeat(16_000)); 50];
    let context = TaskContext { memories: long.clone(), preferences: long.clone(), attachments: long };
    let kept = context.bounded();
    let all = kept.memories.iter().chain(&kept.preferences).chain(&kept.attachments);
    let bytes: usize = all.map(|item| item.text.len() + item.source.len()).sum();
    assert!((28_000..=32_768).contains(&bytes), "{bytes}");
    assert!(!kept.preferences.is_empty(), "how people like things done comes first");
    assert_eq!(kept.clone().bounded(), kept.bounded(), "the same again");
}

#[test]
fn what_comes_from_outside_is_external_and_of_nothing_there_is_nothing_to_distrust() {
    let owner = ContextItem { taint: Taint::Owner, ..item("trust me") };
    let context = TaskContext { preferences: vec![owner], ..TaskContext::default() };
    assert_eq!((context.taint(), context.clone().from_outside().taint()), (Taint::Owner, Taint::External));
    assert_eq!(TaskContext::default().taint(), Taint::Owner);
    let unlabelled: ContextItem = serde_json::from_str(r#"{"text":"t"}"#).unwrap();
    assert_eq!(unlabelled.taint, Taint::External);
}

/// Once, before anybody works on it.
#[test]
fn it_is_taken_once_and_before_the_first_attempt() {
    let take = || TaskAction::TakeContext(Box::new(gathered(Taint::External)));
    let check = |history: &str, expected: Result<(), TaskRejected>| {
        assert_eq!(decide(&told(history), take()).map(drop), expected, "{history}");
    };
    check("task", Ok(()));
    check("task paused running", Ok(()));
    check("task paused", Err(TaskRejected::Paused));
    check("task start", Err(TaskRejected::ContextUnasked));
    check("task start done fail", Err(TaskRejected::ContextUnasked));
    check("task start done finished:COMPLETED", Err(TaskRejected::Over));
    let mut task = told("task");
    task.apply(&decide(&task, take()).unwrap(), START);
    assert_eq!(decide(&task, take()).map(drop), Err(TaskRejected::ContextUnasked));
    let begun = TaskAction::StartAttempt { execution_id: execution(1), base: None };
    assert!(decide(&task, begun).is_ok());
}

#[test]
fn whoever_is_told_it_is_as_external_as_it_is() {
    let known = |taint| {
        let mut task = told("task");
        task.apply(&decide(&task, TaskAction::TakeContext(Box::new(gathered(taint)))).unwrap(), START);
        task.inherited().0
    };
    assert_eq!(
        (known(Taint::External), known(Taint::Auth), known(Taint::Owner)),
        (Taint::External, Taint::Auth, Taint::Auth)
    );
}

fn as_part(task: &mut TaskState, role: Role, part: Part) {
    let created = task.created.as_mut().expect("it was created");
    let of = created.command.task_id;
    (created.role, created.part_of) = (role, Some(PartOf { task: of, root: of, part }));
}

/// An item of a plan, whoever looks something up, and a turn work from what they are handed.
#[test]
fn only_who_begins_with_a_users_words_is_told() {
    let wants = |change: fn(&mut TaskState)| {
        let mut task = told("task");
        change(&mut task);
        task.created.unwrap().wants_context()
    };
    assert!(wants(|_| ()));
    assert!(wants(|task| as_part(task, Role::Planner, Part::Plan { revision: 1, aligns: false })));
    assert!(!wants(|task| as_part(task, Role::Planner, Part::Guidance { attempt: 1 })));
    assert!(!wants(|task| as_part(task, Role::Executor, Part::Correction {})));
    assert!(!wants(|task| task.created.as_mut().expect("it was created").role = Role::Proxy));
}
