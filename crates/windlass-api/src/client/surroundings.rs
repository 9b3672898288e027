//! What the client takes from the program that it is part of: time that passes, and numbers that nobody guesses.

use std::pin::Pin;
use std::time::Duration;

use futures_util::future::{Either, select};

pub type Pause = Pin<Box<dyn Future<Output = ()> + Send>>;

pub trait Surroundings: Send + Sync {
    fn pause(&self, how_long: Duration) -> Pause;

    /// One that was never used.
    fn fresh_key(&self) -> String;
}

/// None: it took longer than that.
pub(super) async fn within<F: Future>(around: &dyn Surroundings, limit: Duration, what: F) -> Option<F::Output> {
    let what = std::pin::pin!(what);
    match select(what, around.pause(limit)).await {
        Either::Left((done, _)) => Some(done),
        Either::Right(((), _)) => None,
    }
}
