//! Passes of the driver. Each has as many places as agents may work at once, and starts no more than that; it is over when they
//! are taken or nobody is at work, so that passes times places bound what is ever started. A pass in which nothing became less is
//! a stall.

use super::constraints::Constraints;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Passes {
    /// How many there were.
    pub iteration: u32,
    /// Stalls in a row.
    pub stall_count: u32,
    places: u32,
    /// Something was done, split or dropped in this one.
    has_progressed: bool,
}

impl Passes {
    /// Whether starting one more would need a pass that there is not.
    pub fn are_used_up(&self, constraints: &Constraints, is_anybody_busy: bool) -> bool {
        let needs_another = self.places == 0 || !is_anybody_busy;
        needs_another && constraints.max_iterations.is_some_and(|most| self.iteration >= most)
    }

    pub const fn is_stalled(&self, constraints: &Constraints) -> bool {
        self.stall_count >= constraints.max_stall_count
    }

    pub(super) fn start(&mut self, constraints: &Constraints, is_anybody_busy: bool) {
        if self.places == 0 || !is_anybody_busy {
            let is_stall = self.iteration > 0 && !self.has_progressed;
            self.stall_count = if is_stall { self.stall_count + 1 } else { 0 };
            self.iteration += 1;
            self.places = constraints.max_parallel_agents.max(1);
            self.has_progressed = false;
        }
        self.places = self.places.saturating_sub(1);
    }

    pub(super) const fn progress(&mut self) {
        self.has_progressed = true;
        self.stall_count = 0;
    }

    /// Something else is tried.
    pub(super) const fn skip(&mut self) {
        self.stall_count = 0;
    }
}
