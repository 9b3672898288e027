//! What it costs to capture a workspace of many small files: the first time, as a baseline whose files are all known, and
//! as a candidate, of which every file is read. Says so on standard output; see docs/checks.md.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measurement reads the clock and says what it found"
)]

use std::time::Instant;

use windlass_workspace::{Error, SnapshotSetup, Snapshots};

const FOLDERS: usize = 200;
const FILES: usize = 100;
const ROUNDS: usize = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let workspace = folder.path().join("workspace");
    for outer in 0..FOLDERS {
        let inner = workspace.join(format!("folder{outer}"));
        std::fs::create_dir_all(&inner)?;
        for file in 0..FILES {
            std::fs::write(inner.join(format!("file{file}.rs")), format!("// {outer} {file}\n").repeat(200))?;
        }
    }
    let snapshots = Snapshots::open(SnapshotSetup::new(&workspace, folder.path().join("data"), Vec::new()))?;
    println!("{} files of about 2 KiB", FOLDERS * FILES);
    let mut baseline = None;
    timed("first baseline", || snapshots.capture().map(|tree| baseline = Some(tree)))?;
    let baseline = baseline.ok_or("nothing was captured")?;
    for _ in 0..ROUNDS {
        timed("baseline, all known", || snapshots.capture().map(drop))?;
        timed("candidate, all read", || snapshots.capture_under(baseline, &|| false).map(drop))?;
    }
    Ok(())
}

fn timed(what: &str, work: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
    let begun = Instant::now();
    work()?;
    println!("{what}: {} ms", begun.elapsed().as_millis());
    Ok(())
}
