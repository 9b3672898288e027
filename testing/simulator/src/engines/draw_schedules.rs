//! Drawing a world with deadlines and monitors in it from a seed: clocks are set more often there, in both directions.

use std::time::Duration;

use windlass_domain::task::DeadlineAction;

use crate::dice::Dice;
use crate::engines::draw::small;
use crate::engines::plan::{Act, Deed, EnginePlan, Kind, Reply};

impl EnginePlan {
    pub fn draw_schedules(seed: u64) -> Self {
        // Another stream of numbers than the ones that others are drawn and played with.
        let mut dice = Dice::new(seed ^ 0x5C8E_D01E);
        let mut plan = Self::draw(seed);
        let workers = u64::from(plan.workers);
        for act in &mut plan.acts {
            let Act::Submits(job) = act else { continue };
            if dice.below(2) == 0 {
                let after = Duration::from_millis(dice.pick(&[500, 3_000, 9_000, 20_000]) + dice.below(1_000));
                let action =
                    dice.pick(&[DeadlineAction::Fail, DeadlineAction::CompletePartial, DeadlineAction::PauseAndNotify]);
                job.deadline = Some((after, action));
            }
            for _ in 0..1 + dice.below(2) {
                let reply = Reply { verdict: None, after: Duration::ZERO, again: false };
                let kind = Kind::Watch { until_seconds: dice.pick(&[25, 7_200, 7_200, 7_200]) };
                let place = usize::try_from(dice.below(1 + job.deeds.len() as u64)).expect("drawn small");
                job.deeds.insert(place, Deed { kind, seconds: 0, reply });
            }
        }
        for _ in 0..dice.below(3) {
            let worker = (dice.below(3) > 0).then(|| small(dice.below(workers)));
            let at = Duration::from_millis(dice.below(25_000));
            let by_millis = dice.pick(&[-600_000, -30_000, -11_000, 4_000, 15_000, 30_000]);
            plan.acts.push(Act::Jumps { worker, at, by_millis });
        }
        plan
    }
}
