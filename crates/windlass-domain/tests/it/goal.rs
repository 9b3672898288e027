//! Goals: never two looks at once, every look counted, none that nobody wants; and when the next one is due, whatever the clock does.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use windlass_domain::approval::CardId;
use windlass_domain::goal::{
    GoalAction, GoalAdded, GoalChecked, GoalEvent, GoalRejected, GoalSkipped, GoalState, GoalStatus, GoalTroubled,
    Look, Occasion, decide, fix_plan, is_due as is_due_before, next_due as next_due_by,
};
use windlass_domain::plan::{Cron, Item, ItemKind, Offsets, Plan, Schedule};
use windlass_domain::{
    BaseCase, Check, CheckProbe, CheckResult, ErrorCode, ErrorDetails, Expectation, GoalId, TaskId, Wall,
};

use crate::graph::item;
use crate::task_notation::created;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3_600);
/// What a look is given before whoever looks is taken for gone.
const PATIENCE: Duration = Duration::from_secs(600);
/// 2026-11-15T21:46:30Z.
const NOW: Wall = Wall::from_millis(1_794_779_190_000);

fn next_due(schedule: &Schedule, now: Wall) -> Wall {
    next_due_by(schedule, &Offsets::UTC, now)
}

fn is_due(goal: &GoalState, now: Wall) -> bool {
    is_due_before(goal, now, next_due(goal.schedule(), now))
}

fn hourly() -> Schedule {
    cron("0 * * * *")
}

fn cron(text: &str) -> Schedule {
    Schedule::Cron(Cron::parse(text).expect("five fields"))
}

fn check(name: &str) -> Check {
    let probe = CheckProbe::Run { run: format!("test -e {name}"), expect: Expectation::ExitCode(0) };
    Check { name: name.to_owned(), probe, timeout_seconds: 600, network: false, protect: vec![] }
}

fn result(name: &str, passed: bool) -> CheckResult {
    CheckResult {
        name: name.to_owned(),
        passed,
        reason: if passed { "it is there" } else { "it is not there" }.to_owned(),
        exit_code: None,
        output: String::new(),
        full_output: None,
        tampered: vec![],
    }
}

fn goal(schedule: Schedule) -> Plan {
    let verify = BaseCase(vec![check("a"), check("b")]);
    let failure_context = Some("Write them again: $failed_checks. Only $failed_checks.".to_owned());
    Plan(Item { kind: ItemKind::Goal, verify, schedule: Some(schedule), failure_context, ..item("kept") })
}

fn added(schedule: Schedule, at: Wall) -> GoalState {
    let due = next_due(&schedule, at);
    let template = Box::new(created(&BTreeMap::new()));
    let added = GoalAdded { goal: GoalId::new(at, 1), plan: goal(schedule), template, card: CardId::new(at, 2), due };
    let mut state = GoalState::default();
    state.apply(&decide(&state, GoalAction::Add(Box::new(added))).expect("a new goal"));
    state
}

fn fire(now: Wall, occasion: Occasion) -> GoalAction {
    fire_by(&hourly(), now, occasion)
}

fn fire_by(schedule: &Schedule, now: Wall, occasion: Occasion) -> GoalAction {
    GoalAction::Fire { now, next: next_due(schedule, now), due: now + PATIENCE, occasion }
}

fn checked(state: &GoalState, firing: u32, passed: bool, now: Wall) -> GoalAction {
    let fix = (!passed).then(|| TaskId::new(now, u128::from(firing)));
    let results = vec![result("a", true), result("b", passed)];
    GoalAction::Check(GoalChecked { firing, results, fix, due: next_due(state.schedule(), now) })
}

pub fn hourly_goal() -> GoalState {
    added(hourly(), NOW)
}

/// Whatever whoever looks may do, at whatever time.
pub fn every_goal_action(state: &GoalState) -> Vec<GoalAction> {
    let (firing, due) = (state.open.unwrap_or(state.firings + 1), NOW + HOUR);
    let because = TaskId::new(NOW, 1);
    let error = ErrorDetails::new(ErrorCode::Internal, "the disk is full");
    vec![
        fire(NOW, Occasion::Asked),
        fire(NOW + HOUR, Occasion::Due),
        checked(state, firing, true, NOW),
        checked(state, firing, false, NOW),
        GoalAction::Skip(GoalSkipped { firing, because, due }),
        GoalAction::GiveUp(GoalTroubled { firing, error, due }),
    ]
}

fn applied(mut state: GoalState, action: GoalAction) -> GoalState {
    let event = decide(&state, action).expect("allowed");
    state.apply(&event);
    state
}

#[track_caller]
fn refused(state: &GoalState, action: GoalAction, why: GoalRejected) {
    assert_eq!(decide(state, action).err(), Some(why));
}

#[test]
fn a_goal_is_looked_at_when_its_time_has_come_and_sooner_only_if_asked() {
    let state = added(hourly(), NOW);
    refused(&state, fire(NOW, Occasion::Due), GoalRejected::NotDue);
    assert_eq!(applied(state.clone(), fire(NOW, Occasion::Asked)).open, Some(1));
    let due = state.due.unwrap();
    let state = applied(state, fire(due, Occasion::Due));
    assert_eq!((state.open, state.firings), (Some(1), 1));
}

#[test]
fn while_somebody_looks_nobody_else_does_and_who_does_not_come_back_is_followed_by_another() {
    let state = applied(added(hourly(), NOW), fire(NOW, Occasion::Asked));
    for occasion in [Occasion::Due, Occasion::Asked] {
        refused(&state, fire(NOW + MINUTE, occasion), GoalRejected::BeingLookedAt);
        assert_eq!(applied(state.clone(), fire(NOW + PATIENCE, occasion)).open, Some(2));
    }
    let followed = applied(state, fire(NOW + PATIENCE, Occasion::Due));
    refused(&followed, checked(&followed, 1, true, NOW), GoalRejected::OtherFiring);
    let ended = applied(followed.clone(), checked(&followed, 2, true, NOW + PATIENCE));
    assert_eq!((ended.open, ended.last), (None, Some(Look::Holds)));
}

#[test]
fn a_task_mends_it_exactly_where_a_check_failed() {
    let state = applied(added(hourly(), NOW), fire(NOW, Occasion::Asked));
    let due = NOW + HOUR;
    let task = TaskId::new(NOW, 7);
    let both = |b| vec![result("a", true), result("b", b)];
    for (results, fix) in [(both(true), Some(task)), (both(false), None), (vec![result("a", true)], None)] {
        let check = GoalAction::Check(GoalChecked { firing: 1, results, fix, due });
        refused(&state, check, GoalRejected::OtherChecks);
    }
    let broken =
        applied(state, GoalAction::Check(GoalChecked { firing: 1, results: both(false), fix: Some(task), due }));
    assert_eq!((broken.fixes, broken.last), (1, Some(Look::Broken(vec!["b".to_owned()], task))));
}

#[test]
fn who_looks_at_what_is_paused_or_removed_meanwhile_changes_nothing() {
    let state = applied(added(hourly(), NOW), fire(NOW, Occasion::Asked));
    let paused = applied(state.clone(), GoalAction::Pause);
    refused(&paused, checked(&state, 1, false, NOW), GoalRejected::OtherFiring);
    refused(&paused, fire(NOW + HOUR * 9, Occasion::Due), GoalRejected::Paused);
    refused(&paused, fire(NOW, Occasion::Asked), GoalRejected::Paused);
    let resumed = applied(paused, GoalAction::Resume { due: NOW + HOUR });
    refused(&resumed, checked(&state, 1, false, NOW), GoalRejected::OtherFiring);
    assert_eq!(applied(resumed, fire(NOW + HOUR, Occasion::Due)).open, Some(2));
    let removed = applied(state.clone(), GoalAction::Remove);
    refused(&removed, checked(&state, 1, false, NOW), GoalRejected::Unknown);
    refused(&removed, fire(NOW + HOUR, Occasion::Due), GoalRejected::Unknown);
    refused(&removed, GoalAction::Resume { due: NOW }, GoalRejected::Unknown);
}

#[test]
fn what_is_always_on_is_due_a_minute_after_the_last_look() {
    let state = added(Schedule::AlwaysOn, NOW);
    assert_eq!(state.due, Some(NOW + MINUTE));
    let state = applied(state, fire(NOW + MINUTE, Occasion::Due));
    let state = applied(state.clone(), checked(&state, 1, true, NOW + MINUTE * 5));
    assert_eq!(state.due, Some(NOW + MINUTE * 6), "after it has ended, not after it began");
}

#[test]
fn all_that_was_missed_is_one_look() {
    let state = added(hourly(), NOW);
    let late = NOW + HOUR * 100;
    let state = applied(state, fire(late, Occasion::Due));
    let state = applied(state.clone(), checked(&state, 1, true, late));
    assert!(state.due.unwrap() > late);
    refused(&state, fire(late, Occasion::Due), GoalRejected::NotDue);
}

/// It was set by a clock that was years ahead.
#[test]
fn a_goal_that_is_due_later_than_its_schedule_says_is_due_now() {
    let years = HOUR * 24 * 365 * 14;
    for schedule in [hourly(), Schedule::AlwaysOn, cron("0 6 * * 1-5")] {
        let state = added(schedule.clone(), NOW + years);
        assert!(is_due(&state, NOW));
        let state = applied(state, fire_by(&schedule, NOW, Occasion::Due));
        refused(&state, fire_by(&schedule, NOW + MINUTE, Occasion::Due), GoalRejected::BeingLookedAt);
        let state = applied(state.clone(), checked(&state, 1, true, NOW + MINUTE));
        assert!(!is_due(&state, NOW + MINUTE));
    }
}

#[test]
fn a_fix_is_made_of_the_goal_and_of_what_failed_and_of_nothing_else() {
    let goal = goal(hourly());
    let fix = fix_plan(&goal, &[result("a", true), result("b", false)]);
    let told = "Write them again: b: it is not there. Only b: it is not there.";
    assert!(fix.0.briefing.what_to_do.starts_with(told), "{}", fix.0.briefing.what_to_do);
    assert!(fix.0.briefing.what_to_do.ends_with(goal.0.briefing.what_to_do.trim()));
    let as_goal = Item {
        kind: ItemKind::Goal,
        schedule: goal.0.schedule.clone(),
        failure_context: goal.0.failure_context.clone(),
        briefing: goal.0.briefing.clone(),
        ..fix.0
    };
    assert_eq!(as_goal, goal.0, "nothing else differs");
}

/// UTC has no summer: a day at 02:30 is 24 hours after the one before, also where clocks on walls are put
/// forward or back that night.
#[test]
fn a_time_of_day_comes_once_a_day_all_year() {
    let Schedule::Cron(half_past_two) = cron("30 2 * * *") else { unreachable!() };
    let mut last = half_past_two.next_after(NOW, &Offsets::UTC).unwrap();
    for _ in 0..800 {
        let next = half_past_two.next_after(last, &Offsets::UTC).unwrap();
        assert_eq!(next.since(last), HOUR * 24, "{}", next.to_rfc3339());
        last = next;
    }
}

fn schedules() -> impl Strategy<Value = Schedule> {
    let crons = ["* * * * *", "*/7 * * * *", "0 * * * *", "30 2 * * *", "0 6 * * 1-5", "0 0 29 2 *", "5 4 1,15 * 3"];
    let crons = prop::sample::select(crons.to_vec()).prop_map(cron);
    prop_oneof![3 => crons, 1 => Just(Schedule::AlwaysOn)]
}

/// From 1970 to the 22nd century.
fn moments() -> impl Strategy<Value = Wall> {
    (0..5_000_000_000_000_u64).prop_map(Wall::from_millis)
}

proptest! {
    #[test]
    fn the_next_time_is_later_and_the_same_until_it_comes(
        schedule in schedules(), now in moments(), part in 0.0..1.0_f64
    ) {
        let next = next_due(&schedule, now);
        prop_assert!(next > now);
        let between = Wall::from_millis(now.as_millis() + (next.since(now).as_millis() as f64 * part) as u64);
        if matches!(schedule, Schedule::Cron(_)) && between < next {
            prop_assert_eq!(next_due(&schedule, between), next);
        }
        // Whoever is on time is never taken for one whose clock was ahead.
        let state = added(schedule, now);
        prop_assert_eq!(is_due(&state, between), between >= next);
    }
}

/// What can happen around a goal.
#[derive(Debug, Clone)]
enum Step {
    Timer,
    Asked,
    /// Somebody who looks comes back: from the newest look, or from an older one.
    Back {
        passed: bool,
        behind: u32,
    },
    GaveUp,
    StillMended,
    Pause,
    Resume,
    Remove,
}

fn steps() -> impl Strategy<Value = Vec<(Step, i64)>> {
    let step = prop_oneof![
        6 => Just(Step::Timer),
        2 => Just(Step::Asked),
        6 => (any::<bool>(), 0..3_u32).prop_map(|(passed, behind)| Step::Back { passed, behind }),
        1 => Just(Step::GaveUp),
        2 => Just(Step::StillMended),
        1 => Just(Step::Pause),
        2 => Just(Step::Resume),
    ];
    let step = prop_oneof![60 => step, 1 => Just(Step::Remove)];
    // Minutes; the clock jumps both ways.
    let clock = prop_oneof![8 => 0..90_i64, 1 => -3_000..0_i64, 1 => 90..1_000_000_i64];
    prop::collection::vec((step, clock), 0..60)
}

fn action(step: &Step, state: &GoalState, now: Wall) -> GoalAction {
    let due = next_due(state.schedule(), now);
    match step {
        Step::Timer => fire_by(state.schedule(), now, Occasion::Due),
        Step::Asked => fire_by(state.schedule(), now, Occasion::Asked),
        Step::Back { passed, behind } => checked(state, state.firings.saturating_sub(*behind), *passed, now),
        Step::GaveUp => {
            let error = ErrorDetails::new(ErrorCode::Internal, "no sandbox");
            GoalAction::GiveUp(GoalTroubled { firing: state.firings, error, due })
        }
        Step::StillMended => {
            GoalAction::Skip(GoalSkipped { firing: state.firings + 1, because: TaskId::new(now, 1), due })
        }
        Step::Pause => GoalAction::Pause,
        Step::Resume => GoalAction::Resume { due },
        Step::Remove => GoalAction::Remove,
    }
}

/// Reads the journal alone, so that the fold cannot vouch for itself.
#[derive(Default)]
struct Oracle {
    firings: u32,
    /// The look that nobody has come back from, and until when it is waited for.
    open: Option<(u32, Wall)>,
    fixes: u32,
    is_paused: bool,
    is_removed: bool,
}

impl Oracle {
    fn hears(&mut self, event: &GoalEvent, now: Wall) {
        assert!(!self.is_removed, "nothing happens to what was removed: {event:?}");
        match event {
            GoalEvent::Added(_) => {}
            GoalEvent::Fired(fired) => {
                assert!(!self.is_paused);
                assert!(self.open.is_none_or(|(_, until)| now >= until), "two at once");
                assert_eq!(fired.firing, self.firings + 1, "each is counted, once");
                (self.firings, self.open) = (fired.firing, Some((fired.firing, fired.due)));
            }
            GoalEvent::Skipped(skipped) => {
                assert!(!self.is_paused && self.open.is_none());
                assert_eq!(skipped.firing, self.firings + 1);
                self.firings = skipped.firing;
            }
            GoalEvent::Checked(checked) => {
                self.comes_back(checked.firing);
                let is_broken = checked.results.iter().any(|result| !result.passed);
                assert_eq!(is_broken, checked.fix.is_some());
                self.fixes += u32::from(is_broken);
            }
            GoalEvent::Troubled(troubled) => self.comes_back(troubled.firing),
            GoalEvent::Paused(_) => (self.is_paused, self.open) = (true, None),
            GoalEvent::Resumed(_) => self.is_paused = false,
            GoalEvent::Removed(_) => self.is_removed = true,
        }
    }

    fn comes_back(&mut self, firing: u32) {
        assert_eq!(self.open.map(|(open, _)| open), Some(firing), "a look ends once, and only the newest");
        self.open = None;
    }
}

proptest! {
    #[test]
    fn whatever_happens_and_whatever_the_clock_says(schedule in schedules(), steps in steps()) {
        let mut state = added(schedule, NOW);
        let (mut oracle, mut now) = (Oracle::default(), NOW);
        let mut replayed = state.clone();
        for (step, minutes) in &steps {
            let millis = now.as_millis().saturating_add_signed(minutes * 60_000);
            now = Wall::from_millis(millis);
            let before = state.clone();
            let Ok(event) = decide(&state, action(step, &state, now)) else { continue };
            if matches!((step, &event), (Step::Timer, GoalEvent::Fired(_))) {
                prop_assert!(is_due(&before, now), "a timer alone begins no look before its time");
            }
            oracle.hears(&event, now);
            state.apply(&event);
            let stored = event.encode();
            replayed.apply(&GoalEvent::decode(stored.kind, stored.version, stored.data.get()).unwrap());
        }
        prop_assert_eq!(format!("{state:?}"), format!("{replayed:?}"));
        prop_assert_eq!((state.firings, state.fixes), (oracle.firings, oracle.fixes));
        prop_assert_eq!(state.open, oracle.open.map(|(open, _)| open));
        // However it stands, it goes on once somebody wants it to.
        if state.status == GoalStatus::Active {
            let later = state.due.map_or(now, |due| now.max(due));
            prop_assert!(decide(&state, fire_by(state.schedule(), later, Occasion::Due)).is_ok());
        }
    }
}
