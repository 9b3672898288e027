//! What happens when the disk does not confirm a write. The commits in flight may or may not be there, and a disk that failed
//! one sync may report the next as done without having done it. So there is no going on: the process ends, and the next one
//! reads what is really there. A crash is something this system is built for; a wrong answer is not.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::error::Error;

/// Called once, from whatever thread met the failure, with a sentence for a person. It should end the process; should it
/// return, as in tests, every further commit is refused with `Error::Halted`.
#[derive(Clone)]
pub struct Halt(Arc<dyn Fn(&str) + Send + Sync>);

impl Halt {
    pub fn new(act: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(act))
    }

    /// Says so on standard error and aborts.
    pub fn abort() -> Self {
        Self::new(|sentence| {
            #[expect(clippy::print_stderr, reason = "the process ends here, and nobody else is left to say why")]
            {
                eprintln!("windlass: {sentence}");
            }
            std::process::abort();
        })
    }
}

impl fmt::Debug for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Halt")
    }
}

/// Whether the store still accepts commits, and if not, why. Shared by everything that writes to the disk.
#[derive(Debug, Clone)]
pub(super) struct Trust {
    halt: Halt,
    lost: Arc<OnceLock<Error>>,
}

impl Trust {
    pub(super) fn new(halt: Halt) -> Self {
        Self { halt, lost: Arc::default() }
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        self.lost.get().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// The disk did not confirm a write.
    pub(super) fn halt(&self, detail: impl Into<String>) -> Error {
        let error = Error::Halted { detail: detail.into() };
        if self.lost.set(error.clone()).is_ok() {
            (self.halt.0)(&error.to_string());
        }
        error
    }

    /// The file is damaged: reading what can be read may go on, writing would make it worse.
    pub(super) fn found_damage(&self, error: &Error) {
        // Only the first reason is kept.
        let _ = self.lost.set(error.clone());
    }
}
