//! The owner's end of a command's terminal, which the supervisor has opened. What comes from it is bytes and nothing more: what
//! they mean is for an emulator to say, never for the owner's own terminal.

use std::{io, os::fd::OwnedFd};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
    io::Errno,
    termios::{SpecialCodeIndex, Winsize, tcgetattr, tcsetwinsize},
};
use tokio::{io::unix::AsyncFd, sync::Mutex};

use super::pipes::{READING, WRITING};
use crate::Error;

/// More than a terminal holds.
const READ_SIZE: usize = 16 << 10;

pub(crate) struct Terminal {
    end: AsyncFd<OwnedFd>,
    /// One types at a time.
    keyboard: Mutex<()>,
}

impl Terminal {
    pub(crate) fn new(end: OwnedFd) -> io::Result<Self> {
        fcntl_setfl(&end, fcntl_getfl(&end)? | OFlags::NONBLOCK)?;
        #[expect(unsafe_code, reason = "a descriptor is watched, which must stay the same and open while it is")]
        // SAFETY: an `OwnedFd` names one open file as long as it lives, and it lives in the watch itself.
        let end = unsafe { AsyncFd::register(end) }?;
        Ok(Self { end, keyboard: Mutex::new(()) })
    }

    pub(crate) async fn read(&self) -> Result<Vec<u8>, Error> {
        let take = |end: &AsyncFd<OwnedFd>| {
            let mut buffer = [0; READ_SIZE];
            let length = rustix::io::read(end.get_ref(), &mut buffer)?;
            Ok(buffer[..length].to_vec())
        };
        loop {
            let mut ready = self.end.readable().await.map_err(Error::io(READING))?;
            match ready.try_io(take) {
                Ok(Ok(piece)) => return Ok(piece),
                // So Linux says that nobody has the other end any more.
                Ok(Err(error)) if error.raw_os_error() == Some(Errno::IO.raw_os_error()) => return Ok(Vec::new()),
                Ok(Err(error)) => return Err(Error::io(READING)(error)),
                Err(_too_early) => {}
            }
        }
    }

    pub(crate) async fn write(&self, mut bytes: &[u8]) -> Result<(), Error> {
        let _one_at_a_time = self.keyboard.lock().await;
        while !bytes.is_empty() {
            let mut ready = self.end.writable().await.map_err(Error::io(WRITING))?;
            if self.is_hung_up() {
                return Err(Error::io(WRITING)(io::Error::from(io::ErrorKind::BrokenPipe)));
            }
            match ready.try_io(|end| Ok(rustix::io::write(end.get_ref(), bytes)?)) {
                Ok(written) => bytes = &bytes[written.map_err(Error::io(WRITING))?..],
                Err(_too_early) => {}
            }
        }
        Ok(())
    }

    /// Nobody has the other end any more. What is typed then would be taken all the same.
    fn is_hung_up(&self) -> bool {
        let mut polled = [PollFd::new(self.end.get_ref(), PollFlags::empty())];
        let _ = poll(&mut polled, Some(&Timespec::default()));
        polled[0].revents().contains(PollFlags::HUP)
    }

    /// Types the character that ends a program's reading, whichever that is now. A program may have none.
    pub(crate) async fn end_of_file(&self) {
        let character = tcgetattr(self.end.get_ref()).map_or(0, |modes| modes.special_codes[SpecialCodeIndex::VEOF]);
        if character != 0 {
            // Whoever has ended does not read it.
            let _ = self.write(&[character]).await;
        }
    }

    pub(crate) fn resize(&self, rows: u16, cols: u16) -> Result<(), Error> {
        if rows == 0 || cols == 0 {
            return Err(Error::command("a terminal must have a row and a column at least"));
        }
        let size = Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(self.end.get_ref(), size).map_err(Error::io("resize a terminal"))
    }
}
