//! Drawing a plan from a seed. One history in eight has nothing bad in it.

use std::time::Duration;

use windlass_domain::Taint;
use windlass_domain::approval::Verdict;

use crate::dice::Dice;
use crate::engines::EngineBug;
use crate::engines::plan::{Act, Deed, EnginePlan, Help, Job, Kind, Moment, Mood, Reply, Request, Wish};
use crate::plan::Hints;
use crate::queues::{Blow, Return};

const TENANTS: u64 = 3;
/// How many calls a worker makes while there is something to do, more or less.
const BUSY_CALLS: u64 = 260;

impl EnginePlan {
    pub fn draw(seed: u64) -> Self {
        // Another stream of numbers than the one the history is played with.
        let mut dice = Dice::new(seed ^ 0xE61E_0F17);
        let (workers, concurrency) = (dice.pick(&[1, 2, 2, 3]), dice.pick(&[1, 2, 3]));
        let hints = dice.pick(&[Hints::Lost, Hints::Heard]);
        let mut acts = Vec::new();
        let jobs = 2 + dice.below(3);
        (0..jobs).for_each(|number| acts.push(Act::Submits(job(&mut dice, small(number)))));
        if dice.below(8) > 0 {
            disturb(&mut dice, &mut acts, jobs, u64::from(workers));
        }
        Self { seed, workers, concurrency, hints, acts, bug: EngineBug::None }
    }
}

pub(super) fn small(number: u64) -> u8 {
    u8::try_from(number).expect("drawn small")
}

pub(super) fn job(dice: &mut Dice, number: u8) -> Job {
    Job {
        number,
        tenant: small(dice.below(TENANTS)),
        at: Duration::from_millis(dice.below(1_500)),
        deeds: (0..1 + dice.below(3)).map(|_| deed(dice)).collect(),
        model: dice.pick(&[Mood::Well, Mood::Well, Mood::Well, Mood::Well, Mood::Slow, Mood::Flaky, Mood::Away]),
        is_signed: dice.below(10) > 0,
        is_open: dice.below(3) == 0,
        lost_answers: dice.pick(&[0, 0, 0, 0, 0, 1]),
        deadline: None,
    }
}

fn deed(dice: &mut Dice) -> Deed {
    let kind = match dice.below(20) {
        0..4 => Kind::Plain,
        4..12 => Kind::High,
        12 => Kind::Critical,
        13 => Kind::Write,
        14..17 => Kind::Ask,
        _ => {
            Kind::Spawn { helpers: small(1 + dice.below(3)), does: dice.pick(&[Help::Plain, Help::Plain, Help::High]) }
        }
    };
    Deed { kind, seconds: dice.pick(&[0, 0, 0, 1, 3]), reply: reply(dice) }
}

fn reply(dice: &mut Dice) -> Reply {
    let yes = Some(Verdict::Approved);
    let verdict = dice.pick(&[
        yes,
        yes,
        yes,
        yes,
        Some(Verdict::Conditional),
        Some(Verdict::Declined),
        Some(Verdict::EditRequested),
        None,
    ]);
    // At once, soon, and after the card's time.
    let after = Duration::from_millis(dice.pick(&[0, 0, 0, 600, 2_500, 8_500]) + dice.below(300));
    Reply { verdict, after, again: dice.below(4) == 0 }
}

pub(super) fn disturb(dice: &mut Dice, acts: &mut Vec<Act>, jobs: u64, workers: u64) {
    for _ in 0..dice.below(6) {
        let worker = small(dice.below(workers));
        let call = u32::try_from(1 + dice.below(BUSY_CALLS)).expect("drawn small");
        acts.push(Act::Befalls { worker, call, blow: blow(dice) });
    }
    for _ in 0..dice.below(4) {
        acts.push(Act::Wishes(request(dice, jobs)));
    }
    if dice.below(3) == 0 {
        acts.push(jump(dice, workers));
    }
    if dice.below(4) == 0 {
        acts.push(Act::Meddles { tenant: small(dice.below(TENANTS)), at: Duration::from_millis(dice.below(3_000)) });
    }
}

fn request(dice: &mut Dice, jobs: u64) -> Request {
    let moment = match dice.below(2) {
        0 => Moment::At(Duration::from_millis(dice.below(6_000))),
        _ => Moment::Asleep(Duration::from_millis(dice.pick(&[0, 0, 700]) + dice.below(30))),
    };
    let say = Wish::Say(dice.pick(&[Taint::Auth, Taint::External, Taint::External]));
    Request { job: small(dice.below(jobs)), moment, wish: dice.pick(&[Wish::Cancel, Wish::Pause, say, say]) }
}

fn blow(dice: &mut Dice) -> Blow {
    let length = Duration::from_millis(dice.pick(&[300, 2_000, 10_000, 13_000]) + dice.below(500));
    match dice.below(8) {
        0..3 => Blow::Dies { after: Duration::from_millis(dice.below(3_000)), comes_back: Return::AsAnother },
        3..5 => Blow::Stops(length),
        5 => Blow::Freezes(length),
        6 => Blow::DiskFull,
        _ => Blow::Leaves,
    }
}

fn jump(dice: &mut Dice, workers: u64) -> Act {
    let at = Duration::from_millis(dice.below(5_000));
    let little = i64::try_from(dice.below(20_000)).expect("drawn small") - 10_000;
    match dice.below(4) {
        0 => Act::Jumps { worker: None, at, by_millis: dice.pick(&[3_600_000, -10_000]) },
        _ => Act::Jumps { worker: Some(small(dice.below(workers))), at, by_millis: little },
    }
}
