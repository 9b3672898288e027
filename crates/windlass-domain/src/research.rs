//! A planner's research (seed 001 §4.8): questions that others look into while it goes on, how many of them there may be, and when
//! it must make do with what it has. A state machine over values: who looks into a question, and how late is too late, is the
//! host's.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// What a planner wants to know, and in which form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResearchQuestion {
    pub task: String,
    pub return_format: String,
    pub max_tokens: u32,
}

/// Two questions with the same key are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ResearchKey(Digest);

impl ResearchQuestion {
    pub fn key(&self) -> ResearchKey {
        // Lengths first, so that no two questions run into the same text.
        let text = format!(
            "{} {} {}\0{}\0{}",
            self.task.len(),
            self.return_format.len(),
            self.max_tokens,
            self.task,
            self.return_format
        );
        ResearchKey(Digest::of(text.as_bytes()))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResearchLimits {
    /// `planner_research_max_in_flight`.
    pub in_flight: usize,
    /// `planner_research_max_rounds`: of one plan.
    pub rounds: u32,
    /// `research_timeout_s`: of one question.
    pub question: Duration,
    /// `plan_timeout_s`: of the whole plan.
    pub plan: Duration,
}

impl Default for ResearchLimits {
    fn default() -> Self {
        Self { in_flight: 3, rounds: 5, question: Duration::from_secs(120), plan: Duration::from_secs(600) }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResearchPhase {
    #[default]
    Planning,
    AwaitingResearch,
    ReadyToFinalize,
    Expired,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Open,
    Answered,
    TimedOut,
    Cancelled,
}

#[derive(Debug, Clone, Default)]
pub struct Research {
    phase: ResearchPhase,
    questions: BTreeMap<ResearchKey, Standing>,
    rounds: u32,
    /// The planner has said so. With all answers there it may still ask: who drills down has no other way.
    is_final: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum ResearchEvent {
    Requested {
        key: ResearchKey,
    },
    Answered {
        key: ResearchKey,
    },
    TimedOut {
        key: ResearchKey,
    },
    /// The planner has what it needs.
    Finalized,
    /// The plan took too long, or asked too often.
    Expired,
    /// A plan, or the word that there is none, is out: the next begins anew.
    Emitted,
}

/// Why a question is not looked into. Its words are what the planner reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAsked {
    #[error("this very question is being looked into; its answer will arrive as a message")]
    InFlight,
    #[error("this very question was answered before; look above")]
    Answered,
    #[error("{0} questions are being looked into already; wait for an answer")]
    TooMany(usize),
    #[error("all {0} questions of this plan have been asked; write the plan with what you have")]
    RoundsSpent(u32),
    #[error("the plan is being finished; nothing more is looked into")]
    Over,
}

/// What becomes of an answer that arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    Wanted,
    /// Repeated, too late, or never asked for: for the audit alone.
    Ignored,
}

impl Research {
    pub const fn phase(&self) -> ResearchPhase {
        self.phase
    }

    pub fn in_flight(&self) -> impl Iterator<Item = ResearchKey> {
        self.questions.iter().filter(|(_, standing)| **standing == Standing::Open).map(|(key, _)| *key)
    }

    /// Whether the plan took too long.
    pub const fn is_expired(&self) -> bool {
        matches!(self.phase, ResearchPhase::Expired)
    }

    /// Whether this may be asked now.
    pub fn may_ask(&self, key: ResearchKey, limits: &ResearchLimits) -> Result<(), NotAsked> {
        if self.is_final || self.phase == ResearchPhase::Expired {
            return Err(NotAsked::Over);
        }
        match self.questions.get(&key) {
            Some(Standing::Open) => return Err(NotAsked::InFlight),
            Some(Standing::Answered) => return Err(NotAsked::Answered),
            // What nobody answered in time may be asked again, as a round of its own.
            Some(Standing::TimedOut | Standing::Cancelled) | None => {}
        }
        if self.rounds >= limits.rounds {
            return Err(NotAsked::RoundsSpent(limits.rounds));
        }
        if self.in_flight().count() >= limits.in_flight {
            return Err(NotAsked::TooMany(limits.in_flight));
        }
        Ok(())
    }

    pub fn arrival(&self, key: ResearchKey) -> Arrival {
        let is_open = self.questions.get(&key) == Some(&Standing::Open);
        if is_open { Arrival::Wanted } else { Arrival::Ignored }
    }

    /// A planner that has nothing in flight and may ask nothing more has to finish.
    pub fn must_finish(&self, limits: &ResearchLimits) -> bool {
        self.phase == ResearchPhase::Expired || (self.rounds >= limits.rounds && self.in_flight().next().is_none())
    }

    pub fn apply(&mut self, event: ResearchEvent) {
        match event {
            ResearchEvent::Requested { key } => {
                self.rounds += 1;
                self.questions.insert(key, Standing::Open);
                self.phase = ResearchPhase::AwaitingResearch;
            }
            ResearchEvent::Answered { key } => {
                self.close(key, Standing::Answered);
                if self.in_flight().next().is_none() && self.phase == ResearchPhase::AwaitingResearch {
                    self.phase = ResearchPhase::ReadyToFinalize;
                }
            }
            ResearchEvent::TimedOut { key } => {
                self.close(key, Standing::TimedOut);
                if self.in_flight().next().is_none() && self.phase == ResearchPhase::AwaitingResearch {
                    self.phase = ResearchPhase::Planning;
                }
            }
            ResearchEvent::Finalized => {
                self.is_final = true;
                self.stop(ResearchPhase::ReadyToFinalize);
            }
            ResearchEvent::Expired => self.stop(ResearchPhase::Expired),
            ResearchEvent::Emitted => *self = Self::default(),
        }
    }

    fn close(&mut self, key: ResearchKey, to: Standing) {
        if let Some(standing) = self.questions.get_mut(&key).filter(|standing| **standing == Standing::Open) {
            *standing = to;
        }
    }

    /// What is still being looked into is no longer wanted.
    fn stop(&mut self, phase: ResearchPhase) {
        for standing in self.questions.values_mut().filter(|standing| **standing == Standing::Open) {
            *standing = Standing::Cancelled;
        }
        self.phase = phase;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: ResearchLimits =
        ResearchLimits { in_flight: 3, rounds: 5, question: Duration::from_secs(120), plan: Duration::from_secs(600) };

    fn key(task: &str) -> ResearchKey {
        ResearchQuestion { task: task.to_owned(), return_format: "a line".to_owned(), max_tokens: 50 }.key()
    }

    /// `?a` asks a, `a` answers it, `!a` is too late for it, `.` finishes, `x` expires, `>` emits.
    fn after(story: &str) -> Research {
        let mut research = Research::default();
        for word in story.split_whitespace() {
            let event = match word.split_at(1) {
                ("?", name) => {
                    assert_eq!(research.may_ask(key(name), &LIMITS), Ok(()), "{word} in {story}");
                    ResearchEvent::Requested { key: key(name) }
                }
                ("!", name) => ResearchEvent::TimedOut { key: key(name) },
                (".", "") => ResearchEvent::Finalized,
                ("x", "") => ResearchEvent::Expired,
                (">", "") => ResearchEvent::Emitted,
                _ => ResearchEvent::Answered { key: key(word) },
            };
            research.apply(event);
        }
        research
    }

    #[test]
    fn every_transition_of_the_seed() {
        let check = |story: &str, expected| assert_eq!(after(story).phase(), expected, "{story}");
        check("", ResearchPhase::Planning);
        check("?a", ResearchPhase::AwaitingResearch);
        check("?a ?b a", ResearchPhase::AwaitingResearch);
        check("?a ?b a b", ResearchPhase::ReadyToFinalize);
        check("?a !a", ResearchPhase::Planning);
        check("?a ?b !a", ResearchPhase::AwaitingResearch);
        check("?a ?b !a b", ResearchPhase::ReadyToFinalize);
        check(".", ResearchPhase::ReadyToFinalize);
        check("?a x", ResearchPhase::Expired);
        check("x", ResearchPhase::Expired);
        check("?a a >", ResearchPhase::Planning);
        check("x >", ResearchPhase::Planning);
        check("?a a ?b", ResearchPhase::AwaitingResearch);
    }

    #[test]
    fn at_most_three_at_once_and_five_in_all() {
        assert_eq!(after("?a ?b ?c").may_ask(key("d"), &LIMITS), Err(NotAsked::TooMany(3)));
        assert_eq!(after("?a ?b ?c a").may_ask(key("d"), &LIMITS), Ok(()));
        let spent = after("?a a ?b b ?c c ?d d ?e");
        assert_eq!(spent.may_ask(key("f"), &LIMITS), Err(NotAsked::RoundsSpent(5)));
        assert!(!spent.must_finish(&LIMITS), "one is still awaited");
        assert!(after("?a a ?b b ?c c ?d d ?e e").must_finish(&LIMITS));
        assert_eq!(after("?a a ?b b ?c c ?d d ?e e >").may_ask(key("f"), &LIMITS), Ok(()), "the next plan has its own");
    }

    #[test]
    fn the_same_question_is_asked_once() {
        assert_eq!(after("?a").may_ask(key("a"), &LIMITS), Err(NotAsked::InFlight));
        assert_eq!(after("?a a").may_ask(key("a"), &LIMITS), Err(NotAsked::Answered));
        assert_eq!(after("?a !a").may_ask(key("a"), &LIMITS), Ok(()), "nobody answered it");
        let other = ResearchQuestion { task: "a".to_owned(), return_format: "a line".to_owned(), max_tokens: 51 };
        assert_eq!(after("?a").may_ask(other.key(), &LIMITS), Ok(()), "in another form it is another");
        let runs = |task: &str, form: &str| {
            ResearchQuestion { task: task.to_owned(), return_format: form.to_owned(), max_tokens: 1 }.key()
        };
        assert_ne!(runs("a\0b", "c"), runs("a", "b\0c"));
    }

    #[test]
    fn an_answer_counts_once_and_in_time() {
        assert_eq!(after("?a").arrival(key("a")), Arrival::Wanted);
        assert_eq!(after("?a ?b !b").arrival(key("a")), Arrival::Wanted, "another was too late, not this");
        for late in ["", "?a a", "?a !a", "?a .", "?a x", "?a >", "?b"] {
            assert_eq!(after(late).arrival(key("a")), Arrival::Ignored, "{late}");
        }
    }

    #[test]
    fn when_it_is_over_nothing_is_in_flight_and_nothing_is_asked() {
        for over in ["?a ?b .", "?a ?b x"] {
            let research = after(over);
            assert_eq!(research.in_flight().count(), 0, "{over}");
            assert_eq!(research.may_ask(key("c"), &LIMITS), Err(NotAsked::Over), "{over}");
        }
    }
}
