//! What befalls the processes of a history. All of it follows from one seed, and is printed when a history is bad.

use std::time::Duration;

use crate::dice::Dice;
use crate::fuse::Fate;
use crate::plant::Plant;

#[derive(Debug, Clone)]
pub struct Plan {
    /// For everything that chance decides while it is played.
    pub seed: u64,
    /// At which call each worker process, in the order of their starts, meets what. Those after the last live on.
    pub fates: Vec<(u64, Fate)>,
    /// How long nobody does anything after a process is gone.
    pub gap: Duration,
    pub proof: Proof,
    pub plant: Plant,
}

/// How processes tell that another is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    Heartbeat,
    /// File locks, as on one host.
    Lock,
}

impl Plan {
    /// Nothing bad happens.
    pub fn clean(seed: u64) -> Self {
        Self { seed, fates: Vec::new(), gap: Duration::from_secs(2), proof: Proof::Heartbeat, plant: Plant::Nothing }
    }

    /// One process dies at its `call`-th call.
    pub fn one_death(seed: u64, call: u64) -> Self {
        Self { fates: vec![(call, Fate::Dies)], ..Self::clean(seed) }
    }

    /// Several processes in a row die or stall, each somewhere in the first `calls` of its calls.
    pub fn misfortunes(seed: u64, calls: u64) -> Self {
        // Another stream of numbers than the one the history is played with.
        let mut dice = Dice::new(seed ^ 0x5EED_0F_7A7E);
        let count = 1 + dice.below(5);
        let fates = (0..count).map(|_| (1 + dice.below(calls), fate(&mut dice))).collect();
        let gap = Duration::from_secs(dice.pick(&[0, 1, 7, 30, 3 * 3_600]));
        let proof = dice.pick(&[Proof::Heartbeat, Proof::Lock]);
        Self { fates, gap, proof, ..Self::clean(seed) }
    }

    #[must_use]
    pub fn with_plant(mut self, plant: Plant) -> Self {
        self.plant = plant;
        self
    }
}

fn fate(dice: &mut Dice) -> Fate {
    match dice.below(4) {
        0 => Fate::Stalls(Duration::from_secs(1 + dice.below(60))),
        _ => Fate::Dies,
    }
}
