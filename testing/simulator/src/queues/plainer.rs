//! How a plan of queues becomes shorter and plainer.

use std::time::Duration;

use crate::queues::{Act, QueuePlan, Request, Work};
use crate::shrink::Plot;

impl Plot for QueuePlan {
    fn acts(&self) -> usize {
        self.acts.len()
    }

    fn without(&self, at: usize, count: usize) -> Self {
        let mut shorter = self.clone();
        shorter.acts.drain(at..(at + count).min(self.acts.len()));
        shorter
    }

    fn plainer(&self) -> Vec<Self> {
        let mut plans = Vec::new();
        for (at, act) in self.acts.iter().enumerate() {
            for plainer in plainer(act) {
                let mut plan = self.clone();
                plan.acts[at] = plainer;
                plans.push(plan);
            }
        }
        if self.workers > 1 {
            plans.push(Self { workers: self.workers - 1, ..self.clone() });
        }
        plans
    }

    fn in_order(&self, seed: u64) -> Self {
        Self { seed, ..self.clone() }
    }

    fn aimed(&self, at: usize, call: u32) -> Option<Self> {
        let Act::Befalls { worker, blow, .. } = self.acts[at] else { return None };
        let mut aimed = self.clone();
        aimed.acts[at] = Act::Befalls { worker, call, blow };
        Some(aimed)
    }
}

/// Each in one way; what is as plain as it can be stays as it is.
fn plainer(act: &Act) -> Vec<Act> {
    let Act::Asks(request) = act else { return Vec::new() };
    let fewer = request.works.len().saturating_sub(1).max(1);
    let plain = |work: &Work| Work { failures: 0, reads_external: false, ..*work };
    let variants = [
        Request { messages: 1, ..request.clone() },
        Request { messages: request.messages.div_ceil(2), ..request.clone() },
        Request { lost_answers: 0, has_twin: false, ..request.clone() },
        Request { works: request.works[..1].to_vec(), ..request.clone() },
        Request { works: request.works[..fewer].to_vec(), ..request.clone() },
        Request { works: request.works.iter().map(plain).collect(), ..request.clone() },
        Request { at: Duration::ZERO, ..request.clone() },
    ];
    variants.into_iter().filter(|variant| variant != request).map(Act::Asks).collect()
}
