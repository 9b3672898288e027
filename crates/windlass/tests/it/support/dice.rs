//! Numbers that look random and are the same for the same seed.

pub struct Dice(u64);

impl Dice {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Splitmix64.
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From zero up to one.
    pub fn fraction(&mut self) -> f64 {
        f64::from(u32::try_from(self.roll() >> 32).expect("32 bits")) / f64::from(u32::MAX)
    }

    /// Below this.
    pub fn below(&mut self, most: usize) -> usize {
        (self.roll() >> 33) as usize % most
    }
}
