//! What a user saw, compared with what they should see: the program's words as inline snapshots.

/// What a user saw, as an inline snapshot. `tokens aside` where they are an estimate of a prompt that may change.
macro_rules! assert_shown {
    ($home:expr, $ended:expr, tokens aside, @$snapshot:literal) => {
        insta::assert_snapshot!($crate::support::shown_but_tokens(&$home, &$ended), @$snapshot)
    };
    ($home:expr, $ended:expr, @$snapshot:literal) => {
        insta::assert_snapshot!($crate::support::shown(&$home, &$ended), @$snapshot)
    };
}
pub(super) use assert_shown;
