//! A pseudo-terminal of this machine: one end for us, the other for a program.

use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::line::Line;
use crate::size::Size;

/// Our end.
#[derive(Debug, Clone)]
pub struct Pty {
    master: Arc<AsyncFd<OwnedFd>>,
}

/// Our end, and the one that a program has as its standard input, output and error.
pub fn open_pty(size: Size) -> io::Result<(Pty, OwnedFd)> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let name = ptsname(&master, Vec::new())?;
    let slave = open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    set_size(&master, size)?;
    fcntl_setfl(&master, fcntl_getfl(&master)? | OFlags::NONBLOCK)?;
    #[expect(unsafe_code, reason = "a descriptor is watched, which must stay the same and open while it is")]
    // SAFETY: an `OwnedFd` names one open file as long as it lives, and lives in the watch itself.
    let master = unsafe { AsyncFd::register(master) }?;
    Ok((Pty { master: Arc::new(master) }, slave))
}

fn set_size(master: &OwnedFd, size: Size) -> io::Result<()> {
    let Size { cols, rows } = size.within_bounds();
    Ok(tcsetwinsize(master, Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 })?)
}

impl Pty {
    pub fn line(self) -> Line {
        let resized = self.clone();
        let resize = Box::new(move |size| set_size(resized.master.get_ref(), size));
        Line { from: Box::new(self.clone()), to: Box::new(self), resize }
    }
}

impl AsyncRead for Pty {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            let mut guard = ready!(self.master.poll_read_ready(context))?;
            let read = guard.try_io(|master| Ok(rustix::io::read(master.get_ref(), into.initialize_unfilled())?));
            return Poll::Ready(match read {
                Err(_would_block) => continue,
                Ok(Ok(length)) => {
                    into.advance(length);
                    Ok(())
                }
                // So Linux says that nobody has the other end any more.
                Ok(Err(error)) if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) => Ok(()),
                Ok(Err(error)) => Err(error),
            });
        }
    }
}

impl AsyncWrite for Pty {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            let mut guard = ready!(self.master.poll_write_ready(context))?;
            match guard.try_io(|master| Ok(rustix::io::write(master.get_ref(), bytes)?)) {
                Err(_would_block) => {}
                Ok(written) => return Poll::Ready(written),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
