//! Where an execution stands in its pattern. It advances on the tools and conditions that steps declare, and on nothing that a model
//! says of itself. Finished calls are folded in (`observe`), what follows from them is said by `due` and becomes a record, and the
//! record is folded in again (`step`). A call is let through by `admit`, which also says no.
//!
//! It halts: the step changes at most `max_steps` times, a step takes at most one call more than its retries, and only `on_fail` leads
//! back.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::condition::{Around, Seen};
use super::definition::{Pattern, Step};
use super::record::{Hint, PatternNudged, PatternStepped, PlaceEnd, Why};
use crate::call::Finished;

const GIVEN_UP: &str = "not done: the steps of this task's pattern are used up";

#[derive(Debug, Clone, PartialEq)]
pub struct Tracker {
    pattern: Arc<Pattern>,
    place: Place,
    standing: Vec<Standing>,
    transitions: u32,
    visit: Visit,
    /// Tools of which a call has succeeded.
    succeeded: BTreeSet<String>,
    /// A call that belongs to a later step, which may begin with it.
    ahead: Option<Ahead>,
    /// Calls that repeated each step since it was finished.
    repeats: Vec<u32>,
    /// What the agent has not been told yet.
    owed: Option<Hint>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Step(usize),
    Over(PlaceEnd),
}

/// How a step stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Pending,
    Done,
    /// Skipped or passed.
    Left,
    Failed,
}

/// The step as it is now.
#[derive(Debug, Clone, PartialEq, Default)]
struct Visit {
    tries: u32,
    /// By the newest call, for each of `done_when`.
    met: Vec<bool>,
    last_is_ok: bool,
    succeeded: BTreeSet<String>,
    /// How often the agent said that all was done.
    hurried: u32,
}

#[derive(Debug, Clone, PartialEq)]
struct Ahead {
    step: usize,
    visit: Visit,
}

/// Whose a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Belongs {
    Here,
    /// Everything before it can be left.
    Later(usize),
    TooEarly(usize),
    Finished(usize),
    Nowhere,
}

impl Tracker {
    /// Nothing, where the pattern has nothing to keep to.
    pub fn new(pattern: Arc<Pattern>) -> Option<Self> {
        let steps = pattern.steps.len();
        pattern.leads().then(|| Self {
            place: Place::Step(0),
            standing: vec![Standing::Pending; steps],
            transitions: 0,
            visit: Visit::default(),
            succeeded: BTreeSet::new(),
            ahead: None,
            repeats: vec![0; steps],
            owed: None,
            pattern,
        })
    }

    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    pub fn current(&self) -> Option<&Step> {
        match self.place {
            Place::Step(at) => self.pattern.steps.get(at),
            Place::Over(_) => None,
        }
    }

    pub const fn end(&self) -> Option<PlaceEnd> {
        match self.place {
            Place::Over(end) => Some(end),
            Place::Step(_) => None,
        }
    }

    pub const fn transitions(&self) -> u32 {
        self.transitions
    }

    /// Calls of the current step so far.
    pub const fn tries(&self) -> u32 {
        self.visit.tries
    }

    pub fn steps(&self) -> impl Iterator<Item = (&Step, Standing)> {
        self.pattern.steps.iter().zip(self.standing.iter().copied())
    }

    /// A call has ended, as the agent gave it.
    pub fn observe(&mut self, finished: &Finished, arguments: &str) {
        let is_ok = !finished.status.is_error();
        let seen = Seen { is_ok, arguments, output: &finished.content };
        let nothing = Around::default();
        // The step may be over by a call of the same answer, and the record of that still to come.
        let settled = self.settled(&nothing);
        match settled.belongs(&finished.tool, &nothing) {
            Belongs::Here => {
                let Place::Step(step) = settled.place else { return };
                match self.place == settled.place {
                    true => self.visit.count(&self.pattern.steps[step], &finished.tool, &seen),
                    false => self.count_ahead(step, &finished.tool, &seen),
                }
            }
            Belongs::Later(step) => self.count_ahead(step, &finished.tool, &seen),
            // It was made, so that something around must have let it.
            Belongs::TooEarly(step) if is_ok => self.count_ahead(step, &finished.tool, &seen),
            // Where it was given up, nobody goes on.
            Belongs::Finished(_) if !matches!(settled.end(), None | Some(PlaceEnd::Complete)) => {}
            Belongs::Finished(step) => self.repeat(step, &finished.tool),
            Belongs::TooEarly(_) | Belongs::Nowhere => {}
        }
        if is_ok {
            self.succeeded.insert(finished.tool.clone());
        }
    }

    /// As it will be once everything that is due has happened.
    fn settled(&self, around: &Around) -> Self {
        let mut settled = self.clone();
        while let Some(stepped) = settled.due(around) {
            settled.step(&stepped);
        }
        settled
    }

    /// Several in one answer: the first decides where it went.
    fn count_ahead(&mut self, step: usize, tool: &str, seen: &Seen<'_>) {
        let ahead = self.ahead.get_or_insert_with(|| Ahead { step, visit: Visit::default() });
        if ahead.step == step {
            ahead.visit.count(&self.pattern.steps[step], tool, seen);
        }
    }

    fn repeat(&mut self, step: usize, tool: &str) {
        self.repeats[step] = self.repeats[step].saturating_add(1);
        if self.repeats[step] == 1 {
            let name = self.pattern.steps[step].name.clone();
            self.owed = Some(Hint::Repeats { step: name, tool: tool.to_owned() });
        }
    }

    /// The step changed.
    pub fn step(&mut self, stepped: &PatternStepped) {
        self.transitions = stepped.transition;
        let from = self.pattern.place_of(&stepped.from);
        let to = stepped.to.as_deref().and_then(|step| self.pattern.place_of(step));
        if let Some(from) = from {
            self.standing[from] = match stepped.why {
                Why::Done => Standing::Done,
                Why::Skipped | Why::Passed => Standing::Left,
                Why::Failed => Standing::Failed,
            };
        }
        self.visit = Visit::default();
        match (from, to) {
            (Some(from), Some(to)) if to <= from => {
                self.standing[to..=from].fill(Standing::Pending);
                self.repeats[to..=from].fill(0);
            }
            (Some(from), Some(to)) => self.standing[from + 1..to].fill(Standing::Left),
            _ => {}
        }
        self.place = match (to, stepped.end) {
            (Some(to), _) => Place::Step(to),
            (None, end) => Place::Over(end.unwrap_or(PlaceEnd::Stuck)),
        };
        // What was called ahead of its step belongs to it once it is there.
        if let Some(ahead) = self.ahead.take() {
            match self.place {
                Place::Step(at) if at == ahead.step => self.visit = ahead.visit,
                Place::Step(at) if at < ahead.step => self.ahead = Some(ahead),
                Place::Step(_) | Place::Over(_) => {}
            }
        }
    }

    /// The agent was told.
    pub fn nudge(&mut self, nudged: &PatternNudged) {
        match nudged.hint {
            Hint::Repeats { .. } => self.owed = None,
            Hint::TooEarly { .. } => self.visit.hurried = self.visit.hurried.saturating_add(1),
        }
    }

    /// The change of step that has come about. Its message is whoever asks for it to write.
    pub fn due(&self, around: &Around) -> Option<PatternStepped> {
        let Place::Step(at) = self.place else { return None };
        let step = &self.pattern.steps[at];
        if self.visit.tries == 0 && self.is_skipped(step, around) {
            return Some(self.go_to(at, Why::Skipped, at + 1));
        }
        if self.is_done(step, around) {
            return Some(self.go_to(at, Why::Done, at + 1));
        }
        if let Some(ahead) = &self.ahead
            && self.leaves_until(ahead.step, around)
        {
            return Some(self.go_to(at, Why::Passed, ahead.step));
        }
        if self.visit.tries <= step.retries {
            return None;
        }
        match step.on_fail.as_deref().and_then(|target| self.pattern.place_of(target)) {
            Some(target) => Some(self.go_to(at, Why::Failed, target)),
            None if step.optional => Some(self.go_to(at, Why::Failed, at + 1)),
            None => Some(self.over(at, Why::Failed, PlaceEnd::Stuck)),
        }
    }

    /// What the agent is to be told before it goes on.
    pub const fn owed(&self) -> Option<&Hint> {
        self.owed.as_ref()
    }

    /// Lets a call through, as one that is about to be made, or says why not. Whoever asks for several asks the same value for all.
    pub fn admit(&mut self, tool: &str, around: &Around) -> Result<(), String> {
        // What is done by what is around can be seen to be only when the answer's calls are over: until then its tries are counted.
        let used_up = match self.place {
            Place::Step(at) if self.visit.tries > self.pattern.steps[at].retries => Some(at),
            Place::Step(_) | Place::Over(_) => None,
        };
        *self = self.settled(around);
        match self.belongs(tool, around) {
            Belongs::Nowhere => Ok(()),
            Belongs::Finished(_) if !matches!(self.end(), None | Some(PlaceEnd::Complete)) => Err(GIVEN_UP.to_owned()),
            Belongs::Here if used_up.map(Place::Step) == Some(self.place) => Err(self.wait_for_results()),
            Belongs::Here => self.try_here(),
            Belongs::Later(step) => {
                let Place::Step(at) = self.place else { return Ok(()) };
                let passed = self.go_to(at, Why::Passed, step);
                self.step(&passed);
                self.try_here()
            }
            Belongs::TooEarly(step) => Err(format!(
                "not done: `{tool}` belongs to the step `{}`, and you are at the step `{}`; do that first{}",
                self.pattern.steps[step].name,
                self.current().map_or("", |step| step.name.as_str()),
                self.current().map(called_with).unwrap_or_default(),
            )),
            Belongs::Finished(step) if self.repeats[step] == 0 && used_up != Some(step) => {
                self.repeats[step] = 1;
                Ok(())
            }
            Belongs::Finished(step) => {
                let goes_on = match self.current() {
                    Some(current) => format!("go on with the step `{}`{}", current.name, called_with(current)),
                    None => "all steps are over; say what came of it".to_owned(),
                };
                Err(format!("not done: the step `{}` is finished; {goes_on}", self.pattern.steps[step].name))
            }
        }
    }

    /// The tools of the step that it is at, and of those that may follow without it.
    pub fn open_tools(&self, around: &Around) -> BTreeSet<&str> {
        let here = self.settled(around);
        let named = self.pattern.steps.iter().flat_map(|step| &step.tools).map(String::as_str);
        named.filter(|tool| matches!(here.belongs(tool, around), Belongs::Here | Belongs::Later(_))).collect()
    }

    /// The first step that still must be done, of an agent that says it is done.
    pub fn unfinished(&self, around: &Around) -> Option<&Step> {
        let here = self.settled(around);
        let Place::Step(at) = here.place else { return None };
        self.pattern.steps[at..].iter().find(|step| !self.can_be_left(step, around))
    }

    /// How often it was told so in this step.
    pub const fn hurried(&self) -> u32 {
        self.visit.hurried
    }

    fn try_here(&mut self) -> Result<(), String> {
        let Some(step) = self.current() else { return Err(GIVEN_UP.to_owned()) };
        if self.visit.tries > step.retries {
            return Err(self.wait_for_results());
        }
        self.visit.tries += 1;
        Ok(())
    }

    fn wait_for_results(&self) -> String {
        let (name, calls) = self.current().map_or(("", 0), |step| (step.name.as_str(), step.retries + 1));
        format!("not done: the step `{name}` may make {calls} calls before their results are looked at")
    }

    fn belongs(&self, tool: &str, around: &Around) -> Belongs {
        let steps = &self.pattern.steps;
        let finished = |until: usize| steps[..until].iter().rposition(|step| step.has(tool)).map(Belongs::Finished);
        let Place::Step(at) = self.place else {
            return finished(steps.len()).unwrap_or(Belongs::Nowhere);
        };
        if steps[at].has(tool) {
            return Belongs::Here;
        }
        let later = steps.iter().enumerate().skip(at + 1).find(|(_, step)| step.has(tool)).map(|(step, _)| step);
        match later {
            Some(step) if self.leaves_until(step, around) => Belongs::Later(step),
            Some(step) => finished(at).unwrap_or(Belongs::TooEarly(step)),
            None => finished(at).unwrap_or(Belongs::Nowhere),
        }
    }

    fn leaves_until(&self, step: usize, around: &Around) -> bool {
        let Place::Step(at) = self.place else { return false };
        let is_over = self.is_done(&self.pattern.steps[at], around);
        let first = if is_over { at + 1 } else { at };
        let between = self.pattern.steps.get(first..step).filter(|_| step > at);
        between.is_some_and(|steps| steps.iter().all(|step| self.can_be_left(step, around)))
    }

    fn can_be_left(&self, step: &Step, around: &Around) -> bool {
        step.optional || step.is_for_thinking() || self.is_skipped(step, around)
    }

    fn is_skipped(&self, step: &Step, around: &Around) -> bool {
        step.skip_when.iter().any(|condition| condition.of_rest(&self.succeeded, around))
    }

    fn is_done(&self, step: &Step, around: &Around) -> bool {
        let holds = |(place, condition): (usize, &super::Condition)| {
            self.visit.met.get(place).copied().unwrap_or_default() || condition.of_rest(&self.visit.succeeded, around)
        };
        match step.done_when.is_empty() {
            true => self.visit.tries > 0 && self.visit.last_is_ok,
            false => {
                let is_begun = self.visit.tries > 0 || step.tools.is_empty();
                is_begun && step.done_when.iter().enumerate().all(holds)
            }
        }
    }

    fn go_to(&self, at: usize, why: Why, to: usize) -> PatternStepped {
        match self.pattern.steps.get(to) {
            None => self.over(at, why, PlaceEnd::Complete),
            Some(_) if self.transitions >= self.pattern.max_steps => self.over(at, why, PlaceEnd::Exhausted),
            Some(step) => PatternStepped {
                from: self.pattern.steps[at].name.clone(),
                to: Some(step.name.clone()),
                why,
                end: None,
                transition: self.transitions + 1,
                message: String::new(),
            },
        }
    }

    /// The last change is not refused for being one too many: it ends things either way.
    fn over(&self, at: usize, why: Why, end: PlaceEnd) -> PatternStepped {
        PatternStepped {
            from: self.pattern.steps[at].name.clone(),
            to: None,
            why,
            end: Some(end),
            transition: self.transitions.saturating_add(1).min(self.pattern.max_steps),
            message: String::new(),
        }
    }
}

impl Visit {
    fn count(&mut self, step: &Step, tool: &str, seen: &Seen<'_>) {
        self.tries = self.tries.saturating_add(1);
        self.last_is_ok = seen.is_ok;
        self.met = step.done_when.iter().map(|condition| condition.of_call(seen).unwrap_or_default()).collect();
        if seen.is_ok {
            self.succeeded.insert(tool.to_owned());
        }
    }
}

fn called_with(step: &Step) -> String {
    match step.tools.is_empty() {
        true => String::new(),
        false => format!(" ({})", step.tools.join(", ")),
    }
}
