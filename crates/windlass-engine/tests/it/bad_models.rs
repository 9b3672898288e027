//! Budgets against models that loop, lie, talk, repeat themselves, have others work for them, ask for advice without end, and say of
//! themselves that they used nothing, or all there is. Whatever they do: there is an end, nobody is left at work, no more is spent
//! than the budget and the call in flight, and nothing is called done whose checks do not pass in the folder itself. Some are
//! honest, so that there is something to be called done.
//!
//! How much is spent is counted outside, by what the script was asked for, and not by what a journal says. `WINDLASS_MODELS` says
//! how many; `make bad-models MODELS=…` sets as many on them as one likes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use windlass_domain::graph::GraphState;
use windlass_domain::plan::{Item, Plan};
use windlass_domain::{Budget, Role, TaskId, TaskResult, TaskResultStatus, Usage, Usd};
use windlass_engine::{Dispatch, Driven, Engine, Planning, Submission, read_plan};
use windlass_plan::parse_base_case;

use crate::court::{Ask, Court, bash, no, owner_key, read, spawn, write, yes};
use crate::research::{WAITS, ask};

/// Longer than any budget here lasts.
const FOR_EVER: usize = 400;
/// Executions of one item or run end after so many answers, whatever they cost.
const MOST_ANSWERS: u32 = 12;
/// Whom somebody has work for it at the same time.
const TOGETHER: usize = 4;
/// Cards are answered as often as a person has patience.
const PATIENCE: usize = 12;

/// Numbers that look like chance, the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % most
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[usize::try_from(self.below(all.len() as u64)).expect("few")]
    }
}

/// What somebody who works does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Habit {
    /// Something else each time, without end.
    Loops,
    RepeatsItself,
    /// Words, and no call.
    Talks,
    /// Says that it is done, at once.
    Lies,
    /// And something like it is there.
    LiesWell,
    /// Has others work for it, so many at a time, who do not end either.
    Delegates,
    Honest,
    /// After a while, if it gets that far.
    Slow,
}

impl Habit {
    const BAD: [Self; 6] = [Self::Loops, Self::RepeatsItself, Self::Talks, Self::Lies, Self::LiesWell, Self::Delegates];

    fn drawn(dice: &mut Dice) -> Self {
        match dice.below(10) {
            0 | 1 => Self::Honest,
            2 => Self::Slow,
            _ => dice.one_of(&Self::BAD),
        }
    }

    /// How many of those who work for it, or it alone, ask at the same time.
    const fn at_once(self) -> usize {
        match self {
            Self::Delegates => TOGETHER,
            _ => 1,
        }
    }

    /// Where `path` is what it is to write.
    fn steps(self, path: &str) -> Vec<Vec<Ask>> {
        let looks = |from: usize| (from..FOR_EVER).map(|number| vec![read(&format!("{number}.txt"))]);
        match self {
            Self::Loops => looks(0).collect(),
            Self::RepeatsItself => vec![vec![bash("cargo test")]; FOR_EVER],
            Self::Talks => vec![vec![]; FOR_EVER],
            Self::Lies => vec![vec![]],
            Self::LiesWell => vec![vec![write(&format!("{path}.almost"), "it")]],
            Self::Delegates => vec![vec![spawn(&Self::Talks.steps(path)); TOGETHER]; FOR_EVER],
            Self::Honest => vec![vec![write(path, "it")]],
            Self::Slow => looks(FOR_EVER - 5).chain([vec![write(path, "it")]]).collect(),
        }
    }
}

/// What somebody who plans does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Adviser {
    Loops,
    Talks,
    /// The same plan again, or advice in no words that help.
    Repeats,
    /// Has things found out by somebody who does not end.
    Inquires,
}

/// What an answer uses, and what it costs.
#[derive(Debug, Clone, Copy)]
struct Price {
    tokens: u64,
    nanos: u64,
}

impl Price {
    /// Against a budget of so much: nothing, a little of it, nearly all, exactly all, far more, and more than can be counted.
    fn drawn(dice: &mut Dice, Budget { max_tokens, max_cost_usd, .. }: &Budget) -> Self {
        let mut of = |most: u64| {
            let little = 1 + most / 20;
            dice.one_of(&[0, little, little, little, most / 3, most - 1, most, 3 * most, u64::MAX])
        };
        Self { tokens: of(*max_tokens), nanos: of(max_cost_usd.as_nanos()) }
    }

    /// How many answers it takes to spend one of these, where so many have a call in flight at once.
    fn answers(self, Budget { max_tokens, max_cost_usd, .. }: &Budget, at_once: usize) -> u64 {
        let until = |most: u64, each: u64| if each == 0 { u64::MAX } else { most.div_ceil(each) };
        let alone = until(*max_tokens, self.tokens).min(until(max_cost_usd.as_nanos(), self.nanos));
        alone.saturating_add(at_once as u64 - 1)
    }
}

/// One trial, in a house of its own.
struct Trial {
    court: Court,
    engine: Engine,
    price: Price,
    told: String,
}

impl Trial {
    fn new(told: String, price: Price) -> Self {
        let court = Court::without_disk();
        court.put("mine.txt", "mine");
        let usage = Usage { input: price.tokens / 2, output: price.tokens - price.tokens / 2, ..Usage::default() };
        court.things.set_price(usage, Usd::from_nanos(price.nanos));
        court.things.be_stubborn();
        court.things.spawn_together();
        let engine = court.process();
        Self { court, engine, price, told }
    }

    fn submission(&self, budget: Budget) -> Submission {
        let mut submission = Submission { budget, ..self.court.submission() };
        submission.config.max_iterations = MOST_ANSWERS;
        submission
    }

    /// To its end. Plans are agreed to and nobody is given more than that.
    fn drive(&self, task: TaskId) -> TaskResult {
        for _ in 0..PATIENCE {
            match self.court.drive(&self.engine, task) {
                Driven::Finished(result) => return result,
                Driven::Waiting(_) => {}
                paused @ Driven::Paused(_) => panic!("{}: {paused:?}", self.told),
            }
            for asked in self.court.wait(self.engine.cards()).unwrap() {
                let is_plan = asked.card.details["kind"] != "review";
                let answer = if is_plan { yes() } else { no("that is enough") };
                self.court.answer(&self.engine, asked.card.card_id, answer).unwrap();
            }
        }
        panic!("{}: it does not end", self.told)
    }

    fn has(&self, path: &str) -> bool {
        self.court.workspace().join(path).exists()
    }

    /// How many answers those had of whom this is true.
    fn answers(&self, of: impl Fn(Role, &str) -> bool) -> u64 {
        self.court.things.answers().iter().filter(|(role, goal)| of(*role, goal)).count() as u64
    }

    #[track_caller]
    fn at_most(&self, what: &str, answers: u64, most: u64) {
        assert!(answers <= most, "{}: {what} had {answers} answers, and {most} spend the budget", self.told);
    }

    /// Nobody is at work, nothing is held, and the bill is what was in fact used.
    #[track_caller]
    fn is_over(&self, result: &TaskResult) {
        for task in self.court.wait(self.engine.task_ids(10_000)).unwrap() {
            let state = self.court.wait(self.engine.task(task)).unwrap();
            assert!(state.is_over() && !self.court.is_held(task), "{}: {task} is {:?}", self.told, state.status);
            assert!(self.court.work_for(task).is_empty(), "{}: somebody is to work on {task}", self.told);
        }
        assert_eq!(self.court.things.open_sandboxes(), 0, "{}", self.told);
        assert!(self.court.wait(self.engine.cards()).unwrap().is_empty(), "{}", self.told);
        let answers = self.answers(|_, _| true);
        assert_eq!(result.usage.total_tokens, self.price.tokens.saturating_mul(answers), "{}", self.told);
        let cost = Usd::from_nanos(self.price.nanos.saturating_mul(answers));
        let billed = result.cost_usd.expect("every answer had a price");
        // Dollars are written with so many digits as a float has.
        assert!((billed.as_dollars() - cost.as_dollars()).abs() <= cost.as_dollars() * 1e-9, "{}: {billed}", self.told);
    }
}

fn budget(dice: &mut Dice) -> Budget {
    Budget {
        max_tokens: 100 + dice.below(2_000),
        max_cost_usd: Usd::from_nanos(1_000 + dice.below(1_000_000)),
        max_attempts: 1 + u32::try_from(dice.below(5)).expect("few"),
        max_planner_calls: u32::try_from(dice.below(4)).expect("few"),
        ..Budget::default()
    }
}

/// What became of them all, so that one sees that there was something to see.
#[derive(Debug, Default)]
struct Tally {
    verified: u64,
    /// Where nothing is checked.
    unverified: u64,
    failed: u64,
    /// Answers of the model, by what those are who had them.
    answers: BTreeMap<&'static str, u64>,
}

impl Tally {
    fn count(&mut self, trial: &Trial, result: &TaskResult) {
        match (result.status, result.verified) {
            (TaskResultStatus::Completed, true) => self.verified += 1,
            (TaskResultStatus::Completed, false) => self.unverified += 1,
            _ => self.failed += 1,
        }
        for (role, _) in trial.court.things.answers() {
            *self.answers.entry(role.as_str()).or_default() += 1;
        }
    }

    /// Otherwise this shows nothing.
    fn has_seen_everything(&self) -> bool {
        let worked = [Role::Executor, Role::Subagent, Role::Probe, Role::Planner, Role::Researcher];
        let all = worked.iter().all(|role| self.answers.contains_key(role.as_str()));
        all && self.verified > 0 && self.unverified > 0 && self.failed > 0
    }
}

fn direct(seed: u64, dice: &mut Dice, tally: &mut Tally) {
    let budget = budget(dice);
    let (price, habit, is_checked) = (Price::drawn(dice, &budget), Habit::drawn(dice), dice.below(5) > 0);
    let told = format!("model {seed}: {habit:?}, {price:?} of {budget:?}, checked: {is_checked}");
    let trial = Trial::new(told, price);
    trial.court.things.play(habit.steps("done.txt"));
    let mut submission = trial.submission(budget.clone());
    if is_checked {
        submission.base_case = parse_base_case("- file: done.txt").unwrap();
    }
    let task = trial.court.wait(trial.engine.submit(submission, Dispatch::Here, None)).unwrap();
    let result = trial.drive(task);
    trial.is_over(&result);
    trial.at_most("it", trial.answers(|_, _| true), price.answers(&budget, habit.at_once()));
    let own = trial.answers(|role, _| role != Role::Subagent);
    trial.at_most("it", own, u64::from(MOST_ANSWERS * budget.max_attempts));
    let is_done = result.status == TaskResultStatus::Completed;
    assert!(!is_done || !is_checked || trial.has("done.txt"), "{}: {result:?}", trial.told);
    assert_eq!(result.verified, is_done && is_checked, "{}: {result:?}", trial.told);
    tally.count(&trial, &result);
}

/// Items beside each other, after each other and instead of each other, each with a budget and a model of its own.
fn document(dice: &mut Dice, budgets: &[Budget], planning: &Budget) -> String {
    let mut text = format!(
        "---\nid: all\ntype: project\ntitle: All\nplan_budget: {}\ntasks:\n",
        money(planning.max_tokens, planning.max_cost_usd)
    );
    let (has_ways, speculative) = (budgets.len() > 2 && dice.below(2) == 0, dice.below(2) == 0);
    for (number, budget) in budgets.iter().enumerate() {
        let place = match number {
            0 | 1 if has_ways => format!("any_of: way, speculative: {speculative}, "),
            2 if has_ways => "depends_on: [way], ".to_owned(),
            1.. if dice.below(2) == 0 => format!("depends_on: [i{}], ", number - 1),
            _ => String::new(),
        };
        let of = money(budget.max_tokens, budget.max_cost_usd);
        let of = of.trim_end_matches('}');
        let (attempts, calls) = (budget.max_attempts, budget.max_planner_calls);
        writeln!(
            text,
            "  - {{id: i{number}, type: task, title: Item {number}, {place}probe: {}, verify: [{{file: {}}}], \
             budget: {of}, max_attempts: {attempts}, max_planner_calls: {calls}}}}}",
            dice.below(6) == 0,
            path(number),
        )
        .expect("text can always grow");
    }
    text + "---\n# What to do\nAll.\n"
}

fn money(tokens: u64, cost: Usd) -> String {
    format!("{{max_tokens: {tokens}, max_cost_usd: {:.9}}}", cost.as_dollars())
}

fn path(number: usize) -> String {
    format!("item{number}.txt")
}

/// Whoever plans, advises, or looks into something for those.
fn cast_advisers(trial: &Trial, adviser: Adviser, plan: &str) {
    let things = &trial.court.things;
    let looks = || Habit::Loops.steps("");
    let (steps, word) = match adviser {
        Adviser::Loops | Adviser::Inquires => (looks(), "try again"),
        Adviser::Talks => (Habit::Talks.steps(""), "it can be done in many ways"),
        Adviser::Repeats => (vec![vec![]], plan),
    };
    things.cast("An item of your plan is stuck", vec![steps.clone()], "try again");
    things.cast(
        "Before anybody works on the following item",
        vec![steps.clone()],
        r#"{"feasible": true, "findings": ""}"#,
    );
    things.cast("Is it so", vec![looks()], "It may be.");
    match adviser {
        Adviser::Inquires => {
            let question = |number: usize| (vec![vec![ask(&format!("Is it so in case {number}?"))]], WAITS);
            things.cast_turns("do it", (0..20).map(question).collect());
        }
        _ => things.cast("do it", vec![steps], word),
    }
}

fn planned(seed: u64, dice: &mut Dice, tally: &mut Tally) {
    let number = 1 + usize::try_from(dice.below(4)).expect("few");
    let budgets: Vec<Budget> = (0..number).map(|_| budget(dice)).collect();
    // Less than those may want who are stuck.
    let planning = Budget { max_tokens: 50 + dice.below(200), ..budget(dice) };
    let price = Price::drawn(dice, &budgets[0]);
    let habits: Vec<Habit> = (0..number).map(|_| Habit::drawn(dice)).collect();
    let adviser = dice.one_of(&[Adviser::Loops, Adviser::Talks, Adviser::Repeats, Adviser::Inquires]);
    let text = document(dice, &budgets, &planning);
    let is_given = dice.below(4) > 0;
    let told = format!("models {seed}: {habits:?}, {adviser:?}, {price:?} of {budgets:?} and {planning:?}\n{text}");
    let trial = Trial::new(told, price);
    for (number, habit) in habits.iter().enumerate() {
        trial.court.things.cast(&format!("Item {number}"), vec![habit.steps(&path(number))], "done");
    }
    cast_advisers(&trial, adviser, &text);
    let plan = read_plan(&text).unwrap_or_else(|problems| panic!("{}: {problems}", trial.told));
    let planning_of = if is_given { Planning::Given(Box::new(plan)) } else { Planning::Wanted };
    let submission = Submission { planning: planning_of, ..trial.submission(planning.clone()) };
    let key = owner_key();
    let task = trial.court.wait(trial.engine.submit(submission, Dispatch::Here, Some(&key))).unwrap();
    let result = trial.drive(task);
    trial.is_over(&result);
    let graph = trial.court.wait(trial.engine.graph(task)).unwrap();
    let items: Vec<(Budget, Habit)> = budgets.into_iter().zip(habits).collect();
    is_within(&trial, &graph, &items, &planning);
    let is_done = result.status == TaskResultStatus::Completed;
    assert_eq!(result.verified, is_done, "{}: {result:?}", trial.told);
    assert!(!is_done || is_all_there(&trial, &graph), "{}: {result:?}", trial.told);
    tally.count(&trial, &result);
}

/// Every plan has a budget for each of its items, and all of them one for those who plan.
fn is_within(trial: &Trial, graph: &GraphState, items: &[(Budget, Habit)], planning: &Budget) {
    let plans = u64::from(graph.revision.max(1));
    let within = |(budget, habit): &(Budget, Habit)| trial.price.answers(budget, habit.at_once());
    for (number, (budget, _)) in items.iter().enumerate() {
        let title = format!("Item {number}");
        let works = |role: Role, goal: &str| role == Role::Executor && goal.starts_with(&title);
        trial.at_most(&title, trial.answers(works), trial.price.answers(budget, 1).saturating_mul(plans));
    }
    let work = [Role::Executor, Role::Subagent, Role::Probe];
    let all = items.iter().map(within).fold(0, u64::saturating_add);
    trial.at_most("the items", trial.answers(|role, _| work.contains(&role)), all.saturating_mul(plans));
    // Each item may have asked, and a planner has one who looks into something for it: each has a call in flight.
    let most = trial.price.answers(planning, items.len().max(2));
    trial.at_most("those who plan", trial.answers(|role, _| !work.contains(&role)), most);
}

/// In the folder itself, each file that a plan says there is; of ways, that of one.
fn is_all_there(trial: &Trial, graph: &GraphState) -> bool {
    let Some(Plan(root)) = &graph.plan else { return false };
    let mut ways: BTreeMap<String, bool> = BTreeMap::new();
    let mut all = true;
    for item in root.all().into_iter().filter(|item| item.tasks.is_empty()) {
        let is_there = trial.has(&path(number_of(item)));
        match &item.any_of {
            Some(group) => *ways.entry(group.to_string()).or_default() |= is_there,
            None => all &= is_there,
        }
    }
    all && ways.into_values().all(|is_there| is_there)
}

fn number_of(item: &Item) -> usize {
    item.id.as_str().trim_start_matches('i').parse().expect("its number")
}

#[expect(clippy::disallowed_methods, reason = "how many, and which first, is for whoever runs the test")]
fn wanted(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|number| number.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn no_model_spends_more_than_its_budget_and_one_call_and_none_is_called_done_that_is_not() {
    let (first, number) = (wanted("WINDLASS_SEED", 0), wanted("WINDLASS_MODELS", 100));
    let mut tally = Tally::default();
    for seed in first..first + number {
        let mut dice = Dice(seed);
        let trial = || match seed % 3 {
            0 => planned(seed, &mut dice, &mut tally),
            _ => direct(seed, &mut dice, &mut tally),
        };
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(trial))
            .unwrap_or_else(|_| panic!("model {seed}; again with WINDLASS_SEED={seed} WINDLASS_MODELS=1"));
    }
    println!("{tally:?}");
    assert!(number < 100 || tally.has_seen_everything(), "{tally:?}");
}
