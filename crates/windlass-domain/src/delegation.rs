//! How far an agent may hand work on to agents of its own (seed 000 §9, §17.1).

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delegation {
    /// How many generations below the agent that a task was given to. Whoever stands at the end of the line spawns nobody.
    pub max_depth: u32,
    /// How long an agent works for whom nothing else was said.
    pub default_timeout_seconds: u64,
    /// How many agents of one parent work at a time.
    pub max_parallel: usize,
}

impl Default for Delegation {
    fn default() -> Self {
        Self { max_depth: 2, default_timeout_seconds: 300, max_parallel: 8 }
    }
}

impl Delegation {
    /// Whether an agent of this generation, the first being 0, may spawn others.
    pub const fn may_spawn(&self, depth: u32) -> bool {
        depth < self.max_depth
    }
}
