//! A line over a pseudo-terminal of this machine: one end for us, the other for a program.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tokio::io::unix::AsyncFd;
use windlass_terminal::{BoxFuture, Line, Size};

/// Our end.
pub struct Pty(AsyncFd<OwnedFd>);

/// Our end, and the one that a program has as its standard input, output and error.
pub fn open_pty(size: Size) -> io::Result<(Pty, OwnedFd)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let ours = openpt(flags)?;
    unlockpt(&ours)?;
    let theirs = ioctl_tiocgptpeer(&ours, flags)?;
    fcntl_setfl(&ours, fcntl_getfl(&ours)? | OFlags::NONBLOCK)?;
    #[expect(unsafe_code, reason = "a descriptor is watched, which must stay the same and open while it is")]
    // SAFETY: an `OwnedFd` names one open file as long as it lives, and lives in the watch itself.
    let pty = Pty(unsafe { AsyncFd::register(ours) }?);
    pty.resize(size)?;
    Ok((pty, theirs))
}

impl Line for Pty {
    fn read(&self) -> BoxFuture<'_, io::Result<Vec<u8>>> {
        Box::pin(async {
            let mut piece = vec![0; 16 << 10];
            loop {
                let mut ready = self.0.readable().await?;
                match ready.try_io(|ours| Ok(rustix::io::read(ours.get_ref(), &mut piece[..])?)) {
                    Ok(Ok(length)) => {
                        piece.truncate(length);
                        return Ok(piece);
                    }
                    // So Linux says that nobody has the other end any more.
                    Ok(Err(error)) if error.raw_os_error() == Some(Errno::IO.raw_os_error()) => return Ok(Vec::new()),
                    Ok(Err(error)) => return Err(error),
                    Err(_too_early) => {}
                }
            }
        })
    }

    fn write<'a>(&'a self, mut bytes: &'a [u8]) -> BoxFuture<'a, io::Result<()>> {
        Box::pin(async move {
            while !bytes.is_empty() {
                let mut ready = self.0.writable().await?;
                match ready.try_io(|ours| Ok(rustix::io::write(ours.get_ref(), bytes)?)) {
                    Ok(written) => bytes = &bytes[written?..],
                    Err(_too_early) => {}
                }
            }
            Ok(())
        })
    }

    fn resize(&self, size: Size) -> io::Result<()> {
        let Size { cols, rows } = size;
        Ok(tcsetwinsize(self.0.get_ref(), Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 })?)
    }
}
