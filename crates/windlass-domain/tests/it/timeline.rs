//! The timeline of a run, turn by turn: what was asked, what came of it, and what it cost.

use windlass_domain::execution::{ExchangeClosed, ExchangeOutcome, ExecutionEvent, Expense};
use windlass_domain::timeline::{Approval, CallTold, Ending, Outline, Step, Turn, timeline};
use windlass_domain::{Digest, Image, MediaType, Seq, Usage, Usd};

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

/// The timeline put together from pieces of at most so many steps, each told from its own records.
fn pieced(words: &str, most: usize) -> Vec<Turn> {
    let journal = Story::told(words).journal;
    let mut outline = Outline::new(most);
    for ((event, at), seq) in journal.iter().zip(1..) {
        outline.take(Seq(seq), event, *at);
    }
    let record = |seq: u64| journal.get(seq as usize - 1).map(|(event, at)| (event, *at)).expect("it is there");
    let mut turns: Vec<Turn> = Vec::new();
    for number in 0..outline.len() {
        let piece = outline.piece(number).expect("it is there");
        let records = (piece.first.0..=piece.last.0).map(record);
        let told = outline.tell(number, records, piece.late.iter().map(|seq| record(seq.0))).expect("it can be told");
        match turns.last_mut().filter(|_| piece.continues) {
            Some(turn) => {
                assert!(told.asked.is_empty() && !told.steps.is_empty(), "{words}: {told:?}");
                turn.steps.extend(told.steps);
            }
            None => turns.push(told),
        }
    }
    turns
}

#[test]
fn pieces_put_together_are_the_timeline() {
    let foreign = "create[foreign=1] prompt launching running launch session:s=1 said:well=2 propose:a start:a=once";
    let stories = [
        "create prompt launching running".to_owned(),
        "create prompt inject launching running ask say".to_owned(),
        "create prompt launching running ask call:a,b start:b=read start:a=once ok:b error:a inject ask say completed".to_owned(),
        "create prompt launching running ask call:a risk:a=high wait:a=1 awaiting_input approve:a=1 running start:a=once ok:a"
            .to_owned(),
        "create prompt launching running ask call:a,b,c start:a=read ok:a start:b=read ok:b start:c=read ok:c ask call:d \
         start:d=read ok:d ask say failed"
            .to_owned(),
        // What is said to it comes between a call and its end.
        format!("{foreign} inject delivered said:sure=3 propose:b said:so=4 ok:a start:b=once said:far=5 ok:b ended:done=6 completed"),
        // A call ends when others were made and another turn has begun.
        format!("{foreign} ended:done=3 inject delivered said:sure=4 ok:a ended:again=5"),
    ];
    for story in stories {
        for most in 1..5 {
            assert_eq!(pieced(&story, most), turns(&story), "{story} in pieces of {most}");
        }
    }
}

#[test]
fn a_call_says_where_all_of_its_output_and_its_pictures_are_and_a_turn_whether_its_price_is_known() {
    let mut journal = Story::told("create prompt launching running ask call:a start:a=once ok:a").journal;
    let (whole, picture) = (Digest::of(b"fifty megabytes"), Digest::of(b"a screen"));
    for (event, _) in &mut journal {
        match event {
            ExecutionEvent::ToolFinished(finished) => {
                finished.full_output = Some(whole);
                finished.images = vec![Image {
                    name: "screen.png".to_owned(),
                    media_type: MediaType::Png,
                    bytes: 10,
                    width: 2,
                    height: 1,
                    digest: picture,
                }];
            }
            ExecutionEvent::ModelResponded(response) => response.cost = None,
            _ => {}
        }
    }
    let told = timeline(journal.iter().map(|(event, at)| (event, *at)));
    let Some(Step::Called(call)) = told[0].steps.iter().find(|step| matches!(step, Step::Called(_))) else {
        panic!("{told:?}")
    };
    assert_eq!((call.full_output, call.images[0].digest), (Some(whole), picture));
    assert!(told[0].unpriced);
    assert!(!turns("create prompt launching running ask say")[0].unpriced);
}

#[test]
fn answers_failures_and_the_questions_of_programs_are_expenses_and_nothing_else_is() {
    let story = Story::told("create prompt launching running ask call:a start:a=once ok:a ask say completed");
    let spent: Vec<Expense> = story.journal.iter().filter_map(|(event, _)| Expense::of(event)).collect();
    let answers = story.journal.iter().filter(|(event, _)| matches!(event, ExecutionEvent::ModelResponded(_))).count();
    assert_eq!((spent.len(), answers), (2, 2));
    let used = Usage { input: 7, output: 3, ..Usage::default() };
    let closed = |cost, outcome| {
        let closed = ExchangeClosed { exchange: 1, usage: used, cost, outcome };
        Expense::of(&ExecutionEvent::ExchangeClosed(closed)).expect("an expense")
    };
    let price = Some(Usd::from_dollars(0.25));
    assert_eq!(closed(price, ExchangeOutcome::Answered), Expense { usage: used, cost: price });
    assert_eq!(closed(None, ExchangeOutcome::Answered).cost, None);
    assert_eq!(closed(None, ExchangeOutcome::Abandoned).cost, Some(Usd::default()), "nobody is paid for that");
}
