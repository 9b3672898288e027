//! A person's own terminal while it shows another's: every key as it is pressed, a page of its own, and all as it was before on every way
//! out.

use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::stdio::{stdin, stdout};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use windlass_terminal::Size;

const MOMENT: Duration = Duration::from_millis(100);
const ENTER: &[u8] = b"\x1b[?1049h\x1b[2J";
const LEAVE: &[u8] = b"\x1b[0m\x1b[?25h\x1b[?2004l\x1b[?1049l";

/// A page of its own; dropped, what was there before is there again.
pub struct Page(());

impl Page {
    pub fn turn() -> std::io::Result<Self> {
        write_out(ENTER)?;
        Ok(Self(()))
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _nobody_sees_it = write_out(LEAVE);
    }
}

/// Every key as it is pressed, on a page of its own. Dropped, it is as it was.
pub struct Raw {
    before: Termios,
    _page: Page,
}

impl Raw {
    pub fn enter() -> std::io::Result<Self> {
        let before = tcgetattr(stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        let page = Page::turn()?;
        tcsetattr(stdin(), OptionalActions::Now, &raw)?;
        Ok(Self { before, _page: page })
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _is_no_terminal_any_more = tcsetattr(stdin(), OptionalActions::Flush, &self.before);
    }
}

/// How much there is, where both ends are a terminal.
pub fn room() -> Option<Size> {
    use std::io::IsTerminal as _;
    let size = tcgetwinsize(stdout()).ok()?;
    let is_one = std::io::stdin().is_terminal() && size.ws_col > 0 && size.ws_row > 0;
    is_one.then_some(Size { cols: size.ws_col, rows: size.ws_row })
}

/// All rows but the last, which is ours.
pub fn beside_ours(size: Size) -> Size {
    Size { rows: size.rows.saturating_sub(1).max(1), ..size }
}

/// All of it, past whatever queue there is.
pub fn write_out(mut bytes: &[u8]) -> std::io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(stdout(), bytes) {
            Ok(length) => bytes = &bytes[length..],
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => {
                let mut ready = [PollFd::from_borrowed_fd(stdout(), PollFlags::OUT)];
                let _looked = poll(&mut ready, None);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// What was pressed in this moment: empty where nothing was, none where nobody is there any more.
pub fn pressed() -> Option<Vec<u8>> {
    let mut ready = [PollFd::from_borrowed_fd(stdin(), PollFlags::IN)];
    let moment = Timespec { tv_sec: 0, tv_nsec: i64::from(MOMENT.subsec_nanos()) };
    if !matches!(poll(&mut ready, Some(&moment)), Ok(1..)) {
        return Some(Vec::new());
    }
    let mut bytes = [0; 4_096];
    match rustix::io::read(stdin(), &mut bytes) {
        Ok(length @ 1..) => Some(bytes[..length].to_vec()),
        Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => Some(Vec::new()),
        Ok(0) | Err(_) => None,
    }
}
