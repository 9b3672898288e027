//! What the console costs in a browser. A real Chromium is driven by the console's own tools (`web/bench`), which print their figures; here
//! they are only asked for. Without Node, what npm installs, or a Chromium there is nothing to measure with.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

/// What `web/bench` prints.
#[derive(Debug, Serialize, Deserialize)]
pub struct Figures {
    /// Everything that the first page has asked for, as it was sent.
    pub first_load_kb: f64,
    /// From the address to the page that can be used.
    pub first_page_ms: f64,
    /// From an event's time to a frame that shows it.
    pub pixel_ms: Spread,
    /// The same events, heard by a program that draws nothing.
    pub heard_ms: Spread,
    pub items: usize,
    /// Between frames while the items are scrolled from one end to the other.
    pub frame_ms: Spread,
    /// The same of a page of that height with nothing on it.
    pub empty_frame_ms: Spread,
    pub atoms: usize,
    pub graph_ms: f64,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Spread {
    pub median: f64,
    /// One in twenty is worse.
    pub p95: f64,
}

/// What there has to be, or which of it is missing.
pub fn tools() -> Result<PathBuf, &'static str> {
    let web = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../web"));
    if !web.join("node_modules").is_dir() || !web.join("dist/console/index.html").is_file() {
        return Err("make console");
    }
    if !Path::new("/usr/bin/chromium").is_file() {
        return Err("scripts/setup browser");
    }
    Ok(web.to_path_buf())
}

pub fn command(web: &Path, windlass: &Path) -> Command {
    #[expect(clippy::disallowed_methods, reason = "a benchmark starts what it measures with")]
    let mut command = Command::new("npm");
    command.args(["run", "--silent", "bench"]).current_dir(web).env("WINDLASS", windlass);
    command
}
