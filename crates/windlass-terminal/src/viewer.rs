//! Somebody who looks on. They see every state that lasts; of those that pass while they are slow, the last.

use tokio::sync::watch;

use crate::paint::Painter;
use crate::terminal::Terminal;

#[derive(Debug)]
pub struct Viewer {
    terminal: Terminal,
    changed: watch::Receiver<u64>,
    painter: Painter,
}

impl Viewer {
    pub(crate) fn new(terminal: Terminal, changed: watch::Receiver<u64>) -> Self {
        terminal.count_viewers(1);
        Self { terminal, changed, painter: Painter::default() }
    }

    /// What is to be written to the person's own terminal next: the whole screen first, then what has changed since they were last
    /// told. None when the program has ended and everything was shown.
    pub async fn next(&mut self) -> Option<String> {
        loop {
            self.changed.mark_unchanged();
            // Before the look: what has ended prints nothing more.
            let has_ended = self.terminal.ending().is_some();
            let painted = self.terminal.look(|screen| self.painter.paint(screen));
            if !painted.is_empty() {
                return Some(painted);
            }
            if has_ended || self.changed.changed().await.is_err() {
                return None;
            }
        }
    }

    /// The person's own terminal was wiped, or has another size: all of it is painted again.
    pub fn repaint(&mut self) {
        self.painter.forget();
    }

    pub const fn terminal(&self) -> &Terminal {
        &self.terminal
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.terminal.count_viewers(-1);
    }
}
