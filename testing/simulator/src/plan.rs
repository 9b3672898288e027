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
    /// When somebody else begins to wait for the task, although it is being worked on.
    pub rival: Option<Duration>,
    /// When the operator acts, where that is not left to the seed.
    pub moment: Option<Duration>,
    pub hints: Hints,
    pub plant: Plant,
}

/// What becomes of the store's hints that something has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hints {
    /// Nothing may depend on them.
    Lost,
    /// As in production, for what they are there for: to be quick.
    Heard,
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
        let (fates, gap, proof) = (Vec::new(), Duration::from_secs(2), Proof::Heartbeat);
        let (rival, moment, hints, plant) = (None, None, Hints::Lost, Plant::Nothing);
        Self { seed, fates, gap, proof, rival, moment, hints, plant }
    }

    /// One process dies at its `call`-th call.
    pub fn one_death(seed: u64, call: u64) -> Self {
        Self { fates: vec![(call, Fate::Dies)], ..Self::clean(seed) }
    }

    /// Several processes in a row die or stall, each somewhere in the first `calls` of its calls.
    pub fn misfortunes(seed: u64, calls: u64) -> Self {
        // Another stream of numbers than the one the history is played with.
        let mut dice = Dice::new(seed ^ 0x5EED_7A7E);
        let count = 1 + dice.below(5);
        let fates = (0..count).map(|_| (1 + dice.below(calls), fate(&mut dice))).collect();
        let gap = Duration::from_secs(dice.pick(&[0, 1, 7, 30, 3 * 3_600]));
        let proof = dice.pick(&[Proof::Heartbeat, Proof::Lock]);
        let rival = Some(Duration::from_millis(dice.below(20_000))).filter(|_| dice.below(3) == 0);
        Self { fates, gap, proof, rival, ..Self::clean(seed) }
    }

    pub fn stalls(&self) -> bool {
        self.fates.iter().any(|(_, fate)| matches!(fate, Fate::Stalls(_)))
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
