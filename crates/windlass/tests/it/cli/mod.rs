//! The paths that a newcomer takes, the right ones and the wrong ones: exit code, standard output, standard error.

mod cancelling;
mod doctor;
mod json;
mod limits;
mod looking;
mod pausing;
mod resuming;
mod running;
mod scripts;
mod secrets;
mod served;
mod together;
mod wrong_use;

/// What a user saw, as an inline snapshot.
macro_rules! assert_shown {
    ($home:expr, $ended:expr, @$snapshot:literal) => {
        insta::assert_snapshot!($crate::support::shown(&$home, &$ended), @$snapshot)
    };
}
use assert_shown;
