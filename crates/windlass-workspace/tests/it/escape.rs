//! Ways out of the root that others have found. Each is shown to work with `std::fs` (the positive control), to fail
//! through `Root`, and beside each stands a benign twin that must work.

use std::fs;
use std::path::Path;

use windlass_workspace::{Error, Root, WorkspacePath};

use crate::support::{SECRET, Yard, at};

const CAP: u64 = 1_000;

fn reads(root: &Root, path: &str) -> Result<Vec<u8>, Error> {
    root.read(&WorkspacePath::parse(path)?, CAP)
}

fn refused_as_outside<T: std::fmt::Debug>(result: Result<T, Error>) {
    assert!(matches!(result, Err(Error::Outside { .. })), "{result:?}");
}

#[test]
fn dots_do_not_climb_out() {
    let yard = Yard::new();
    yard.put("src/a", "a");
    yard.put("b", "b");
    let root = yard.root();
    let attack = "src/../../workspace-evil/secret";
    assert_eq!(fs::read_to_string(yard.inside(attack)).unwrap(), SECRET);
    refused_as_outside(reads(&root, attack));
    refused_as_outside(reads(&root, "../workspace-evil/secret"));
    refused_as_outside(reads(&root, "/workspace/../workspace-evil/secret"));
    refused_as_outside(root.write(&at("../workspace-evil/new"), b"x"));
    refused_as_outside(root.list(&at("..")));
    assert!(!yard.outside("new").exists());
    assert_eq!(reads(&root, "src/../b").unwrap(), b"b");
}

#[test]
fn absolute_paths_mean_the_workspace_or_nothing() {
    let yard = Yard::new();
    yard.put("a", "a");
    let root = yard.root();
    let attack = yard.outside("secret");
    assert_eq!(fs::read_to_string(&attack).unwrap(), SECRET);
    refused_as_outside(reads(&root, attack.to_str().unwrap()));
    refused_as_outside(reads(&root, "/workspace-evil/secret"));
    refused_as_outside(reads(&root, "/proc/self/root/etc/passwd"));
    assert_eq!(reads(&root, "/workspace/a").unwrap(), b"a");
}

#[test]
fn symlinks_out_are_not_followed_and_symlinks_inside_are() {
    let yard = Yard::new();
    yard.put("src/a", "a");
    yard.link("../workspace-evil/secret", "relative");
    yard.link(yard.outside("secret"), "absolute");
    yard.link("../workspace-evil", "folder");
    yard.link("folder", "chain");
    yard.link("src/a", "benign");
    yard.link("../src", "src/benign");
    let root = yard.root();
    for attack in ["relative", "absolute", "folder/secret", "chain/secret"] {
        assert_eq!(fs::read_to_string(yard.inside(attack)).unwrap(), SECRET, "{attack}");
        refused_as_outside(reads(&root, attack));
        refused_as_outside(root.digest(&at(attack)));
        refused_as_outside(root.metadata(&at(attack)));
        refused_as_outside(root.write(&at(attack), b"overwritten"));
    }
    refused_as_outside(root.list(&at("folder")));
    refused_as_outside(root.write(&at("folder/new"), b"x"));
    refused_as_outside(root.write(&at("folder/deep/new"), b"x"));
    refused_as_outside(root.create_folder(&at("folder/deep")));
    refused_as_outside(root.remove(&at("folder/secret")));
    assert_eq!(fs::read_to_string(yard.outside("secret")).unwrap(), SECRET);
    assert_eq!(fs::read_dir(yard.outside("")).unwrap().count(), 1);
    assert_eq!(reads(&root, "benign").unwrap(), b"a");
    assert_eq!(reads(&root, "src/benign/a").unwrap(), b"a");
}

#[test]
fn a_link_that_leads_out_by_a_detour_of_missing_files_creates_nothing_outside() {
    let yard = Yard::new();
    yard.link("../workspace-evil/new", "dangling");
    fs::write(yard.inside("dangling"), "x").unwrap();
    assert!(yard.outside("new").exists(), "the attack works without a root");
    fs::remove_file(yard.outside("new")).unwrap();
    refused_as_outside(yard.root().write(&at("dangling"), b"x"));
    assert!(!yard.outside("new").exists());
}

#[test]
fn magic_links_of_proc_are_not_followed() {
    let yard = Yard::new();
    let secret = fs::File::open(yard.outside("secret")).unwrap();
    let magic = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&secret));
    yard.link(&magic, "magic");
    assert_eq!(fs::read_to_string(yard.inside("magic")).unwrap(), SECRET);
    refused_as_outside(reads(&yard.root(), "magic"));
    // Opened at /proc itself, where such links would be inside.
    let proc = Root::open(Path::new("/proc/self")).unwrap();
    assert_eq!(fs::read_to_string(&magic).unwrap(), SECRET);
    assert!(reads(&proc, magic.strip_prefix("/proc/self/").unwrap()).is_err());
    assert!(reads(&proc, "root/etc/passwd").is_err());
    assert!(reads(&proc, "comm").is_ok());
}

#[test]
fn removing_takes_the_link_and_not_what_it_leads_to() {
    let yard = Yard::new();
    yard.link("../workspace-evil/secret", "link");
    yard.root().remove(&at("link")).unwrap();
    assert!(!yard.inside("link").is_symlink());
    assert_eq!(fs::read_to_string(yard.outside("secret")).unwrap(), SECRET);
}

#[test]
fn hard_links_to_a_file_outside_are_replaced_and_not_written_through() {
    let yard = Yard::new();
    fs::hard_link(yard.outside("secret"), yard.inside("hard")).unwrap();
    yard.root().write(&at("hard"), b"mine").unwrap();
    assert_eq!(fs::read_to_string(yard.outside("secret")).unwrap(), SECRET);
    fs::hard_link(yard.outside("secret"), yard.inside("control")).unwrap();
    fs::write(yard.inside("control"), "changed").unwrap();
    assert_eq!(fs::read_to_string(yard.outside("secret")).unwrap(), "changed");
}

#[test]
fn git_is_protected_however_it_is_spelled() {
    let yard = Yard::new();
    yard.put(".git/config", "[core]");
    yard.put(".gitignore", "target");
    yard.put("src/.git/config", "a repository in the project");
    yard.put("sub/.git", "gitdir: ../.git/modules/sub");
    yard.link("../src/.git", "sub/alias");
    yard.link(".git", "alias");
    yard.link(".git/config", "config");
    yard.link("../.git/hooks", "src/hooks");
    fs::create_dir(yard.inside(".git/hooks")).unwrap();
    let root = yard.root();
    let attacks = [
        ".git/config",
        "./.git/config",
        "src/../.git/config",
        "alias/config",
        "alias/hooks/pre-commit",
        "alias/new/deep",
        "config",
        "src/hooks/pre-commit",
        ".git",
        "/workspace/.git/hooks/pre-commit",
        "src/.git/config",
        "src/.git/hooks/pre-commit",
        "sub/.git",
        "sub/alias/config",
        "sub/alias/new/deep",
    ];
    for attack in attacks {
        let foreseen = root.check_write(&at(attack));
        assert!(matches!(foreseen, Err(Error::Protected { .. } | Error::IsAFolder { .. })), "{attack}: {foreseen:?}");
        let result = root.write(&at(attack), b"evil");
        assert!(matches!(result, Err(Error::Protected { .. } | Error::IsAFolder { .. })), "{attack}: {result:?}");
    }
    assert!(matches!(root.remove(&at("alias/config")), Err(Error::Protected { .. })));
    assert_eq!(fs::read_to_string(yard.inside(".git/config")).unwrap(), "[core]");
    assert_eq!(fs::read_dir(yard.inside(".git/hooks")).unwrap().count(), 0);
    assert_eq!(reads(&root, ".git/config").unwrap(), b"[core]", "reading is fine");
    root.write(&at(".gitignore"), b"").unwrap();
    root.write(&at("src/git/config"), b"").unwrap();
    let open = yard.root().protecting(Vec::<String>::new());
    for attack in ["alias/config", "src/.git/config", "sub/.git", "sub/alias/new/deep"] {
        open.write(&at(attack), b"evil").expect("the attack works without protection");
    }
}

#[test]
fn git_cannot_be_made_where_there_is_none() {
    let yard = Yard::new();
    let root = yard.root();
    for attack in [".git", ".git/config", ".git/hooks/pre-commit", "src/.git", "new/.git/config"] {
        assert!(matches!(root.write(&at(attack), b"x"), Err(Error::Protected { .. })), "{attack}");
    }
    assert!(!yard.inside(".git").exists() && !yard.inside("new/.git").exists());
}
