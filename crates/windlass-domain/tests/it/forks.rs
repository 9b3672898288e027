//! Where an execution can be forked, what is taken over, and that whoever goes on with it begins with clean hands.

use windlass_domain::execution::{
    CannotFork, Conversation, ExecutionEvent, ExecutionState, ForkPoint, Forked, ForkedFrom, TakenOver, fork_point,
};
use windlass_domain::{Digest, ExecutionId, Message, Role, Spent, Taint, TaskId, Wall};

use crate::notation::{START, Story};

fn of(words: &str, turn: Option<u32>) -> Result<ForkPoint, CannotFork> {
    fork_point(&Story::told(words).journal, turn)
}

#[track_caller]
fn conversation(words: &str, turn: Option<u32>) -> Conversation {
    match of(words, turn).expect("it can be forked").taken_over {
        TakenOver::Conversation(conversation) => *conversation,
        TakenOver::Session(session) => panic!("{session} is a program's"),
    }
}

/// `u` for what it was told, `a` for an answer, `a(x)` for one with calls, `x` for a result and `x!` for an error.
fn told(messages: &[std::sync::Arc<Message>]) -> String {
    let word = |message: &std::sync::Arc<Message>| match message.as_ref() {
        Message::User { .. } => "u".to_owned(),
        Message::Assistant { calls, .. } if calls.is_empty() => "a".to_owned(),
        Message::Assistant { calls, .. } => {
            format!("a({})", calls.iter().map(|call| call.call_id.0.as_str()).collect::<Vec<_>>().join(","))
        }
        Message::Tool(result) => format!("{}{}", result.call_id, if result.is_error { "!" } else { "" }),
    };
    messages.iter().map(word).collect::<Vec<_>>().join(" ")
}

const FIRST: &str = "create prompt launching running ask call:a start:a=read ok:a";
const TWO: &str = "create prompt launching running ask call:a start:a=read ok:a inject ask say completed";

#[test]
fn a_conversation_is_taken_over_up_to_the_end_of_a_turn() {
    let check = |words: &str, turn: Option<u32>, expected: &str| {
        assert_eq!(told(&conversation(words, turn).messages), expected, "{words} {turn:?}");
    };
    check(TWO, None, "u a(a) a u a");
    check(TWO, Some(2), "u a(a) a u a");
    check(TWO, Some(1), "u a(a) a");
    check(&format!("{FIRST} ask say completed"), None, "u a(a) a a");
    check(&format!("{FIRST} failed"), None, "u a(a) a");
    check(&format!("{FIRST} ask paused"), None, "u a(a) a");
    // A call that waits for a person is none that has a result.
    check(
        "create prompt launching running ask call:a,b start:a=read ok:a wait:b=1 awaiting_input",
        None,
        "u a(a,b) a b!",
    );
}

#[test]
fn what_is_still_being_worked_on_stays_with_whoever_works_on_it() {
    let at_work = of(&format!("{FIRST} inject ask"), None).expect("one turn is complete");
    assert_eq!((at_work.turn, at_work.leaves_out), (1, Some(2)));
    assert_eq!(of(&format!("{FIRST} inject ask"), Some(2)), Err(CannotFork::TurnIsOpen(2)));
    assert_eq!(of(&format!("{FIRST} inject ask"), Some(1)).expect("complete").leaves_out, None);
    assert_eq!(of(FIRST, None), Err(CannotFork::NoTurnYet));
    assert_eq!(of(TWO, None).expect("over").leaves_out, None);
}

#[test]
fn what_cannot_be_forked_has_a_reason() {
    assert_eq!(of("create", None), Err(CannotFork::NotBegun));
    assert_eq!(of("", None), Err(CannotFork::NotBegun));
    for turn in [0, 3, u32::MAX] {
        assert_eq!(of(TWO, Some(turn)), Err(CannotFork::NoSuchTurn { turn, turns: 2 }));
    }
    let as_role = |role: Role| {
        let mut journal = Story::told(TWO).journal;
        if let Some((ExecutionEvent::Header(header), _)) = journal.first_mut() {
            header.role = role;
        }
        fork_point(&journal, None).map(|point| point.turn)
    };
    assert_eq!((as_role(Role::Executor), as_role(Role::Worker)), (Ok(2), Ok(2)));
    assert_eq!(as_role(Role::Planner), Err(CannotFork::Role(Role::Planner)));
    assert_eq!(as_role(Role::Tactician), Err(CannotFork::NoConversation));
}

#[test]
fn a_program_is_forked_at_the_end_of_its_conversation_and_only_at_rest() {
    let begun = "create[foreign=1] prompt launching running launch session:s=1 said:well=2 ended:done=3";
    assert_eq!(of(begun, None), Err(CannotFork::ProgramAtWork));
    let ended = format!("{begun} completed");
    assert_eq!(of(&ended, None).expect("over").taken_over, TakenOver::Session("s".to_owned()));
    let twice = format!("{begun} inject delivered said:sure=4 ended:again=5 completed");
    assert_eq!(of(&twice, Some(1)), Err(CannotFork::OnlyLastTurn { last: 2 }));
    assert_eq!(of(&twice, Some(2)).expect("the last").turn, 2);
    let unnamed = "create[foreign=1] prompt launching running launch said:well=2 failed";
    assert_eq!(of(unnamed, None), Err(CannotFork::NoSession));
}

fn forked(point: &ForkPoint) -> ExecutionEvent {
    ExecutionEvent::Forked(Box::new(Forked {
        from: ForkedFrom {
            task_id: TaskId::new(START, 1),
            execution_id: ExecutionId::new(START, 7),
            turn: point.turn,
            records: point.records,
            content: Digest::of(b"content"),
            taint: point.taint,
            unended: point.unended.clone(),
            home: None,
        },
        taken_over: point.taken_over.clone(),
    }))
}

/// The state of whoever goes on with it, as read back from a journal.
fn goes_on(point: &ForkPoint) -> ExecutionState {
    let encoded = forked(point).encode();
    let read = ExecutionEvent::decode(encoded.kind, encoded.version, encoded.data.get()).expect("readable");
    let mut story = Story::told("create");
    story.state.apply(&read, Wall::from_millis(START.as_millis() + 5));
    story.state
}

#[test]
fn whoever_goes_on_has_the_conversation_and_neither_bills_nor_leave() {
    let words = "create prompt launching running ask[input=50] call:a,b say-nothing";
    let words = words.trim_end_matches(" say-nothing");
    let old = format!("{words} start:a=once ok:a@external wait:b=1 awaiting_input");
    let point = of(&old, None).expect("it rests");
    assert_eq!(point.unended, ["`bash` with {}"]);
    let state = goes_on(&point);
    assert_eq!(told(&state.transcript), "u a(a,b) a b!");
    assert_eq!(state.taint, Taint::External, "INV-05");
    assert_eq!((state.spent, state.answers, state.conversed(), state.tool_calls), (Spent::default(), 0, 1, 0));
    assert!(state.open_calls.is_empty() && state.open_request.is_none() && state.children.is_empty());
    assert!(state.context.is_none() && !state.is_opened());
    assert!(state.used_call_ids().any(|id| id.0 == "a"), "no answer may use it again");
}

#[test]
fn the_prompt_is_named_as_if_it_had_been_said_here() {
    let old = Story::told(TWO);
    let point = fork_point(&old.journal, None).expect("over");
    assert_eq!(goes_on(&point).prompt, old.state.prompt);
    let other = fork_point(&old.journal, Some(1)).expect("over");
    assert_ne!(goes_on(&other).prompt, old.state.prompt);
}

#[test]
fn a_fork_can_be_forked_and_holds_all_that_went_before() {
    let mut story = Story::told("create");
    let first = of(TWO, Some(1)).expect("over");
    let event = forked(&first);
    story.state.apply(&event, START);
    story.journal.push((event, START));
    story.goes_on("prompt launching running ask say completed");
    let second = fork_point(&story.journal, None).expect("over");
    assert_eq!(second.turn, 1, "its own");
    let TakenOver::Conversation(conversation) = second.taken_over else { panic!("a conversation") };
    assert_eq!(told(&conversation.messages), "u a(a) a u a");
    assert_eq!(conversation.answers, 2);
}

/// What people said is never lost by a later compaction, however it was taken over.
#[test]
fn what_people_said_is_known_as_theirs_after_a_fork() {
    let point = of(TWO, None).expect("over");
    let state = goes_on(&point);
    let said: Vec<&str> = state.essentials.said_outside(&[]).map(|said| said.words).collect();
    assert_eq!(said, ["User says: hurry"]);
    assert_eq!(state.essentials.said_outside(&state.transcript).count(), 0, "it stands in the transcript");
}

#[test]
fn a_compaction_that_had_only_begun_is_left_out() {
    let flushing = "create prompt launching running ask call:a start:a=read ok:a compact flush paused";
    assert_eq!(told(&conversation(flushing, None).messages), "u a(a) a");
    let shortened = "create prompt launching running ask call:a start:a=read ok:a ask say compact shorten:4 failed";
    let conversation = conversation(shortened, None);
    assert_eq!(
        (told(&conversation.messages).as_str(), conversation.summary.as_deref()),
        ("u u", Some("Much was done."))
    );
}
