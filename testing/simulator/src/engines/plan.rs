//! What happens to a world of engines, as data. All of it is drawn from a seed (`draw`), and any act can be taken out: acts
//! name workers by their number and by the count of their calls, and jobs by their number.

use std::time::Duration;

use windlass_domain::Taint;
use windlass_domain::approval::Verdict;
use windlass_domain::task::DeadlineAction;

use crate::engines::EngineBug;
use crate::engines::objective::Turn;
use crate::engines::project::Project;
use crate::plan::Hints;
use crate::queues::Blow;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnginePlan {
    /// For the order of steps, for ids and for small delays.
    pub seed: u64,
    pub workers: u8,
    /// How many tasks each drives at a time.
    pub concurrency: u8,
    pub hints: Hints,
    pub acts: Vec<Act>,
    pub bug: EngineBug,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    Submits(Job),
    Plans(Box<Project>),
    /// Somebody wants something of the job's first task.
    Wishes(Request),
    /// At the worker's `call`-th call across a port, counted over all its lives.
    Befalls {
        worker: u8,
        call: u32,
        blow: Blow,
    },
    /// The wall clock of one worker, or of all, is set.
    Jumps {
        worker: Option<u8>,
        at: Duration,
        by_millis: i64,
    },
    /// A tenant reaches for cards and tasks of others.
    Meddles {
        tenant: u8,
        at: Duration,
    },
}

/// What a client wants: a task whose agent does one deed after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    pub number: u8,
    pub tenant: u8,
    pub at: Duration,
    pub deeds: Vec<Deed>,
    pub model: Mood,
    /// The client signs what it asks for; what nobody signed does not begin.
    pub is_signed: bool,
    /// Its commands reach the network.
    pub is_open: bool,
    /// The client does not hear the answer so often, and asks again: each time for another task.
    pub lost_answers: u8,
    /// So long after it was submitted its deadline comes, and this becomes of it.
    pub deadline: Option<(Duration, DeadlineAction)>,
}

/// What an agent does, and what a person says should they be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deed {
    pub kind: Kind,
    pub seconds: u8,
    pub reply: Reply,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Of no great risk.
    Plain,
    /// Of high risk: a person is asked.
    High,
    /// Never allowed.
    Critical,
    /// A file is written.
    Write,
    /// A person is asked something.
    Ask,
    /// It waits for its next look, which comes after ten seconds, and watches at most for so many seconds of the world's beginning.
    Watch { until_seconds: u32 },
    /// So many agents are spawned at once, and each of them does something.
    Spawn { helpers: u8, does: Help },
}

/// What a spawned agent does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Help {
    Plain,
    /// Of high risk: a person is asked, and its parent waits with it.
    High,
}

/// `verdict` absent: nobody answers. A question gets its answer whatever it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    pub verdict: Option<Verdict>,
    pub after: Duration,
    /// It is given twice.
    pub again: bool,
}

/// How the model fares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    Well,
    Slow,
    /// Some tries fail.
    Flaky,
    /// So many fail that the task is paused.
    Away,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub job: u8,
    pub moment: Moment,
    pub wish: Wish,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    At(Duration),
    /// So long after it was first seen asleep.
    Asleep(Duration),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    Cancel,
    Pause,
    Stop,
    Say(Taint),
    /// Of an objective.
    Redirect(Turn),
}

impl EnginePlan {
    #[must_use]
    pub const fn with_bug(mut self, bug: EngineBug) -> Self {
        self.bug = bug;
        self
    }

    pub fn jobs(&self) -> impl Iterator<Item = &Job> {
        self.acts.iter().filter_map(|act| match act {
            Act::Submits(job) => Some(job),
            _ => None,
        })
    }

    pub fn projects(&self) -> impl Iterator<Item = &Project> {
        self.acts.iter().filter_map(|act| match act {
            Act::Plans(project) => Some(&**project),
            _ => None,
        })
    }

    /// Whether there is a job or a project of this number.
    pub fn has(&self, number: u8) -> bool {
        self.job(number).is_some() || self.projects().any(|project| project.number == number)
    }

    pub fn job(&self, number: u8) -> Option<&Job> {
        self.jobs().find(|job| job.number == number)
    }

    /// By how much clocks are put back in all: whatever is due by one of them comes that much later.
    pub fn put_back(&self) -> Duration {
        let back = |act: &Act| match act {
            Act::Jumps { by_millis, .. } if *by_millis < 0 => Duration::from_millis(by_millis.unsigned_abs()),
            _ => Duration::ZERO,
        };
        self.acts.iter().map(back).sum()
    }

    /// When the last of what has a time begins.
    pub fn last_moment(&self) -> Duration {
        let moment = |act: &Act| match act {
            Act::Submits(Job { at, .. }) | Act::Jumps { at, .. } | Act::Meddles { at, .. } => Some(*at),
            Act::Wishes(Request { moment: Moment::At(at), .. }) => Some(*at),
            Act::Plans(project) => project.edits.iter().map(|(at, _)| *at).chain([project.at]).max(),
            Act::Wishes(_) | Act::Befalls { .. } => None,
        };
        self.acts.iter().filter_map(moment).max().unwrap_or_default()
    }
}
