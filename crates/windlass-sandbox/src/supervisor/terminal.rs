//! A pseudo-terminal for one command, of the sandbox's own: opened in here, it has a name in the `/dev/pts` that the command
//! sees, which one of the owner's would not.

use std::{io, os::fd::OwnedFd};

use rustix::{
    pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt},
    termios::{Winsize, tcsetwinsize},
};

pub(crate) struct Terminal {
    /// For the owner, and not kept in here: it ends when the owner lets go of it.
    pub(crate) owners_end: OwnedFd,
    /// What the command has as its standard streams.
    pub(crate) commands_end: OwnedFd,
}

impl Terminal {
    pub(crate) fn open(rows: u16, cols: u16) -> io::Result<Self> {
        // Never ours, who lead a session too and have no terminal: a key could end us.
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let owners_end = openpt(flags)?;
        unlockpt(&owners_end)?;
        let commands_end = ioctl_tiocgptpeer(&owners_end, flags)?;
        tcsetwinsize(&owners_end, Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 })?;
        Ok(Self { owners_end, commands_end })
    }
}
