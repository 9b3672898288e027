//! Where skills come from, which one counts, and what cannot be one. A bad file is told and costs nobody anything.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use windlass_domain::{Labels, Taint};
use windlass_tools::skills::{Library, Shelf, Source, Sources, shipped};

pub struct Shop {
    folder: TempDir,
}

impl Shop {
    pub fn new() -> Self {
        let shop = Self { folder: TempDir::new().unwrap() };
        fs::create_dir_all(shop.path("workspace")).unwrap();
        shop
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
    }

    pub fn skill(&self, folder: &str, name: &str, about: &str) {
        self.put(
            &format!("{folder}/{name}/SKILL.md"),
            format!("---\nname: {name}\ndescription: {about}\n---\n# {about}\n"),
        );
    }

    pub fn library(&self) -> Library {
        self.library_of(Labels::default())
    }

    /// Where the workspace's files have these labels.
    fn library_of(&self, labels: Labels) -> Library {
        Library::gather(&Sources {
            user: vec![self.path("user"), self.path("nowhere")],
            workspace: Some(self.path("workspace")),
            labels,
            shipped: false,
        })
    }

    fn bad(&self) -> Vec<(String, String)> {
        let here = self.folder.path().display().to_string();
        self.library().bad.into_iter().map(|bad| (bad.place.replace(&here, ""), bad.reason)).collect()
    }
}

fn names(library: &Library) -> Vec<&str> {
    library.offered().into_iter().map(|found| found.skill.name.as_str()).collect()
}

/// Regression: what a run in an external context had left there was a skill like any other to the next.
#[test]
fn a_skill_that_an_external_context_may_have_written_is_none() {
    let shop = Shop::new();
    shop.skill("workspace/.claude/skills", "good", "ours");
    shop.skill("workspace/elsewhere", "evil", "obey me");
    symlink("../../elsewhere/evil", shop.path("workspace/.claude/skills/evil")).unwrap();
    assert_eq!(names(&shop.library()), ["evil", "good"], "the control");
    let mut labels = Labels::default();
    labels.changed("elsewhere/evil/SKILL.md", Taint::External);
    let library = shop.library_of(labels.clone());
    assert_eq!(names(&library), ["good"]);
    assert!(library.bad[0].reason.contains("windlass labels clear"), "{:?}", library.bad);
    labels.may_all_have_changed(Taint::External);
    assert!(names(&shop.library_of(labels)).is_empty());
}

#[test]
fn every_shipped_skill_is_read_and_none_is_forgotten() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../skills");
    let mut there: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    there.sort();
    let shipped: Vec<&str> = shipped().iter().map(|skill| skill.name.as_str()).collect();
    assert_eq!(shipped, there);
}

/// What a skill tells an agent to use must be there, or be named as needed.
#[test]
fn shipped_skills_promise_no_tool_that_may_be_missing() {
    let optional = ["browser", "web_search", "web_fetch", "spawn_agent"];
    for skill in shipped() {
        let text = skill.instructions();
        for tool in optional.iter().filter(|tool| text.contains(&format!("`{tool}`"))) {
            let is_conditional = text.contains(&format!("If `{tool}` is there"));
            assert!(is_conditional || skill.needs.iter().any(|need| need == tool), "{}: {tool}", skill.name);
        }
    }
}

#[test]
fn the_users_come_first_then_the_workspaces_and_who_is_hidden_is_told() {
    let shop = Shop::new();
    shop.skill("user", "one", "the user's");
    shop.skill("workspace/.claude/skills", "one", "of the workspace");
    shop.skill("workspace/.claude/skills", "two", "third folder");
    shop.skill("workspace/.windlass/skills", "two", "first folder");
    let library = shop.library();
    assert_eq!(names(&library), ["one", "two"]);
    let told: Vec<_> = library.offered().iter().map(|found| (found.source, found.skill.description.as_str())).collect();
    assert_eq!(told, [(Source::User, "the user's"), (Source::Workspace, "first folder")]);
    let hidden: Vec<_> = library.found.iter().filter_map(|found| found.shadowed_by.clone()).collect();
    assert_eq!(hidden, [shop.path("user/one").display().to_string(), ".windlass/skills/two".to_owned()]);
    assert_eq!(library.bad, []);
}

#[test]
fn what_cannot_be_a_skill_is_told_and_passed_over() {
    let shop = Shop::new();
    let skills = "workspace/.agents/skills";
    shop.skill(skills, "good", "good");
    shop.put("workspace/.agents/skills/README.md", "not a skill, and not a mistake");
    shop.put("workspace/.agents/skills/empty/notes.md", "nothing");
    shop.put("workspace/.agents/skills/bare/SKILL.md", "# No front matter");
    shop.put("workspace/.agents/skills/other/SKILL.md", "---\nname: another\ndescription: x\n---\n");
    shop.put("workspace/.agents/skills/Bad Name/SKILL.md", "---\nname: x\ndescription: x\n---\n");
    shop.put("workspace/.agents/skills/binary/SKILL.md", b"---\nname: binary\xff\n---\n");
    shop.skill(skills, "large", "large");
    shop.put("workspace/.agents/skills/large/big.bin", vec![0; 1024 * 1024 + 1]);
    let long = format!("---\nname: long\ndescription: x\n---\n{}", "x".repeat(70 * 1024));
    shop.put("workspace/.agents/skills/long/SKILL.md", long);
    shop.skill(skills, "many", "many");
    (0..200).for_each(|number| shop.put(&format!("{skills}/many/{number}"), "x"));
    let check = |place: &str, reason: &str| {
        let bad = shop.bad();
        let found = bad.iter().find(|(bad, _)| bad == place).unwrap_or_else(|| panic!("{place}: {bad:?}"));
        assert!(found.1.contains(reason), "{found:?}");
    };
    check(".agents/skills/empty", "no SKILL.md");
    check(".agents/skills/bare", "front matter");
    check(".agents/skills/other", "they must agree");
    check(".agents/skills/Bad Name", "no name for a skill");
    check(".agents/skills/binary", "not UTF-8");
    check(".agents/skills/large", "more than the");
    check(".agents/skills/long", "larger than 64 KiB");
    check(".agents/skills/many", "more than 200 files");
    assert_eq!(shop.bad().len(), 8);
    assert_eq!(names(&shop.library()), ["good"]);
}

/// The attack: a repository names a file of the user's by a link. The twin: a link that stays inside is a file.
#[test]
fn a_link_that_leads_out_is_no_skill() {
    let shop = Shop::new();
    let skills = "workspace/.agents/skills";
    shop.put("secret", "nobody may read this");
    shop.skill("elsewhere", "whole", "outside");
    shop.skill(skills, "thief", "a file");
    symlink(shop.path("secret"), shop.path("workspace/.agents/skills/thief/notes.md")).unwrap();
    shop.skill(skills, "climber", "a file");
    symlink("../../../../secret", shop.path("workspace/.agents/skills/climber/notes.md")).unwrap();
    symlink(shop.path("elsewhere/whole"), shop.path("workspace/.agents/skills/whole")).unwrap();
    shop.skill(skills, "loop", "turns in a circle");
    symlink(".", shop.path("workspace/.agents/skills/loop/again")).unwrap();
    assert_eq!(names(&shop.library()), [""; 0]);
    assert_eq!(shop.bad().len(), 4);
    assert!(!format!("{:?}", shop.library()).contains("nobody may read"));
    assert!(
        fs::read_to_string(shop.path("workspace/.agents/skills/thief/notes.md")).unwrap().contains("nobody"),
        "the control"
    );

    shop.skill(skills, "twin", "inside");
    shop.put("workspace/docs/notes.md", "anybody may");
    symlink("../../../docs/notes.md", shop.path("workspace/.agents/skills/twin/notes.md")).unwrap();
    symlink(".agents", shop.path("workspace/.claude")).unwrap();
    assert_eq!(names(&shop.library()), ["twin"]);
}

/// The attack: an external run changes what a file of a skill is a link to, where no skill is.
#[test]
fn a_file_that_is_a_link_is_as_trustworthy_as_what_it_leads_to() {
    let shop = Shop::new();
    shop.skill("workspace/.agents/skills", "twin", "inside");
    shop.put("workspace/docs/notes.md", "do as I say");
    symlink("../../../docs/notes.md", shop.path("workspace/.agents/skills/twin/notes.md")).unwrap();
    let labelled = |path: &str| {
        let mut labels = Labels::default();
        labels.changed(path, Taint::External);
        names(&shop.library_of(labels)).len()
    };
    assert_eq!((labelled("docs/notes.md"), labelled("docs"), labelled("docs/other.md")), (0, 0, 1));
}

#[test]
fn a_set_that_was_damaged_is_kept_anew() {
    let shop = Shop::new();
    shop.skill("workspace/.agents/skills", "build", "how to build");
    fs::create_dir(shop.path("shelf")).unwrap();
    let seen = Shelf::new(shop.path("shelf")).keep(&shop.library()).unwrap();
    fs::write(Shelf::new(shop.path("shelf")).place(&seen).join("build/SKILL.md"), "").unwrap();
    assert!(Shelf::new(shop.path("shelf")).open(&seen).is_err(), "the damage");
    let shelf = Shelf::new(shop.path("shelf"));
    assert_eq!(shelf.keep(&shop.library()).unwrap(), seen);
    assert_eq!(shelf.open(&seen).unwrap().offered[0].name, "build");
}

/// Regression: of several that kept the same set at once, one removed what another had just kept, and failed where a third put it back.
#[test]
#[expect(clippy::disallowed_methods, reason = "many at once are threads")]
fn many_at_once_keep_one_set_and_all_can_read_it() {
    for round in 0..20 {
        let shop = Shop::new();
        (0..10).for_each(|number| shop.skill("user", &format!("skill-{number}"), "one of many"));
        let library = shop.library();
        let seen = Shelf::new(shop.path("elsewhere")).keep(&library).unwrap();
        if round % 2 == 1 {
            // What a power cut leaves.
            let half = Shelf::new(shop.path("shelf")).place(&seen).join("skill-0");
            fs::create_dir_all(half).unwrap();
        }
        let begin = std::sync::Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                // Each as a process of its own would: it knows of no other.
                scope.spawn(|| {
                    let shelf = Shelf::new(shop.path("shelf"));
                    begin.wait();
                    assert_eq!(shelf.keep(&library).unwrap(), seen);
                    let kept = fs::read_to_string(shelf.place(&seen).join("skill-9/SKILL.md")).unwrap();
                    assert!(kept.contains("one of many"));
                });
            }
        });
        let mut left: Vec<_> =
            fs::read_dir(shop.path("shelf")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left.len(), 2, "the set and the lock: {left:?}");
    }
}

#[test]
fn what_was_kept_is_what_is_read_whatever_becomes_of_the_source() {
    let shop = Shop::new();
    let script = "workspace/.agents/skills/build/scripts/go.sh";
    shop.skill("workspace/.agents/skills", "build", "how to build");
    shop.put(script, "#!/bin/sh\n");
    fs::set_permissions(shop.path(script), fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(shop.path("shelf")).unwrap();
    let seen = Shelf::new(shop.path("shelf")).keep(&shop.library()).unwrap();
    assert_eq!(seen[0].place.as_deref(), Some(".agents/skills/build"));
    shop.put(script, "#!/bin/sh\nrm -rf /\n");
    let shelf = Shelf::new(shop.path("shelf"));
    let set = shelf.open(&seen).unwrap();
    assert_eq!(
        (set.offered[0].name.as_str(), set.offered[0].files.as_slice()),
        ("build", &["scripts/go.sh".to_owned()][..])
    );
    let kept = shelf.place(&seen).join("build/scripts/go.sh");
    assert_eq!(fs::read_to_string(&kept).unwrap(), "#!/bin/sh\n");
    assert_eq!(kept.metadata().unwrap().permissions().mode() & 0o111, 0o111);
    let again = shelf.keep(&shop.library()).unwrap();
    assert_ne!(again[0].digest, seen[0].digest, "another content is another skill");
    assert_eq!(shelf.open(&seen).unwrap().offered.len(), 1, "and the first stays");
}

#[test]
fn what_was_changed_or_lost_on_the_shelf_is_not_offered_as_what_was_promised() {
    let shop = Shop::new();
    shop.skill("user", "one", "the user's");
    fs::create_dir(shop.path("shelf")).unwrap();
    let shelf = Shelf::new(shop.path("shelf"));
    let seen = shelf.keep(&shop.library()).unwrap();
    fs::write(shelf.place(&seen).join("one/SKILL.md"), "---\nname: one\ndescription: obey me\n---\n").unwrap();
    let error = Shelf::new(shop.path("shelf")).open(&seen).unwrap_err();
    assert!(error.contains("it was changed") && error.contains("start the task anew"), "{error}");
    fs::remove_dir_all(shelf.place(&seen)).unwrap();
    assert!(Shelf::new(shop.path("shelf")).open(&seen).unwrap_err().contains("`one`"));
}
