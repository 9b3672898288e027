//! Drawing a world with objectives in it from a seed: begun on a word, stopped, redirected, paused and cancelled, at any moment and
//! more than once.

use std::time::Duration;

use crate::dice::Dice;
use crate::engines::draw::small;
use crate::engines::objective::{Terms, Turn};
use crate::engines::plan::{Act, EnginePlan, Moment, Request, Wish};
use crate::engines::project::{Author, Item, Project};

impl EnginePlan {
    pub fn draw_objectives(seed: u64) -> Self {
        // Another stream of numbers than the ones that others are drawn and played with.
        let mut dice = Dice::new(seed ^ 0x0B1E_C71F);
        let mut plan = Self::draw_projects(seed);
        plan.acts.retain(|act| !matches!(act, Act::Wishes(_)));
        for act in &mut plan.acts {
            if let Act::Plans(project) = act {
                agree(&mut dice, project);
            }
        }
        let sizes: Vec<(u8, usize)> =
            plan.projects().map(|project| (project.number, project.first.items.len())).collect();
        for (job, items) in sizes {
            for _ in 0..dice.below(4) {
                plan.acts.push(Act::Wishes(wish(&mut dice, job, items as u64)));
            }
        }
        plan
    }
}

fn agree(dice: &mut Dice, project: &mut Project) {
    let draft = &mut project.first;
    let plain = Item { depends_on: Vec::new(), is_choice: false, fails: 0, overlaps: false, millis: 50 };
    if dice.below(2) == 0 {
        let fails = dice.pick(&[0, 9, 9]);
        draft.items.push(Item { fails, ..plain.clone() });
        draft.items.push(Item { is_choice: true, ..plain.clone() });
    }
    if draft.always().is_empty() {
        draft.items.push(plain);
    }
    project.author = Author::Agreed(Terms {
        begins: Duration::from_millis(dice.pick(&[0, 0, 400, 2_000]) + dice.below(100)),
        parallel: dice.pick(&[1, 2, 3]),
        passes: dice.pick(&[None, Some(20), Some(20), Some(6)]),
        splits: dice.pick(&[0, 0, 1]),
        probes: dice.below(4) > 0,
        is_feasible: dice.below(4) > 0,
    });
}

fn wish(dice: &mut Dice, job: u8, items: u64) -> Request {
    let at = Duration::from_millis(dice.pick(&[500, 1_500, 3_000, 6_000]) + dice.below(2_500));
    let place = usize::try_from(dice.below(items)).expect("drawn small");
    let turn = match dice.below(7) {
        0 => Turn::Drops(place),
        1 => Turn::Adds { after: None },
        2 => Turn::Adds { after: Some(place) },
        3 => Turn::Selects(place),
        4 => Turn::Allows { passes: 20 + u32::from(small(dice.below(20))), parallel: dice.pick(&[1, 4]) },
        5 => Turn::Says(place),
        _ => Turn::Aims,
    };
    let wish = match dice.below(10) {
        0 => Wish::Cancel,
        1 => Wish::Pause,
        2 | 3 => Wish::Stop,
        _ => Wish::Redirect(turn),
    };
    Request { job, moment: Moment::At(at), wish }
}
