//! Monitors: no look before its time or after the end, every look counted, all that was missed one look, whatever the clock does.

use std::time::Duration;

use proptest::prelude::*;
use windlass_domain::monitor::{
    LONGEST_PROMPT, LONGEST_WATCH, MonitorAction, MonitorEvent, MonitorOver, MonitorRejected, MonitorState,
    MonitoringSchedule, SetBy, TimeoutAction, Unfit, decide, is_due,
};
use windlass_domain::{MessageId, Taint, Wall};

const NOW: Wall = Wall::from_millis(1_794_779_190_000);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3_600);

fn schedule() -> MonitoringSchedule {
    MonitoringSchedule {
        interval_seconds: 60,
        check_prompt: "Is it there?".to_owned(),
        timeout_at: NOW + HOUR,
        timeout_action: TimeoutAction::Fail,
    }
}

fn set(schedule: MonitoringSchedule, by: SetBy, now: Wall) -> MonitorAction {
    MonitorAction::Set { schedule, by, taint: Taint::Auth, now }
}

fn fire(now: Wall) -> MonitorAction {
    MonitorAction::Fire { message_id: MessageId::new(now, 1), now }
}

fn applied(mut state: MonitorState, action: MonitorAction) -> MonitorState {
    let event = decide(&state, action).expect("allowed");
    state.apply(&event);
    state
}

fn begun() -> MonitorState {
    applied(MonitorState::default(), set(schedule(), SetBy::Agent, NOW))
}

#[track_caller]
fn refused(state: &MonitorState, action: MonitorAction, why: MonitorRejected) {
    assert_eq!(decide(state, action).err(), Some(why));
}

#[test]
fn what_cannot_be_gone_by_is_refused_with_what_to_do() {
    let check = |change: fn(&mut MonitoringSchedule), why: Unfit| {
        let mut schedule = schedule();
        change(&mut schedule);
        refused(&MonitorState::default(), set(schedule, SetBy::Person, NOW), why.into());
    };
    check(|schedule| schedule.interval_seconds = 9, Unfit::TooOften);
    check(|schedule| schedule.check_prompt = "  ".to_owned(), Unfit::NoPrompt);
    check(|schedule| schedule.check_prompt = "x".repeat(LONGEST_PROMPT + 1), Unfit::PromptTooLong);
    check(|schedule| schedule.timeout_at = NOW, Unfit::Past);
    check(|schedule| schedule.timeout_at = NOW + LONGEST_WATCH + MINUTE, Unfit::TooFar);
    check(|schedule| schedule.interval_seconds = 3_600, Unfit::NoLook);
    check(|schedule| schedule.interval_seconds = u64::MAX, Unfit::NoLook);
}

#[test]
fn an_agent_brings_its_end_nearer_and_never_puts_it_off() {
    let until = |timeout_at| MonitoringSchedule { timeout_at, ..schedule() };
    let state = begun();
    refused(&state, set(until(NOW + HOUR * 2), SetBy::Agent, NOW), MonitorRejected::PutOff);
    let nearer = applied(state.clone(), set(until(NOW + HOUR / 2), SetBy::Agent, NOW));
    refused(&nearer, set(until(NOW + HOUR), SetBy::Agent, NOW), MonitorRejected::PutOff);
    let removed = applied(state.clone(), MonitorAction::Remove);
    refused(&removed, set(until(NOW + HOUR * 2), SetBy::Agent, NOW), MonitorRejected::PutOff);
    let put_off = applied(state, set(until(NOW + HOUR * 2), SetBy::Person, NOW));
    assert_eq!(applied(put_off, set(until(NOW + HOUR * 2), SetBy::Agent, NOW)).over, None);
}

#[test]
fn looks_come_in_step_and_all_that_were_missed_are_one() {
    let state = begun();
    refused(&state, fire(NOW), MonitorRejected::NotDue);
    refused(&state, fire(NOW + Duration::from_millis(59_999)), MonitorRejected::NotDue);
    let state = applied(state, fire(NOW + MINUTE));
    assert_eq!((state.firings, state.due), (1, NOW + MINUTE * 2));
    let late = NOW + MINUTE * 30 + Duration::from_secs(5);
    let state = applied(state, fire(late));
    assert_eq!((state.firings, state.due), (2, NOW + MINUTE * 31));
    refused(&state, fire(late), MonitorRejected::NotDue);
}

#[test]
fn the_end_comes_once_and_nothing_after_it() {
    let state = begun();
    refused(&state, MonitorAction::TimeOut { now: NOW + MINUTE }, MonitorRejected::NotDue);
    refused(&state, fire(NOW + HOUR), MonitorRejected::TimedOut);
    let over = applied(state, MonitorAction::TimeOut { now: NOW + HOUR });
    assert_eq!((over.over, over.wakes_at()), (Some(MonitorOver::TimedOut), None));
    for action in [fire(NOW + HOUR), MonitorAction::TimeOut { now: NOW + HOUR }, MonitorAction::Remove] {
        refused(&over, action, MonitorRejected::Absent);
    }
}

/// It was set by a clock that was ahead.
#[test]
fn a_look_that_is_further_away_than_the_interval_is_due_now() {
    let ahead = NOW + HOUR;
    let long = MonitoringSchedule { timeout_at: ahead + HOUR, ..schedule() };
    let state = applied(MonitorState::default(), set(long, SetBy::Agent, ahead));
    assert!(is_due(&state, NOW));
    let state = applied(state, fire(NOW));
    assert_eq!(state.due, NOW + MINUTE);
    assert!(!is_due(&state, NOW));
}

proptest! {
    /// Whoever looks at whatever time: looks are counted, lie before the end, and there are no more of them than fit, but for one for
    /// each time that the clock was put back.
    #[test]
    fn whatever_the_clock_says(jumps in prop::collection::vec(-200_i64..400, 0..200)) {
        let mut state = begun();
        let (mut now, mut looks, mut back) = (NOW, 0_u32, 0_u32);
        for seconds in jumps {
            back += u32::from(seconds < 0);
            now = Wall::from_millis(now.as_millis().saturating_add_signed(seconds * 1_000));
            let was_due = is_due(&state, now);
            match decide(&state, fire(now)) {
                Ok(event) => {
                    prop_assert!(was_due && now < NOW + HOUR);
                    state.apply(&event);
                    looks += 1;
                    let MonitorEvent::Fired(fired) = event else { panic!("another event") };
                    prop_assert_eq!(fired.firing, looks);
                    prop_assert!(fired.due > now && fired.due <= now + MINUTE);
                    prop_assert!(!is_due(&state, now), "one consequence for one time");
                }
                Err(rejected) => prop_assert!(matches!(rejected, MonitorRejected::NotDue | MonitorRejected::TimedOut)),
            }
        }
        prop_assert!(looks <= 60 * (1 + back) + back);
    }
}
