//! Ctrl-C, and what a terminal or a service manager sends when it goes away. From the first look on, such a signal no longer
//! ends the program by itself: whoever looks must heed it.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Which of them came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signalled {
    Interrupt,
    Terminate,
    HangUp,
}

pub struct Interrupts {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Interrupts {
    pub fn new() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    pub async fn next(&mut self) {
        self.which().await;
    }

    pub async fn which(&mut self) -> Signalled {
        tokio::select! {
            _ = self.interrupt.recv() => Signalled::Interrupt,
            _ = self.terminate.recv() => Signalled::Terminate,
            _ = self.hang_up.recv() => Signalled::HangUp,
        }
    }
}
