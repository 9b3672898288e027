//! What an agent says about times counts for nothing: neither which files were read, nor which look new in a copy.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use windlass_domain::Digest;

use crate::support::{MADE, Unhurried, Yard, copy_folder, never};

fn modified(path: &Path) -> SystemTime {
    fs::metadata(path).unwrap().modified().unwrap()
}

fn set_modified(path: &Path, seconds: u64) {
    let time = UNIX_EPOCH + Duration::from_secs(seconds);
    fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

/// The attack: a product that claims to come from the year 2099.
#[test]
fn a_planted_product_is_older_than_the_sources_that_were_there_whatever_it_claims() {
    let yard = Yard::new();
    yard.put(".gitignore", "/build\n");
    yard.put("app.c", "int main");
    yard.put("Makefile", "app: app.c");
    yard.put("old.c", "source of a product that is kept in git");
    yard.put("old", "that product");
    yard.put("mode.sh", "its executable bit is set");
    let snapshots = yard.snapshots_carrying(&["build"]);
    let baseline = snapshots.capture().unwrap();
    yard.put("app", "planted");
    yard.put("build/app.o", "planted too");
    yard.put("old.c", "changed");
    set_modified(&yard.inside("app"), 4_070_908_800);
    set_modified(&yard.inside("build/app.o"), 4_070_908_800);
    set_modified(&yard.inside("app.c"), 1);
    set_modified(&yard.inside("old.c"), 2);
    let candidate = snapshots.capture_under(baseline, &never).unwrap().tree;
    let copy = yard.path("copy");
    snapshots.materialise(candidate, baseline, &copy, MADE, &never).unwrap();
    // A tampered file that is put back looks as if it had never been touched.
    fs::write(copy.join("Makefile"), "app:").unwrap();
    snapshots.restore(baseline, &["Makefile".to_owned()], &copy, MADE, &never).unwrap();
    let again = yard.path("again");
    copy_folder(&copy, &again).unwrap();
    for copy in [copy, again] {
        let at = |path: &str| modified(&copy.join(path));
        assert!(at("build/app.o") < at("app"), "carried before added");
        assert!(at("app") < at("app.c"), "added before unchanged: the product is made again");
        assert!(at("old") < at("old.c"), "unchanged before changed: its product is made again");
        assert_eq!(at("Makefile"), at("app.c"));
        assert!(at("old.c") < UNIX_EPOCH + Duration::from_millis(MADE.as_millis()), "all before what a check makes");
        let apart = at("app.c").duration_since(at("app")).unwrap();
        assert!(apart >= Duration::from_secs(2), "as coarse as the coarsest clock");
    }
}

/// Stands for a page that was written through a shared mapping on tmpfs: other bytes, and a file that looks the same to the
/// kernel as when the cache last saw it.
#[test]
fn a_file_that_only_looks_unchanged_is_captured_as_it_is() {
    let yard = Yard::new();
    yard.put("a", "two");
    let snapshots = yard.snapshots();
    let truth = loop {
        let tree = snapshots.capture().unwrap();
        // Files changed in the tick in which a capture began are not remembered.
        if !fs::read(cache(&yard)).unwrap_or_default().is_empty() && lines(&yard).contains(&digest("two")) {
            break tree;
        }
    };
    yard.put("b", "one");
    snapshots.capture().unwrap();
    fs::remove_file(yard.inside("b")).unwrap();
    let forged = lines(&yard).replace(&digest("two"), &digest("one"));
    fs::write(cache(&yard), format!("{}\n{forged}", Digest::of(forged.as_bytes()))).unwrap();
    let fooled = yard.snapshots();
    assert_ne!(fooled.capture().unwrap(), truth, "control: the cache is believed for a baseline");
    assert_eq!(yard.snapshots().candidate(truth).unwrap().tree, truth);
    assert_eq!(fooled.candidate(truth).unwrap().tree, truth);
    assert_eq!(fooled.capture().unwrap(), truth, "and what was read is what is remembered");
}

fn digest(content: &str) -> String {
    Digest::of(content.as_bytes()).to_string()
}

fn cache(yard: &Yard) -> std::path::PathBuf {
    let folder = yard.path("data/captures");
    let first = fs::read_dir(&folder).ok().and_then(|mut files| files.next());
    first.map_or(folder.join("none"), |entry| entry.unwrap().path())
}

/// All of the cache but the digest that it begins with.
fn lines(yard: &Yard) -> String {
    let text = fs::read_to_string(cache(yard)).unwrap();
    text.split_once('\n').unwrap().1.to_owned()
}
