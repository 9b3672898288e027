//! Dice with a seed: the same seed throws the same, so a failure can be had again. SplitMix64.

pub struct Dice {
    state: u64,
}

impl Dice {
    pub const fn seeded(seed: u64) -> Self {
        Self { state: seed }
    }

    pub const fn throw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub const fn below(&mut self, bound: u64) -> u64 {
        self.throw() % bound
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}
