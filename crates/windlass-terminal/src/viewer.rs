//! Somebody who looks on. They see every state that lasts; of those that pass while they are slow, the last.

use tokio::sync::watch;

use crate::paint::Painter;
use crate::size::Size;
use crate::terminal::Terminal;

#[derive(Debug)]
pub struct Viewer {
    terminal: Terminal,
    changed: watch::Receiver<u64>,
    painter: Painter,
    /// What scrolled away is to be shown before anything else.
    owes_history: bool,
}

impl Viewer {
    pub(crate) fn new(terminal: Terminal, changed: watch::Receiver<u64>) -> Self {
        terminal.count_viewers(1);
        Self { terminal, changed, painter: Painter::default(), owes_history: false }
    }

    /// What is to be written to the person's own terminal next: the whole screen first, then what has changed since they were last
    /// told. None when the program has ended and everything was shown.
    pub async fn next(&mut self) -> Option<String> {
        loop {
            self.changed.mark_unchanged();
            // Before the look: what has ended prints nothing more.
            let has_ended = self.terminal.ending().is_some();
            let owes_history = std::mem::take(&mut self.owes_history);
            let painted = self.terminal.look(|screen| {
                // In one look, so that no line is in neither.
                let history = if owes_history { Painter::history(screen) } else { String::new() };
                history + &self.painter.paint(screen)
            });
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

    /// Before the screen is painted first.
    pub fn wants_what_scrolled_away(&mut self) {
        self.owes_history = true;
    }

    /// Of what was painted last; none before.
    pub fn size(&self) -> Option<Size> {
        self.painter.size()
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
