//! Showing somebody a page in the browser of their own desktop, where they have one. It is the desktop's program that is started, by
//! its owner and for its owner; agents have nothing to do with it.

#![expect(
    clippy::disallowed_methods,
    reason = "what the owner of the terminal asks to see is shown by the owner's own desktop, not in a sandbox"
)]

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// How it goes on, and whether there is a program for it, is between the desktop and its owner.
pub fn open(page: &Path) {
    let mut command = Command::new(OPENER);
    command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Its own group, so that closing this terminal or Ctrl-C in it is nothing to the browser.
    let _nobody_waits = command.process_group(0).spawn();
}
