//! What is asked, what the model answers, and what is allowed to come of it. Scripts are files in `scenarios/`, in the
//! language of rehearsals; commands in them are in the simulator's own (`language`).

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use windlass_domain::task::{CompactionConfig, ExecutionConfig};
use windlass_domain::{BaseCase, Budget, Check, CheckProbe, Expectation, FileExpectation, TaskResultStatus};
use windlass_engine::{Submission, SubmittedModel};

use crate::executor::MOST_POLLS;
use crate::operator::Act;

/// Little more than the tools and the system prompt take.
const WINDOW: u64 = 9_000;

#[derive(Debug, Clone)]
pub struct Scenario {
    pub name: &'static str,
    pub script: Cow<'static, str>,
    pub files: Vec<(&'static str, &'static str)>,
    pub checks: Vec<Check>,
    pub max_iterations: u32,
    pub compaction: CompactionConfig,
    /// So much of everything that it is no concern, where that is not what a scenario is about.
    pub budget: Budget,
    /// What a person answers when they are asked, and how long they take for it.
    pub answer: Option<(&'static str, Duration)>,
    /// More than this is no progress.
    pub most_polls: u64,
    /// What the operator does, at a moment that the seed chooses, up to so long after the beginning.
    pub act: Option<(Act, Duration)>,
    pub ends: Ends,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// Whatever happens to processes, as it would without.
    Alike,
    /// With the same status; how far it comes depends on what was lost, because that was paid for, or on when it was told.
    WithTheSameStatus,
    /// In one of two ways, because it depends on the moment.
    Either(TaskResultStatus, TaskResultStatus),
}

impl Scenario {
    pub(crate) fn new(name: &'static str, script: &'static str) -> Self {
        let (files, checks) = (Vec::new(), Vec::new());
        Self {
            name,
            script: Cow::Borrowed(script),
            files,
            checks,
            max_iterations: 200,
            compaction: CompactionConfig::default(),
            budget: Budget::default(),
            answer: None,
            most_polls: MOST_POLLS,
            act: None,
            ends: Ends::Alike,
        }
    }

    pub fn a_days_work() -> Self {
        Self {
            files: vec![("notes.txt", "alpha\nbeta\n"), ("other.txt", "nothing\n")],
            checks: vec![
                check("the report says three", run("expect report.txt three")),
                check(
                    "the notes are there",
                    CheckProbe::File { path: "notes.txt".to_owned(), expect: FileExpectation::NotEmpty },
                ),
            ],
            ..Self::new("a_days_work", include_str!("../scenarios/a_days_work.yaml"))
        }
    }

    pub fn second_attempt() -> Self {
        Self {
            checks: vec![check("the answer is right", run("expect answer.txt right"))],
            ..Self::new("second_attempt", include_str!("../scenarios/second_attempt.yaml"))
        }
    }

    pub fn paused() -> Self {
        Self {
            act: Some((Act::Pause, Duration::from_secs(30))),
            ..Self::new("paused", include_str!("../scenarios/slow_work.yaml"))
        }
    }

    pub fn cancelled() -> Self {
        Self {
            act: Some((Act::Cancel, Duration::from_secs(40))),
            ends: Ends::Either(TaskResultStatus::Cancelled, TaskResultStatus::Completed),
            ..Self::new("cancelled", include_str!("../scenarios/slow_work.yaml"))
        }
    }

    pub fn interrupted_by_a_word() -> Self {
        Self {
            act: Some((Act::Say("Use the other colour.".to_owned()), Duration::from_secs(25))),
            ends: Ends::WithTheSameStatus,
            ..Self::new("interrupted_by_a_word", include_str!("../scenarios/slow_work.yaml"))
        }
    }

    /// Something slow of every kind: answers, commands, and a check at the end.
    pub fn told_to(act: Act) -> Self {
        Self {
            checks: vec![check("it bears looking at", run("sleep 8; expect log.txt four"))],
            act: Some((act, Duration::from_secs(40))),
            ..Self::new("told_to", include_str!("../scenarios/slow_work.yaml"))
        }
    }

    pub fn flaky_model() -> Self {
        Self::new("flaky_model", include_str!("../scenarios/flaky_model.yaml"))
    }

    pub fn model_gone() -> Self {
        Self::new("model_gone", include_str!("../scenarios/model_gone.yaml"))
    }

    pub fn too_many_turns() -> Self {
        Self {
            max_iterations: 3,
            ends: Ends::WithTheSameStatus,
            ..Self::new("too_many_turns", include_str!("../scenarios/too_many_turns.yaml"))
        }
    }

    /// More is said than the model takes: results are left out, and turns are summarised.
    pub fn a_long_conversation() -> Self {
        let compaction = CompactionConfig {
            context_window_tokens: Some(WINDOW),
            preserve_recent_turns: 2,
            max_summary_tokens: 200,
            memory_flush_enabled: false,
            ..CompactionConfig::default()
        };
        Self { compaction, ..Self::new("a_long_conversation", include_str!("../scenarios/a_long_conversation.yaml")) }
    }

    /// The same, and the agent saves what it needs. Each of its turns for that takes a place in the script, so that how far it comes
    /// depends on when it is told to.
    pub fn a_long_conversation_with_notes() -> Self {
        let without = Self::a_long_conversation();
        let compaction = CompactionConfig {
            memory_flush_enabled: true,
            memory_flush_soft_threshold_tokens: 200,
            ..without.compaction
        };
        Self { name: "a_long_conversation_with_notes", compaction, ends: Ends::WithTheSameStatus, ..without }
    }

    pub fn all() -> Vec<Self> {
        vec![
            Self::a_days_work(),
            Self::second_attempt(),
            Self::paused(),
            Self::cancelled(),
            Self::interrupted_by_a_word(),
            Self::flaky_model(),
            Self::model_gone(),
            Self::too_many_turns(),
            Self::a_long_conversation(),
            Self::a_long_conversation_with_notes(),
        ]
    }

    pub fn submission(&self, workspace: &Path) -> Submission {
        Submission {
            goal: "Do the work.".to_owned(),
            constraints: Vec::new(),
            attachments: Vec::new(),
            config: ExecutionConfig {
                max_iterations: self.max_iterations,
                timeout_seconds: self.budget.max_wall_time_seconds,
                compaction: self.compaction,
                ..ExecutionConfig::default()
            },
            agent_id: "executor".to_owned(),
            model: SubmittedModel::Rehearsal(self.script.clone().into_owned()),
            workspace: workspace.to_owned(),
            base_case: BaseCase(self.checks.clone()),
            budget: self.budget.clone(),
            sandbox: "scripted".to_owned(),
            planning: windlass_engine::Planning::None,
        }
    }
}

pub(crate) fn check(name: &str, probe: CheckProbe) -> Check {
    Check { name: name.to_owned(), probe, timeout_seconds: 60, network: false, protect: Vec::new() }
}

pub(crate) fn run(line: &str) -> CheckProbe {
    CheckProbe::Run { run: line.to_owned(), expect: Expectation::ExitCode(0) }
}
