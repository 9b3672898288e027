//! Drawing a world with projects in it from a seed: one or two of them, sometimes beside a job, and the same misfortunes.

use std::time::Duration;

use windlass_domain::approval::Verdict;

use crate::dice::Dice;
use crate::engines::EngineBug;
use crate::engines::draw::{disturb, job, small};
use crate::engines::plan::{Act, EnginePlan, Moment, Request, Wish};
use crate::engines::project::{Author, Draft, Edited, Found, Guidance, Inner, Inquiry, Item, Join, Project};
use crate::plan::Hints;

/// Beside those of jobs.
const FIRST_PROJECT: u8 = 100;

impl EnginePlan {
    pub fn draw_projects(seed: u64) -> Self {
        // Another stream of numbers than the ones that others are drawn and played with.
        let mut dice = Dice::new(seed ^ 0x9A17_0B5E);
        let (workers, concurrency) = (dice.pick(&[1, 2, 2, 3]), dice.pick(&[1, 2, 3]));
        let hints = dice.pick(&[Hints::Lost, Hints::Heard]);
        let mut acts = Vec::new();
        let projects = small(1 + dice.below(2));
        (0..projects).for_each(|number| acts.push(Act::Plans(Box::new(project(&mut dice, FIRST_PROJECT + number)))));
        let jobs = dice.below(2);
        (0..jobs).for_each(|number| acts.push(Act::Submits(job(&mut dice, small(number)))));
        if dice.below(8) > 0 {
            disturb(&mut dice, &mut acts, 1, u64::from(workers));
            for _ in 0..dice.below(3) {
                acts.push(Act::Wishes(wish(&mut dice, projects)));
            }
        }
        Self { seed, workers, concurrency, hints, acts, bug: EngineBug::None }
    }
}

impl EnginePlan {
    /// The same, where somebody pauses every project and cancels it before anybody goes on with it.
    pub fn draw_cancelled_at_rest(seed: u64) -> Self {
        let mut dice = Dice::new(seed ^ 0x0CA7_CE11);
        let mut plan = Self::draw_projects(seed);
        plan.acts.retain(|act| !matches!(act, Act::Wishes(_)));
        let numbers: Vec<u8> = plan.projects().map(|project| project.number).collect();
        for job in numbers {
            let paused = Duration::from_millis(1_500 + dice.below(4_000));
            let cancelled = paused + Duration::from_millis(500 + dice.below(2_500));
            for (at, wish) in [(paused, Wish::Pause), (cancelled, Wish::Cancel)] {
                plan.acts.push(Act::Wishes(Request { job, moment: Moment::At(at), wish }));
            }
        }
        plan
    }
}

fn wish(dice: &mut Dice, projects: u8) -> Request {
    let job = FIRST_PROJECT + small(dice.below(u64::from(projects)));
    let moment = Moment::At(Duration::from_millis(dice.below(12_000)));
    Request { job, moment, wish: dice.pick(&[Wish::Cancel, Wish::Pause, Wish::Pause]) }
}

fn project(dice: &mut Dice, number: u8) -> Project {
    let author = match dice.below(10) {
        0 => Author::Prose,
        1 => Author::Broken,
        2..6 => Author::Planner,
        _ => Author::User,
    };
    let first = draft(dice);
    let second = (dice.below(3) > 0).then(|| draft(dice));
    Project {
        number,
        tenant: small(dice.below(3)),
        at: Duration::from_millis(dice.below(1_500)),
        author,
        inquiry: inquiry(dice),
        first,
        second,
        guidance: dice.pick(&[Guidance::Answers, Guidance::Answers, Guidance::Silent, Guidance::Late]),
        replies: (0..3).map(|_| reply(dice)).collect(),
        edits: (0..dice.below(4)).map(|_| edit(dice)).collect(),
    }
}

/// Only planners ask.
fn inquiry(dice: &mut Dice) -> Inquiry {
    let questions: usize = dice.pick(&[0, 0, 1, 1, 2, 3]);
    let kinds = [Found::Answer, Found::Answer, Found::Nothing, Found::TooLate];
    Inquiry {
        questions: (0..questions).map(|_| dice.pick(&kinds)).collect(),
        waits_for: usize::try_from(dice.below(2 + questions as u64)).expect("drawn small").min(questions),
    }
}

fn reply(dice: &mut Dice) -> (Option<Verdict>, Duration) {
    let yes = Some(Verdict::Approved);
    let others = [Some(Verdict::Declined), Some(Verdict::EditRequested), Some(Verdict::EditRequested), None];
    let verdict = if dice.below(5) > 0 { yes } else { dice.pick(&others) };
    (verdict, Duration::from_millis(dice.pick(&[0, 0, 600, 2_500]) + dice.below(300)))
}

fn edit(dice: &mut Dice) -> (Duration, Edited) {
    let what = dice.pick(&[Edited::Own, Edited::Own, Edited::Own, Edited::Shared]);
    (Duration::from_millis(dice.below(8_000)), what)
}

fn draft(dice: &mut Dice) -> Draft {
    let mut items: Vec<Item> = Vec::new();
    for place in 0..1 + dice.below(6) {
        let place = usize::try_from(place).expect("drawn small");
        let is_choice = place > 0 && !items[place - 1].is_choice && dice.below(6) == 0;
        // Choices wait for the same.
        let depends_on = match is_choice {
            true => items[place - 1].depends_on.clone(),
            false => (0..place).filter(|_| dice.below(4) == 0).collect(),
        };
        items.push(Item {
            depends_on,
            is_choice,
            fails: dice.pick(&[0, 0, 0, 0, 1, 2, 3, 9]),
            overlaps: dice.below(4) == 0,
            millis: dice.pick(&[20, 50, 400, 1_500]),
        });
    }
    let inner = (dice.below(3) == 0).then(|| inner(dice, &items)).flatten();
    Draft { items, join: dice.pick(&[Join::Unchecked, Join::Passes, Join::Passes, Join::Fails]), inner }
}

/// Choices stay together. What stands in it depends on nothing behind it, as nothing does.
fn inner(dice: &mut Dice, items: &[Item]) -> Option<Inner> {
    let is_edge = |place: &usize| items.get(*place).is_none_or(|item| !item.is_choice);
    let place = |dice: &mut Dice, most: usize| usize::try_from(dice.below(most as u64 + 1)).expect("drawn small");
    let from = place(dice, items.len() - 1);
    let to = from + 1 + place(dice, items.len() - from - 1);
    let after = (from > 0 && dice.below(3) == 0).then(|| place(dice, from - 1));
    let join = dice.pick(&[Join::Unchecked, Join::Passes, Join::Passes, Join::Fails]);
    [from, to].iter().all(is_edge).then_some(Inner { from, to, after, join })
}
