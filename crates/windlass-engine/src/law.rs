//! The rules an operator has laid down, which every call and message is held against: gates, the table of risks, where data
//! may go, and how long a card waits. They are handed in once, and no agent sees them.

use std::path::PathBuf;
use std::time::Duration;

use windlass_domain::Delegation;
use windlass_domain::approval::DEFAULT_LIFETIME;
use windlass_domain::coordinate::ConcurrencyConfig;
use windlass_policy::gate::Gate;
use windlass_policy::risk::Table;

pub struct Law {
    /// In the order of the operator's file. Seed 000's levels of risk hold besides, always.
    pub gates: Vec<Gate>,
    pub table: Table,
    /// Where data of an external context may go unasked.
    pub allowed_hosts: Vec<String>,
    pub card_lifetime: Duration,
    /// Whether a task may begin that nobody signed.
    pub unsigned: Unsigned,
    /// Who works on items of plans, by id. None: whoever they name is there.
    pub agents: Option<Vec<String>>,
    /// How much goes on at once in conversations.
    pub concurrency: ConcurrencyConfig,
    /// How far work is handed on.
    pub delegation: Delegation,
    /// The folder that scripts of gates are run from, where there are any.
    pub scripts: Option<PathBuf>,
    /// The sandbox they are run in, whatever the task's own is.
    pub sandbox: String,
}

/// A task whose issuer signed nothing: from before there were keys, or with its approval taken out by somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsigned {
    Allowed,
    Refused,
}

impl Default for Law {
    fn default() -> Self {
        Self::new(Table::shipped())
    }
}

impl Law {
    /// With no rules but those of this table.
    pub fn new(table: Table) -> Self {
        Self {
            gates: Vec::new(),
            table,
            allowed_hosts: Vec::new(),
            card_lifetime: DEFAULT_LIFETIME,
            unsigned: Unsigned::Allowed,
            agents: Some(vec!["executor".to_owned()]),
            concurrency: ConcurrencyConfig::default(),
            delegation: Delegation::default(),
            scripts: None,
            sandbox: "bubblewrap".to_owned(),
        }
    }

    /// Or why not.
    pub(crate) fn unsigned_may_run(&self) -> Result<(), String> {
        match self.unsigned {
            Unsigned::Allowed => Ok(()),
            Unsigned::Refused => {
                Err("nobody signed it; an earlier version may have taken it in: start it anew".to_owned())
            }
        }
    }
}
