//! What a person types at a terminal, a line at a time. Whoever listens gets the time back every moment, because an answer may
//! come from elsewhere; a line that nobody has taken yet stays with the terminal.

use std::io::IsTerminal as _;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{QueueSelector, tcflush};
use windlass_domain::Runtime;

const MOMENT: Duration = Duration::from_millis(250);
/// A terminal hands out no longer line than this.
const LONGEST_LINE: usize = 4_096;

#[derive(Debug, Clone, Copy)]
pub struct Keyboard(());

pub enum Typed {
    Line(String),
    /// Not in this moment.
    Nothing,
    /// There is nobody any more.
    Gone,
}

impl Keyboard {
    /// None where nobody sits: whoever answers must have seen the question.
    pub fn look() -> Option<Self> {
        (std::io::stdin().is_terminal() && std::io::stdout().is_terminal()).then_some(Self(()))
    }

    /// What was typed before a question was asked is no answer to it.
    pub fn forget(self) {
        let _is_no_terminal_any_more = tcflush(std::io::stdin(), QueueSelector::IFlush);
    }

    pub async fn listen(self, runtime: &dyn Runtime) -> Typed {
        runtime.blocking(typed).await
    }
}

fn typed() -> Typed {
    let stdin = std::io::stdin();
    let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
    let moment = Timespec { tv_sec: 0, tv_nsec: i64::from(MOMENT.subsec_nanos()) };
    // A signal that comes meanwhile is for others to heed.
    if !matches!(poll(&mut ready, Some(&moment)), Ok(1..)) {
        return Typed::Nothing;
    }
    let mut bytes = [0; LONGEST_LINE];
    match rustix::io::read(&stdin, &mut bytes) {
        Ok(length @ 1..) => Typed::Line(String::from_utf8_lossy(&bytes[..length]).trim().to_owned()),
        Ok(0) => Typed::Gone,
        Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => Typed::Nothing,
        Err(_) => Typed::Gone,
    }
}
