//! A pseudo-terminal for one command, of the sandbox's own: opened in here, it has a name in the `/dev/pts` that the command
//! sees, which one of the owner's would not.

use std::{io, os::fd::OwnedFd};

use rustix::{
    pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt},
    termios::{Winsize, tcsetwinsize},
};

pub(crate) struct Terminal {
    /// For the owner, and not kept in here: it ends when the owner lets go of it.
    pub(crate) keyboard_and_screen: OwnedFd,
    /// What the command has as its standard streams.
    pub(crate) line: OwnedFd,
}

impl Terminal {
    pub(crate) fn open(rows: u16, cols: u16) -> io::Result<Self> {
        // Never ours, who lead a session too and have no terminal: a key could end us.
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let keyboard_and_screen = openpt(flags)?;
        unlockpt(&keyboard_and_screen)?;
        let line = ioctl_tiocgptpeer(&keyboard_and_screen, flags)?;
        tcsetwinsize(&keyboard_and_screen, Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 })?;
        Ok(Self { keyboard_and_screen, line })
    }
}
