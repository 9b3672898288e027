//! Two ways to kill the program: it dies by itself at a named point, or somebody kills it after a while.

use std::fmt;
use std::time::Duration;

use windlass_engine::TripwirePoint;

use crate::support::{Ended, Program};

#[derive(Debug, Clone, Copy)]
pub enum Kill {
    /// The `n`-th time it passes the point.
    At {
        point: TripwirePoint,
        n: u32,
    },
    After(Duration),
}

impl fmt::Display for Kill {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At { point, n } => write!(out, "{}:{n}", point.name()),
            Self::After(delay) => write!(out, "after {delay:?}"),
        }
    }
}

impl Kill {
    /// Runs the program until it is dead, or has ended before it could be killed.
    pub fn apply(self, program: Program) -> Ended {
        match self {
            Self::At { point, n } => program.env("WINDLASS_CRASH_AT", &format!("{}:{n}", point.name())).run(),
            Self::After(delay) => {
                let mut child = program.start_unheard();
                std::thread::sleep(delay);
                child.kill().expect("it has not been waited for");
                let status = child.wait().expect("waited for");
                Ended { status, stdout: String::new(), stderr: String::new() }
            }
        }
    }
}
