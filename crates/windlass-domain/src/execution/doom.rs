//! Doom loops (seed 000 §11.3): an agent that does the same again and again and gets the same for it. Turns are compared by
//! what was asked for and what came of it, so that looking at something that changes is no loop, and neither are different
//! edits to one file. Here a loop is recognised; what the agent is told is the runner's.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::call::{CallStatus, Finished};
use crate::digest::Digest;
use crate::execution::ModelResponded;
use crate::tool_name::is_talk;

/// Turns that are remembered; `pattern_window` cannot be larger.
const MOST_TURNS: usize = 100;
/// How often an agent is told before the run ends.
const MOST_INTERVENTIONS: u32 = 3;
/// How often a pattern of several turns is seen before it counts as one.
const ROUNDS: usize = 3;
const MOST_SHOWN: usize = 120;

/// Seed 000 §11.3, names and defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DoomLoopConfig {
    pub max_identical_calls: u32,
    pub max_consecutive_failures: u32,
    /// In turns.
    pub pattern_window: u32,
}

impl Default for DoomLoopConfig {
    fn default() -> Self {
        Self { max_identical_calls: 3, max_consecutive_failures: 5, pattern_window: 10 }
    }
}

impl DoomLoopConfig {
    /// What cannot work, in words.
    pub fn objection(&self) -> Option<String> {
        let bounds = [
            ("max_identical_calls", self.max_identical_calls, 2),
            ("max_consecutive_failures", self.max_consecutive_failures, 2),
            // Below this nothing could alternate.
            ("pattern_window", self.pattern_window, 6),
        ];
        let most = u32::try_from(MOST_TURNS).unwrap_or(u32::MAX);
        let (name, _, least) = bounds.into_iter().find(|(_, given, least)| !(*least..=most).contains(given))?;
        Some(format!("{name} must be between {least} and {most}"))
    }
}

/// What the agent does over and over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Pattern {
    IdenticalCalls { call: String, times: u32 },
    Failures { last: String, times: u32 },
    Alternating { steps: Vec<String>, times: u32 },
    Monologue { words: String, times: u32 },
}

impl std::fmt::Display for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::IdenticalCalls { call, times } => {
                write!(f, "{times} times in a row the same call with the same result: {call}")
            }
            Self::Failures { last, times } => {
                write!(f, "{times} turns in a row in which every call failed, the last of them: {last}")
            }
            Self::Alternating { steps, times } => {
                write!(f, "{times} times the same steps in turn, with the same results: {}", steps.join(", then "))
            }
            Self::Monologue { words, times } => {
                write!(f, "{times} times the same words, with nothing done in between: {words}")
            }
        }
    }
}

/// The agent was told that it repeats itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoomLoopDetected {
    pub pattern: Pattern,
    /// From 1.
    pub intervention: u32,
    pub message: String,
}

/// What to do about a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doom {
    Tell {
        pattern: Pattern,
        intervention: u32,
    },
    /// It was told often enough.
    GiveUp(Pattern),
}

/// The newest turns, as far as they tell whether the agent is getting anywhere.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Habits {
    turns: VecDeque<Turn>,
    interventions: u32,
    turns_since: u32,
}

#[derive(Debug, Clone, PartialEq)]
struct Turn {
    words: Option<Digest>,
    asked: Digest,
    came_of_it: Digest,
    calls: u32,
    failed: u32,
    /// It did something other than talk to itself.
    acts: bool,
    /// The first call, or the words where there is none, for people.
    shown: String,
}

impl Turn {
    fn new(response: &ModelResponded) -> Self {
        let words = response.text.trim();
        let acts = response.calls.iter().any(|call| !is_talk(&call.tool));
        // Beside a deed, talk counts for nothing: a new note at each turn does not make the same deed another.
        let counted: Vec<_> = response.calls.iter().filter(|call| !acts || !is_talk(&call.tool)).collect();
        let asked = counted.iter().fold(Digest::of(b""), |digest, call| {
            digest.chain(call.tool.as_bytes()).chain(call.arguments.get().as_bytes())
        });
        let first = counted.first().map(|call| format!("{} {}", call.tool, call.arguments.get()));
        Self {
            words: (!words.is_empty()).then(|| Digest::of(words.as_bytes())),
            asked,
            came_of_it: Digest::of(b""),
            calls: u32::try_from(counted.len()).unwrap_or(u32::MAX),
            failed: 0,
            acts,
            shown: first.unwrap_or_else(|| words.to_owned()).chars().take(MOST_SHOWN).collect(),
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        self.calls > 0 && self.asked == other.asked && self.came_of_it == other.came_of_it
    }

    const fn is_failure(&self) -> bool {
        self.calls > 0 && self.failed == self.calls
    }
}

impl Habits {
    pub(crate) fn answered(&mut self, response: &ModelResponded) {
        self.turns.push_back(Turn::new(response));
        self.turns_since = self.turns_since.saturating_add(1);
        if self.turns.len() > MOST_TURNS {
            self.turns.pop_front();
        }
    }

    pub(crate) fn finished(&mut self, finished: &Finished) {
        let Some(turn) = self.turns.back_mut() else { return };
        if turn.acts && is_talk(&finished.tool) {
            return;
        }
        let is_failure = matches!(finished.status, CallStatus::Error | CallStatus::TimedOut | CallStatus::Denied);
        turn.failed += u32::from(is_failure);
        turn.came_of_it = turn.came_of_it.chain(&[u8::from(is_failure)]).chain(finished.content.as_bytes());
    }

    /// Somebody said something: what was tried before may now be right.
    pub(crate) fn heard_somebody(&mut self) {
        self.turns.clear();
    }

    /// It begins anew, so that an agent that has heard it is given as many turns as one that has not.
    pub(crate) fn told(&mut self, detected: &DoomLoopDetected) {
        self.turns.clear();
        self.interventions = detected.intervention;
        self.turns_since = 0;
    }

    pub fn doom(&self, config: &DoomLoopConfig) -> Option<Doom> {
        let pattern = self.pattern(config)?;
        // Whoever went a whole window without a loop has listened.
        let goes_on = self.turns_since <= config.pattern_window;
        let intervention = if goes_on { self.interventions + 1 } else { 1 };
        Some(match intervention > MOST_INTERVENTIONS {
            true => Doom::GiveUp(pattern),
            false => Doom::Tell { pattern, intervention },
        })
    }

    fn pattern(&self, config: &DoomLoopConfig) -> Option<Pattern> {
        let newest = self.turns.back()?;
        let shown = || newest.shown.clone();
        let in_a_row = |same: &dyn Fn(&Turn) -> bool, least: u32| {
            let times = self.turns.iter().rev().take_while(|turn| same(turn)).count();
            u32::try_from(times).ok().filter(|times| *times >= least.max(2))
        };
        let identical = in_a_row(&|turn| turn.is_like(newest), config.max_identical_calls);
        let failures = in_a_row(&Turn::is_failure, config.max_consecutive_failures);
        let says_the_same = |turn: &Turn| turn.words.is_some() && turn.words == newest.words && !turn.acts;
        let monologue = in_a_row(&says_the_same, config.max_identical_calls);
        identical
            .map(|times| Pattern::IdenticalCalls { call: shown(), times })
            .or_else(|| failures.map(|times| Pattern::Failures { last: shown(), times }))
            .or_else(|| self.alternating(config))
            .or_else(|| monologue.map(|times| Pattern::Monologue { words: shown(), times }))
    }

    fn alternating(&self, config: &DoomLoopConfig) -> Option<Pattern> {
        let window = usize::try_from(config.pattern_window).unwrap_or(MOST_TURNS);
        let newest_first: Vec<&Turn> = self.turns.iter().rev().take(window).collect();
        let repeats = |period: &usize| {
            let rounds = newest_first.get(..period * ROUNDS);
            rounds.is_some_and(|turns| turns.iter().zip(&turns[*period..]).all(|(turn, before)| turn.is_like(before)))
        };
        let period = (2..=window / ROUNDS).find(repeats)?;
        let steps = newest_first[..period].iter().rev().map(|turn| turn.shown.clone()).collect();
        Some(Pattern::Alternating { steps, times: u32::try_from(ROUNDS).unwrap_or(u32::MAX) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{CallId, StopReason, ToolCall};
    use crate::usage::Usage;

    /// A turn is `call>result` (`!` before the result: it failed), several calls with `+` between, `"words"` with no calls.
    fn habits(turns: &str) -> Habits {
        let mut habits = Habits::default();
        turns.split_whitespace().for_each(|turn| play(&mut habits, turn));
        habits
    }

    fn play(habits: &mut Habits, turn: &str) {
        let (words, calls) = match turn.split_once('"') {
            Some((calls, words)) => (words.to_owned(), calls),
            None => (String::new(), turn),
        };
        let calls: Vec<(&str, &str)> = calls.split('+').filter_map(|call| call.split_once('>')).collect();
        let tool = |call: &str| if call.starts_with("plan") { "update_plan" } else { "bash" };
        let asked = calls.iter().map(|(call, _)| ToolCall::new("id", tool(call), &format!("\"{call}\"")));
        habits.answered(&ModelResponded {
            iteration: 1,
            purpose: crate::execution::Purpose::Turn,
            text: words,
            calls: asked.collect(),
            reasoning: Vec::new(),
            stop: StopReason::EndTurn,
            usage: Usage::default(),
            lost: Usage::default(),
            cost: None,
            retries: 0,
            duration_ms: 0,
        });
        for (call, result) in calls {
            let status = if result.starts_with('!') { CallStatus::Error } else { CallStatus::Ok };
            habits.finished(&Finished {
                call_id: CallId("id".into()),
                tool: tool(call).into(),
                status,
                content: result.into(),
                full_output: None,
                images: Vec::new(),
                taint: crate::Taint::Owner,
                duration_ms: 0,
            });
        }
    }

    fn check(turns: &str, expected: &str) {
        let shown = match habits(turns).pattern(&DoomLoopConfig::default()) {
            None => "fine",
            Some(Pattern::IdenticalCalls { .. }) => "identical",
            Some(Pattern::Failures { .. }) => "failures",
            Some(Pattern::Alternating { .. }) => "alternating",
            Some(Pattern::Monologue { .. }) => "monologue",
        };
        assert_eq!(shown, expected, "{turns}");
    }

    #[test]
    fn what_is_a_loop() {
        check("a>1 a>1 a>1", "identical");
        check("x>0 a>1+b>2 a>1+b>2 a>1+b>2", "identical");
        check("a>!1 b>!2 c>!3 d>!4 e>!5", "failures");
        check("a>1 b>2 a>1 b>2 a>1 b>2", "alternating");
        check("a>1 b>2 c>3 a>1 b>2 c>3 a>1 b>2 c>3", "alternating");
        check("plan>1\"hm plan>2\"hm plan>3\"hm", "monologue");
        check("a>!1+plan1>ok a>!1+plan2>ok a>!1+plan3>ok", "identical"); // another note makes it no other deed
        check("a>!1+plan1>ok b>!1+plan2>ok c>!1+plan3>ok d>!1+plan4>ok e>!1+plan5>ok", "failures");
    }

    #[test]
    fn what_only_looks_like_one() {
        check("", "fine");
        check("a>1 a>1", "fine");
        check("cat>1 cat>2 cat>3 cat>4 cat>5", "fine"); // polling what changes
        check("edit1>ok edit2>ok edit3>ok edit4>ok", "fine");
        check("test>!1 edit>ok test>!1 edit2>ok test>!1 edit3>ok test>!1", "fine");
        check("a>!1+b>ok a>!1+c>ok a>!1+d>ok a>!1+e>ok a>!1+f>ok", "fine");
        check("a>!1+b>!1+c>!1+d>!1+e>!1+f>!1", "fine"); // one turn, however many calls
        check("a>1\"go b>1\"go c>1\"go", "fine"); // the same words, and progress
        check("a>1 b>2 a>1 b>3 a>1 b>4", "fine");
    }

    #[test]
    fn an_agent_is_told_three_times_and_then_given_up() {
        let config = DoomLoopConfig::default();
        let mut habits = Habits::default();
        for expected in 1..=3 {
            assert_eq!(habits.doom(&config), None);
            (0..3).for_each(|_| play(&mut habits, "a>1"));
            let Some(Doom::Tell { pattern, intervention }) = habits.doom(&config) else { panic!("told {expected}") };
            assert_eq!(intervention, expected);
            habits.told(&DoomLoopDetected { pattern, intervention, message: String::new() });
        }
        (0..3).for_each(|_| play(&mut habits, "a>1"));
        let Some(Doom::GiveUp(pattern)) = habits.doom(&config) else { panic!("given up") };
        assert!(pattern.to_string().contains("3 times in a row the same call"), "{pattern}");
    }

    #[test]
    fn who_listened_is_told_from_the_beginning() {
        let config = DoomLoopConfig::default();
        let mut habits = habits("a>1 a>1 a>1");
        let Some(Doom::Tell { pattern, intervention: 1 }) = habits.doom(&config) else { panic!("told") };
        habits.told(&DoomLoopDetected { pattern, intervention: 1, message: String::new() });
        "b>1 c>1 d>1 e>1 f>1 g>1 h>1 i>1 a>1 a>1 a>1".split(' ').for_each(|turn| play(&mut habits, turn));
        assert!(matches!(habits.doom(&config), Some(Doom::Tell { intervention: 1, .. })));
    }

    #[test]
    fn what_somebody_says_changes_things() {
        let mut habits = habits("a>1 a>1");
        habits.heard_somebody();
        play(&mut habits, "a>1");
        assert_eq!(habits.doom(&DoomLoopConfig::default()), None);
    }
}
