//! The plans that a new one must not repeat: those that failed, and the one that a person wants changed. A fold of its own over a
//! graph's stream, because only whoever plans again asks for it.

use std::fmt;

use super::event::GraphEvent;
use crate::plan::Plan;

#[derive(Debug, Default)]
pub struct FormerPlans {
    newest: Option<(u32, Plan)>,
    failed: Vec<(u32, Plan)>,
    sent_back: Option<Plan>,
}

/// Which of them a plan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeated {
    Failed { revision: u32 },
    SentBack,
}

impl FormerPlans {
    pub fn apply(&mut self, event: &GraphEvent) {
        match event {
            GraphEvent::PlanProposed(proposed) => {
                self.sent_back = None;
                self.newest = proposed.plan.clone().ok().map(|plan| (proposed.revision, plan));
            }
            // Another plan is written because this one failed, or because somebody wants it otherwise.
            GraphEvent::PlannerStarted(started) if started.is_replan => self.failed.extend(self.newest.take()),
            GraphEvent::PlannerStarted(_) => self.sent_back = self.newest.take().map(|(_, plan)| plan),
            // What failed before a person changed what is wanted may do now, and what fails after it was not that plan.
            GraphEvent::Corrected(_) => (self.newest, self.failed) = (None, Vec::new()),
            _ => {}
        }
    }

    /// What failed is known by what is done, whatever that is called; what was sent back by every word, since a person may well want
    /// only those changed.
    pub fn repeated(&self, plan: &Plan) -> Option<Repeated> {
        let failed = self.failed.iter().find(|(_, failed)| failed.is_same_work(plan));
        match failed {
            Some((revision, _)) => Some(Repeated::Failed { revision: *revision }),
            None => (self.sent_back.as_ref() == Some(plan)).then_some(Repeated::SentBack),
        }
    }
}

impl fmt::Display for Repeated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed { revision } => write!(f, "the plan that failed before (revision {revision})"),
            Self::SentBack => f.write_str("the plan that the user wants changed, word for word"),
        }
    }
}
