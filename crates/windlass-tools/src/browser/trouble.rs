//! What can go wrong with a browser, one variant per thing to do about it.

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Trouble {
    /// The model does something else; the page is as it was.
    #[error("{0}")]
    Declined(String),
    /// The browser did not do it.
    #[error("the browser refused: {0}")]
    Refused(String),
    /// There never was one.
    #[error("the browser could not be started: {0}")]
    NotStarted(String),
    /// It is no more, and the page with it.
    #[error("the browser ended: {0}")]
    Gone(String),
    /// It is there and does not answer: the page keeps it busy.
    #[error("the page did not answer within {seconds} seconds")]
    Late { seconds: u64 },
}

impl Trouble {
    /// Whether the browser can be used again.
    pub const fn spares_the_browser(&self) -> bool {
        matches!(self, Self::Declined(_) | Self::Refused(_))
    }
}
