//! Pages for people beside a trace. What stood there is replaced in one step, so that nobody reads half of one.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

/// For its owner alone: it has everything that was said.
pub fn replace_page(path: &Path, page: &str) -> std::io::Result<()> {
    let folder = path.parent().expect("the page stands in a folder");
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    // Another process may write the same page at this moment.
    let unfinished = path.with_extension(format!("md.{}.new", std::process::id()));
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
    file.write_all(page.as_bytes())?;
    std::fs::rename(&unfinished, path)
}
