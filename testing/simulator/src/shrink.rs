//! Making a bad history short: acts are taken out, in ever smaller groups, as long as it stays bad in the same way; then what
//! is left is made plainer. Without an act, steps come in another order, and workers are elsewhere with the same number of
//! calls, so that a blow may miss what it hit: where taking out one act makes the history good, other orders of steps are
//! tried, and the blows that are left at other calls, before the act is kept. What is bad, and in the same way, is for the
//! caller to say; what acts are, for the plan.

/// Histories that are played before the best so far is good enough.
const PATIENCE: u32 = 4_000;
const LATEST_CALL: u32 = 100;
const ORDERS: u64 = 40;

/// A plan whose acts can be taken out one by one and keep their meaning.
pub trait Plot: Clone + PartialEq {
    fn acts(&self) -> usize;

    #[must_use]
    fn without(&self, at: usize, count: usize) -> Self;

    /// Plans with as many acts, each plainer in one way.
    fn plainer(&self) -> Vec<Self>;

    /// The same in another order of steps.
    #[must_use]
    fn in_order(&self, seed: u64) -> Self;

    /// With the blow that is this act at another call; `None`: it is none.
    fn aimed(&self, at: usize, call: u32) -> Option<Self>;
}

/// The shortest plan that was found for which `is_bad` still holds.
pub fn shrink<P: Plot>(plan: &P, is_bad: impl FnMut(&P) -> bool) -> P {
    let mut search = Search { best: plan.clone(), is_bad, patience: PATIENCE };
    loop {
        let before = search.best.clone();
        search.take_out_groups();
        search.make_plainer();
        if search.best == before {
            search.take_out_one_and_aim_anew();
        }
        if search.best == before || search.patience == 0 {
            return search.best;
        }
    }
}

struct Search<P, F> {
    best: P,
    is_bad: F,
    patience: u32,
}

impl<P: Plot, F: FnMut(&P) -> bool> Search<P, F> {
    /// Whether it is as bad, and hence the best.
    fn accept(&mut self, candidate: P) -> bool {
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

    fn take_out_groups(&mut self) {
        let mut size = self.best.acts().div_ceil(2).max(1);
        loop {
            let mut at = 0;
            while at < self.best.acts() {
                if !self.accept(self.best.without(at, size)) {
                    at += size;
                }
            }
            if size == 1 {
                return;
            }
            size = size.div_ceil(2);
        }
    }

    /// Again from the first, as long as one is plainer and as bad.
    fn make_plainer(&mut self) {
        while self.best.plainer().into_iter().any(|plainer| self.accept(plainer)) {}
    }

    fn take_out_one_and_aim_anew(&mut self) {
        for at in 0..self.best.acts() {
            if self.aim_anew(&self.best.without(at, 1)) {
                return;
            }
        }
    }

    fn aim_anew(&mut self, shorter: &P) -> bool {
        if (1..=ORDERS).any(|seed| self.accept(shorter.in_order(seed))) {
            return true;
        }
        for at in 0..shorter.acts() {
            for call in 1..LATEST_CALL {
                let Some(aimed) = shorter.aimed(at, call) else { break };
                if self.accept(aimed) {
                    return true;
                }
            }
        }
        false
    }
}
