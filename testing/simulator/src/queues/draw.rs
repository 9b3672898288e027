//! Drawing a plan from a seed. Most histories have a little of everything; one in eight has a tenant that floods a queue,
//! and one in eight nothing bad at all.

use std::time::Duration;

use windlass_domain::Taint;
use windlass_domain::queue::Urgency;

use crate::dice::Dice;
use crate::plan::Hints;
use crate::queues::{Act, Blow, Bug, QueuePlan, Request, Return, Work};

const TENANTS: u64 = 3;
/// How many calls a worker makes while there is something to do, more or less.
const BUSY_CALLS: u64 = 120;
/// Far beyond what chance lets any tenant wait.
const FLOOD: u16 = 60;

impl QueuePlan {
    pub fn draw(seed: u64) -> Self {
        // Another stream of numbers than the one the history is played with.
        let mut dice = Dice::new(seed ^ 0x0A11_0F17);
        let workers = dice.pick(&[2, 2, 3, 4]);
        let hints = dice.pick(&[Hints::Lost, Hints::Heard]);
        let mut acts = Vec::new();
        match dice.below(8) {
            0 => flood(&mut dice, &mut acts),
            1 => ask(&mut dice, &mut acts),
            _ => {
                ask(&mut dice, &mut acts);
                disturb(&mut dice, &mut acts, u64::from(workers));
            }
        }
        Self { seed, workers, hints, acts, bug: Bug::None }
    }
}

fn small(number: u64) -> u8 {
    u8::try_from(number).expect("drawn small")
}

fn moment(dice: &mut Dice) -> Duration {
    Duration::from_millis(dice.below(3_000))
}

fn ask(dice: &mut Dice, acts: &mut Vec<Act>) {
    for number in 0..3 + dice.below(5) {
        let works = (0..1 + dice.below(3)).map(|_| work(dice)).collect();
        acts.push(Act::Asks(Request {
            number: u16::from(small(number)),
            tenant: small(dice.below(TENANTS)),
            at: moment(dice),
            messages: dice.pick(&[1, 1, 1, 2, 4]),
            taint: dice.pick(&[Taint::Owner, Taint::Auth, Taint::External]),
            urgency: dice.pick(Urgency::ALL),
            works,
            lost_answers: dice.pick(&[0, 0, 0, 1, 2]),
            has_twin: dice.below(5) == 0,
        }));
    }
}

fn work(dice: &mut Dice) -> Work {
    // Longer than any lease lasts without a heartbeat, now and then.
    let most = dice.pick(&[10, 10, 10, 200, 200, 200, 800, 800, 5_000]);
    Work {
        length: Duration::from_millis(dice.below(most)),
        failures: if dice.below(6) > 0 { 0 } else { dice.pick(&[1, 1, 1, 2, 2, u8::MAX]) },
        reads_external: dice.below(4) == 0,
    }
}

fn flood(dice: &mut Dice, acts: &mut Vec<Act>) {
    let quick = Work { length: Duration::from_millis(20), failures: 0, reads_external: false };
    for tenant in 0..small(TENANTS) {
        let (at, messages) = if tenant == 0 { (Duration::ZERO, FLOOD) } else { (Duration::from_millis(30), 2) };
        acts.push(Act::Asks(Request {
            number: u16::from(tenant),
            tenant,
            at,
            messages,
            taint: Taint::Auth,
            urgency: dice.pick(Urgency::ALL),
            works: vec![quick],
            lost_answers: 0,
            has_twin: false,
        }));
    }
}

fn disturb(dice: &mut Dice, acts: &mut Vec<Act>, workers: u64) {
    for _ in 0..dice.below(7) {
        let worker = small(dice.below(workers));
        let call = u32::try_from(1 + dice.below(BUSY_CALLS)).expect("drawn small");
        acts.push(Act::Befalls { worker, call, blow: blow(dice) });
    }
    for _ in 0..dice.below(3) {
        acts.push(jump(dice, workers));
    }
    if dice.below(3) == 0 {
        for _ in 0..2 + dice.below(5) {
            let (token, worker) = (small(dice.below(2)), small(dice.below(workers)));
            acts.push(Act::Races { token, worker, at: Duration::from_millis(500 + dice.below(3)) });
        }
    }
    if dice.below(3) == 0 {
        acts.push(Act::Meddles { tenant: small(dice.below(TENANTS)), at: moment(dice) });
    }
}

fn blow(dice: &mut Dice) -> Blow {
    let length = Duration::from_millis(dice.pick(&[200, 1_200, 3_500, 7_000]) + dice.below(500));
    match dice.below(8) {
        0..3 => {
            let comes_back = dice.pick(&[Return::AsAnother, Return::AsAnother, Return::AsItself]);
            Blow::Dies { after: Duration::from_millis(dice.below(6_000)), comes_back }
        }
        3..5 => Blow::Stops(length),
        5 => Blow::Freezes(length),
        6 => Blow::DiskFull,
        _ => Blow::Leaves,
    }
}

/// One clock goes a little wrong, or all are set to another day. Far back is left out: what waits for its time would wait
/// for days, as it should.
fn jump(dice: &mut Dice, workers: u64) -> Act {
    let at = moment(dice);
    let little = i64::try_from(dice.below(20_000)).expect("drawn small") - 10_000;
    match dice.below(4) {
        0 => Act::Jumps { worker: None, at, by_millis: dice.pick(&[3_600_000, 86_400_000, -10_000]) },
        _ => Act::Jumps { worker: Some(small(dice.below(workers))), at, by_millis: little },
    }
}
