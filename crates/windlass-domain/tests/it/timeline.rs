//! The timeline of a run, turn by turn: what was asked, what came of it, and what it cost.

use windlass_domain::timeline::{Approval, CallTold, Ending, Step, Turn, timeline};

use crate::notation::Story;

fn turns(words: &str) -> Vec<Turn> {
    let journal = Story::told(words).journal;
    timeline(journal.iter().map(|(event, at)| (event, *at)))
}

fn call(call: &CallTold) -> String {
    let risk = call.risk.map(|risk| format!(" {}", risk.as_str())).unwrap_or_default();
    let approval = match call.approval {
        None => "",
        Some(Approval::Asked) => " asked",
        Some(Approval::Given) => " approved",
    };
    let status = call.status.map(|status| format!(" {status:?}").to_lowercase()).unwrap_or_default();
    format!("{}{risk}{approval}{status}", call.call_id.0)
}

/// `asked > step, step = end`, one for each turn.
#[track_caller]
fn check(words: &str, expected: &[&str]) {
    let told = |turn: &Turn| {
        let asked: Vec<&str> = turn.asked.iter().map(|heard| heard.text.as_str()).collect();
        let step = |step: &Step| match step {
            Step::Said { text } => format!("say {text}"),
            Step::Called(told) => call(told),
            Step::Heard(heard) => format!("hear {}", heard.text),
            Step::Started { program, version } => format!("start {program} {version}"),
            Step::Noticed { text } => format!("notice {text}"),
        };
        let steps: Vec<String> = turn.steps.iter().map(step).collect();
        let end = match &turn.end {
            Ending::Open => "open",
            Ending::Completed => "completed",
            Ending::Interrupted => "interrupted",
            Ending::Failed { .. } => "failed",
            Ending::Rests { .. } => "rests",
        };
        format!("{} > {} = {end}", asked.join(" + "), steps.join(", "))
    };
    assert_eq!(turns(words).iter().map(told).collect::<Vec<_>>(), expected, "{words}");
}

#[test]
fn the_native_loop_begins_another_turn_with_what_is_said() {
    check("create prompt launching running", &["Fix the test >  = open"]);
    check(
        "create prompt launching running ask call:a,b start:b=read start:a=once ok:b error:a inject ask say completed",
        &["Fix the test > say I see., a error, b ok = open", "User says: hurry > say I see. = completed"],
    );
    // Before anything was done about the first.
    check("create prompt inject launching running ask say", &["Fix the test + User says: hurry > say I see. = open"]);
    check("create prompt launching running ask say failed", &["Fix the test > say I see. = failed"]);
}

#[test]
fn a_call_is_told_with_what_was_decided_about_it() {
    let asked = "create prompt launching running ask call:a risk:a=high wait:a=1";
    check(asked, &["Fix the test > say I see., a high asked = open"]);
    check(&format!("{asked} awaiting_input"), &["Fix the test > say I see., a high asked = rests"]);
    check(
        &format!("{asked} awaiting_input approve:a=1 running start:a=once ok:a"),
        &["Fix the test > say I see., a high approved ok = open"],
    );
    check(&format!("{asked} denied:a"), &["Fix the test > say I see., a high asked denied = open"]);
}

#[test]
fn what_reaches_a_program_at_work_is_a_part_of_its_turn() {
    let begun = "create[foreign=1] prompt launching running launch session:s=1 said:well=2 propose:a start:a=once ok:a";
    check(begun, &["Fix the test > start agent 1.2, say well, a ok = open"]);
    check(
        &format!("{begun} inject delivered said:sure=3 ended:done=4 completed"),
        &["Fix the test > start agent 1.2, say well, a ok, hear User says: hurry, say sure = completed"],
    );
    check(
        &format!("{begun} ended:done=3 inject delivered said:sure=4 ended:again=5"),
        &["Fix the test > start agent 1.2, say well, a ok = completed", "User says: hurry > say sure = completed"],
    );
    check(&format!("{begun} ended:done=3 failed"), &["Fix the test > start agent 1.2, say well, a ok = failed"]);
}

#[test]
fn each_turn_has_its_own_bill() {
    let words = "create prompt launching running ask +5 call:a[input=10,output=2,nanos=3] start:a=read ok:a ask \
        call:b[input=7] start:b=read ok:b inject +9 ask say[input=1,nanos=4] completed";
    let turns = turns(words);
    let bill = |turn: &Turn| (turn.model_calls, turn.usage.input, turn.usage.output, turn.cost.as_nanos());
    assert_eq!(turns.iter().map(bill).collect::<Vec<_>>(), [(2, 17, 2, 3), (1, 1, 0, 4)]);
    assert_eq!(turns[0].last_at.as_millis() - turns[0].began_at.as_millis(), 5);
    let foreign = "create[foreign=1] prompt launching running launch open:1 close:1[input=4,nanos=2] ended:done=1";
    let turns = self::turns(foreign);
    assert_eq!(turns.iter().map(bill).collect::<Vec<_>>(), [(1, 4, 0, 2)]);
}
