//! The end of a server: no new connections, an answer to what was asked, and then no connection. A `watch` channel and not the
//! engine's `CancelSignal`, which remembers everybody who ever waited for it: connections come and go by the thousand.

use tokio::sync::watch;

/// Whoever has it says when the end begins.
#[derive(Debug)]
pub struct Drain(watch::Sender<bool>);

impl Default for Drain {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl Drain {
    pub fn begin(&self) {
        self.0.send_replace(true);
    }

    pub(crate) fn watched(&self) -> Draining {
        Draining(self.0.subscribe())
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Draining(watch::Receiver<bool>);

impl Draining {
    pub fn has_begun(&self) -> bool {
        *self.0.borrow()
    }

    /// Returns when it begins. Whoever could have said so and is gone has said it.
    pub async fn begins(&mut self) {
        let _gone_is_the_end_too = self.0.wait_for(|begun| *begun).await;
    }
}
