//! Making a bad history short: acts are taken out, in ever smaller groups, as long as it stays bad in the same way; then each
//! that is left is made plainer. Without an act, steps come in another order, and workers are elsewhere with the same number
//! of calls, so that a blow may miss what it hit: where taking out one act makes the history good, other orders of steps are
//! tried, and the blows that are left at other calls, before the act is kept. What is bad, and in the same way, is for the
//! caller to say.

use std::time::Duration;

use crate::queues::{Act, QueuePlan, Request, Work};

/// Histories that are played before the best so far is good enough.
const PATIENCE: u32 = 4_000;
const LATEST_CALL: u32 = 100;
const ORDERS: u64 = 40;

/// The shortest plan that was found for which `is_bad` still holds.
pub fn shrink(plan: &QueuePlan, is_bad: impl FnMut(&QueuePlan) -> bool) -> QueuePlan {
    let mut search = Search { best: plan.clone(), is_bad, patience: PATIENCE };
    loop {
        let before = search.best.clone();
        search.take_out_groups();
        search.make_plainer();
        search.have_fewer_workers();
        if search.best == before {
            search.take_out_one_and_aim_anew();
        }
        if search.best == before || search.patience == 0 {
            return search.best;
        }
    }
}

struct Search<F> {
    best: QueuePlan,
    is_bad: F,
    patience: u32,
}

impl<F: FnMut(&QueuePlan) -> bool> Search<F> {
    /// Whether it is as bad, and hence the best.
    fn accept(&mut self, candidate: QueuePlan) -> bool {
        if candidate == self.best || self.patience == 0 {
            return false;
        }
        self.patience -= 1;
        let is_bad = (self.is_bad)(&candidate);
        if is_bad {
            self.best = candidate;
        }
        is_bad
    }

    fn without(&self, at: usize, count: usize) -> QueuePlan {
        let mut shorter = self.best.clone();
        shorter.acts.drain(at..(at + count).min(self.best.acts.len()));
        shorter
    }

    fn take_out_groups(&mut self) {
        let mut size = self.best.acts.len().div_ceil(2).max(1);
        loop {
            let mut at = 0;
            while at < self.best.acts.len() {
                if !self.accept(self.without(at, size)) {
                    at += size;
                }
            }
            if size == 1 {
                return;
            }
            size = size.div_ceil(2);
        }
    }

    fn make_plainer(&mut self) {
        for at in 0..self.best.acts.len() {
            for plainer in plainer(&self.best.acts[at]) {
                let mut simpler = self.best.clone();
                simpler.acts[at] = plainer;
                self.accept(simpler);
            }
        }
    }

    fn have_fewer_workers(&mut self) {
        while self.best.workers > 1 && self.accept(QueuePlan { workers: self.best.workers - 1, ..self.best.clone() }) {}
    }

    fn take_out_one_and_aim_anew(&mut self) {
        for at in 0..self.best.acts.len() {
            if self.aim_anew(&self.without(at, 1)) {
                return;
            }
        }
    }

    fn aim_anew(&mut self, shorter: &QueuePlan) -> bool {
        if (1..=ORDERS).any(|seed| self.accept(QueuePlan { seed, ..shorter.clone() })) {
            return true;
        }
        for (at, act) in shorter.acts.iter().enumerate() {
            let Act::Befalls { worker, blow, .. } = *act else { continue };
            for call in 1..LATEST_CALL {
                let mut aimed = shorter.clone();
                aimed.acts[at] = Act::Befalls { worker, call, blow };
                if self.accept(aimed) {
                    return true;
                }
            }
        }
        false
    }
}

/// Each in one way.
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
    variants.into_iter().map(Act::Asks).collect()
}
