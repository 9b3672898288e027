//! All terminals of a process, by the name of what runs in them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::line::Line;
use crate::terminal::{Options, Terminal};

/// Each has a screen and what scrolled away of it in memory.
const MOST: usize = 1_000;

#[derive(Debug, Clone, Default)]
pub struct Terminals {
    open: Arc<Mutex<BTreeMap<String, Terminal>>>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unopened {
    #[error("{0} has a terminal already: attach to it")]
    Taken(String),
    #[error("there are {0} terminals already: close one first")]
    TooMany(usize),
}

impl Terminals {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Terminal>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// With what carries everything to and fro while somebody drives it.
    pub fn open(
        &self,
        name: &str,
        line: Arc<dyn Line>,
        options: Options,
    ) -> Result<(Terminal, impl Future<Output = ()> + Send + use<>), Unopened> {
        let mut open = self.lock();
        if open.len() >= MOST {
            return Err(Unopened::TooMany(open.len()));
        }
        match open.entry(name.to_owned()) {
            Entry::Occupied(_) => Err(Unopened::Taken(name.to_owned())),
            Entry::Vacant(free) => {
                let (terminal, carrying) = Terminal::open(line, options);
                Ok((free.insert(terminal).clone(), carrying))
            }
        }
    }

    pub fn get(&self, name: &str) -> Option<Terminal> {
        self.lock().get(name).cloned()
    }

    pub fn names(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    /// Those who look on see it to its end.
    pub fn close(&self, name: &str) -> Option<Terminal> {
        self.lock().remove(name)
    }
}
