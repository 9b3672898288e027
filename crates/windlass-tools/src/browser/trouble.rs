//! What can go wrong with a browser, one variant per thing to do about it.

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Trouble {
    /// The model does something else; the page is as it was.
    #[error("{0}")]
    Declined(String),
    /// The browser did not do it.
    #[error("the browser refused: {0}")]
    Refused(String),
    /// The browser broke off in the middle of acting on the page; it is there, and so is some page.
    #[error("the browser broke off: {0}. Whether it took effect is not known; look at the page first")]
    Unclear(String),
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
        matches!(self, Self::Declined(_) | Self::Refused(_) | Self::Unclear(_))
    }

    /// Of what acts on the page, a refusal is no proof that nothing was done.
    pub fn unclear(self) -> Self {
        match self {
            Self::Refused(why) => Self::Unclear(why),
            other => other,
        }
    }
}
