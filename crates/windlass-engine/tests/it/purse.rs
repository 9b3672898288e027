//! The plan's budget: planners, those who look into something for them, and those who are consulted spend it once, however many they are.

use windlass_domain::{TaskResultStatus, Usage, Usd};
use windlass_engine::{Dispatch, Planning, Submission, read_plan};

use crate::court::{Ask, Court, call, owner_key, read, write};
use crate::planned::{STUCK, finished};

/// What an answer of the model uses, and what all planning may.
const CALL: u64 = 100;
const ALL: u64 = 2_000;

fn thinking(steps: usize) -> Vec<Vec<Ask>> {
    vec![vec![read("mine.txt")]; steps]
}

fn expensive(court: &Court) {
    court.things.set_price(Usage { input: CALL, ..Usage::default() }, Usd::ZERO);
}

/// All are asked before any has answered: each finds what those before it have left.
#[test]
fn planners_that_are_asked_at_once_do_not_spend_the_plan_s_budget_several_times() {
    const ITEMS: [&str; 3] = ["one", "two", "three"];
    let court = Court::new(vec![]);
    expensive(&court);
    for name in ITEMS {
        let paths = ["wrong", "worse", "txt"].map(|ending| format!("{name}.{ending}"));
        let attempts = paths.iter().map(|path| vec![vec![write(path, "it")]]).collect();
        court.things.cast(&format!("Item {name}"), attempts, "written");
    }
    court.things.cast("An item of your plan is stuck", vec![thinking(30)], "look twice");
    let engine = court.process();
    let item = |name| format!("  - {{id: {name}, type: task, title: Item {name}, verify: [{{file: {name}.txt}}]}}\n");
    let document = format!(
        "---\nid: all\ntype: project\ntitle: All\nplan_budget: {{max_tokens: {ALL}}}\ntasks:\n{}---\n# What to do\nAll.\n",
        ITEMS.map(item).concat()
    );
    let plan = read_plan(&document).unwrap_or_else(|problems| panic!("{problems}"));
    let submission = Submission { planning: Planning::Given(Box::new(plan)), ..court.submission() };
    let task = court.wait(engine.submit(submission, Dispatch::ToWorkers, Some(&owner_key()))).unwrap();
    court.work(&engine);
    court.approve(&engine, court.only_card(&engine).card.card_id);
    // One at a time: items go before planners, so that all ask before any is heard.
    court.work_on(&engine, 1);
    let graph = court.wait(engine.graph(task)).unwrap();
    let runs = graph.atoms.values().map(|progress| court.wait(engine.task(progress.runs[0].task)).unwrap());
    assert!(runs.into_iter().all(|run| run.consults.len() == 1), "each has asked");
    let used = graph.planning.usage.total_tokens;
    assert!(used <= ALL + 3 * CALL, "{used} of {ALL}");
}

#[test]
fn a_planner_and_whoever_looks_into_something_for_it_share_one_budget() {
    let court = Court::new(vec![]);
    expensive(&court);
    let question = call("request_research", serde_json::json!({"task": "Which books?", "return_format": "a list"}));
    let waits = r#"{"needs_research": true}"#;
    court.things.cast_turns("do it", vec![(vec![vec![question]], waits), (thinking(30), STUCK)]);
    court.things.cast("Which books?", vec![thinking(30)], "None.");
    let engine = court.process();
    let mut submission = Submission { planning: Planning::Wanted, ..court.submission() };
    submission.budget.max_tokens = ALL;
    let task = court.wait(engine.submit(submission, Dispatch::Here, Some(&owner_key()))).unwrap();
    let result = finished(court.drive(&engine, task));
    assert_eq!(result.status, TaskResultStatus::Failed, "the budget ends it: {result:?}");
    let used = court.wait(engine.graph(task)).unwrap().planning.usage.total_tokens;
    assert!((ALL..=ALL + 2 * CALL).contains(&used), "{used} of {ALL}");
}
