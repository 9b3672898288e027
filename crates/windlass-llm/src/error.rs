//! What can go wrong with a model, one variant for each thing a caller would do differently. Text from a provider is
//! capped, made visible and rid of the key before it gets here.

use std::time::Duration;

use windlass_domain::{Usage, Usd};

use crate::models::BadModels;
use crate::rehearsal::Problems;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operator's mistake: an address or certificate store that cannot work.
    #[error("{0}")]
    Misconfigured(String),

    #[error("the provider refused the key (status {status}: {detail}); set {variable} to one that it accepts")]
    KeyRefused { status: u16, variable: &'static str, detail: String },

    #[error("the provider has no model `{model}` for this key (status {status}: {detail}); name one that it has")]
    UnknownModel { model: String, status: u16, detail: String },

    /// The conversation no longer fits; a shorter one may.
    #[error("the conversation is longer than `{model}` takes ({detail}); shorten it")]
    ContextOverflow { model: String, detail: String },

    #[error("the account behind the key has no credit or quota left ({detail}); add some, or use another key")]
    OutOfCredit { detail: String },

    /// The request itself is wrong and will be wrong the next time too.
    #[error("the provider rejected the request (status {status}: {detail}); mend it, asking again will not help")]
    Rejected { status: u16, detail: String },

    #[error("{url} does not answer like a model server ({detail}); check the base URL")]
    NotAModelServer { url: String, detail: String },

    /// An answer came that nobody can work with. What it has used is spent all the same.
    #[error("{what}; ask for less")]
    Unusable { what: Unusable, lost: Usage, lost_cost: Option<Usd> },

    /// Every try failed for a reason that may pass. `lost` is what the tries are known or thought to have used.
    #[error("the model did not answer in {}, the last time because {reason}; try again later", in_words(*tries))]
    Unavailable { reason: String, tries: u32, lost: Usage, lost_cost: Option<Usd> },

    #[error("the rehearsal script has nothing for track `{track}` at turn {turn} ({detail}); add an entry")]
    OffScript { track: String, turn: u32, detail: String },

    #[error("the rehearsal script cannot be played:\n{0}")]
    Script(#[from] Problems),

    #[error(transparent)]
    Models(#[from] BadModels),
}

impl Error {
    /// What the tries that failed are known or thought to have used. A request that was refused was not worked on.
    pub fn lost(&self) -> (Usage, Option<Usd>) {
        match self {
            Self::Unavailable { lost, lost_cost, .. } | Self::Unusable { lost, lost_cost, .. } => (*lost, *lost_cost),
            _ => (Usage::default(), None),
        }
    }

    /// Whether the same request may succeed later with nothing changed.
    pub const fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable { .. })
    }
}

fn in_words(tries: u32) -> String {
    if tries == 1 { "1 try".to_owned() } else { format!("{tries} tries") }
}

/// What is wrong with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    #[error("the answer is longer than the {limit} bytes that are allowed")]
    TooLong { limit: usize },
    #[error("the answer asks for more than {limit} tool calls at once")]
    TooManyCalls { limit: usize },
}

impl Unusable {
    /// What such an answer has used, where `heard` is what was read of it: one that is too long may never have been.
    pub(crate) fn used(self, heard: Usage, prompt: u64) -> Usage {
        const BYTES_PER_TOKEN: u64 = 4;
        match self {
            Self::TooLong { limit } => {
                let least = u64::try_from(limit).unwrap_or(u64::MAX) / BYTES_PER_TOKEN;
                Usage { input: heard.input.max(prompt), output: heard.output.max(least), ..heard }
            }
            Self::TooManyCalls { .. } => heard,
        }
    }
}

/// How one try failed: worth another, or not.
#[derive(Debug)]
pub enum Failure {
    Transient {
        reason: String,
        retry_after: Option<Duration>,
    },
    /// The same, once all was sent: it may have been read, and nothing was heard of it.
    Unheard {
        reason: String,
    },
    Unusable(Unusable),
    Final(Error),
}

impl Failure {
    pub fn transient(reason: impl Into<String>) -> Self {
        Self::Transient { reason: reason.into(), retry_after: None }
    }

    /// A deadline has passed.
    pub fn too_late(what: &str, limit: Duration) -> Self {
        Self::transient(in_time(what, limit))
    }

    /// The same, for the first word.
    pub fn never_began(limit: Duration) -> Self {
        Self::Unheard { reason: in_time("did not begin to answer", limit) }
    }
}

fn in_time(what: &str, limit: Duration) -> String {
    format!("the provider {what} for {} s", limit.as_secs_f64())
}

impl From<Unusable> for Failure {
    fn from(what: Unusable) -> Self {
        Self::Unusable(what)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Final(error)
    }
}
