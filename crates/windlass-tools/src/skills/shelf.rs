//! Skills as tasks were offered them, kept on disk: a folder for each set, named by what is in it, and never changed again. A
//! task reads its skills from there for as long as it lives, whatever becomes of the files they came from; a sandbox is
//! shown the folder read-only. What is found there is compared with what the task was promised.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use windlass_domain::{Digest, SkillSeen};
use windlass_workspace::{Root, WorkspacePath};

use super::library::{Found, Library, Source};
use super::set::{Offered, SkillSet};
use super::shipped::shipped;
use super::skill::{SKILL_FILE, Skill};

/// Sets that have been looked at in this process; there are as many as there are projects with skills of their own.
const MOST_KNOWN: usize = 64;
/// Held by whoever keeps a set.
const LOCK: &str = ".lock";
/// Where a set is made.
const BESIDE: &str = ".new";

#[derive(Debug)]
pub struct Shelf {
    folder: PathBuf,
    known: Mutex<BTreeMap<Digest, Arc<SkillSet>>>,
}

impl Shelf {
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), known: Mutex::default() }
    }

    /// Keeps what this library offers.
    pub fn keep(&self, library: &Library) -> io::Result<Vec<SkillSeen>> {
        let offered = library.offered();
        let seen = |found: &&Found| SkillSeen {
            name: found.skill.name.clone(),
            digest: found.skill.digest,
            place: (found.source == Source::Workspace).then(|| found.place.clone()),
        };
        let seen: Vec<SkillSeen> = offered.iter().map(seen).collect();
        if self.open(&seen).is_err() {
            self.put(&seen, &offered)?;
        }
        Ok(seen)
    }

    /// One at a time, in whichever process: what somebody has just kept is not taken for what a power cut has left.
    fn put(&self, seen: &[SkillSeen], offered: &[&Found]) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let lock = fs::OpenOptions::new().write(true).create(true).truncate(false).open(self.folder.join(LOCK))?;
        lock.lock()?;
        if self.open(seen).is_ok() {
            return Ok(());
        }
        let place = self.place(seen);
        // Half of it may be there, since a power cut or since somebody was in it.
        remove(&place)?;
        self.fill(&place, offered.iter().map(|found| &found.skill))
    }

    /// The folder that holds these skills, each under its name.
    pub fn place(&self, seen: &[SkillSeen]) -> PathBuf {
        self.folder.join(name(seen).to_string())
    }

    /// What was kept, exactly.
    pub fn open(&self, seen: &[SkillSeen]) -> Result<Arc<SkillSet>, String> {
        if seen.is_empty() {
            return Ok(Arc::default());
        }
        let whole = seen
            .iter()
            .fold(name(seen), |so_far, skill| so_far.chain(skill.place.as_deref().unwrap_or_default().as_bytes()));
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&whole).cloned();
        if let Some(set) = known {
            return Ok(set);
        }
        let set = Arc::new(self.read(seen)?);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() == MOST_KNOWN {
            known.clear();
        }
        known.insert(whole, Arc::clone(&set));
        Ok(set)
    }

    fn read(&self, seen: &[SkillSeen]) -> Result<SkillSet, String> {
        let lost = |name: &str, why: String| {
            format!("the skill `{name}` that this task was begun with cannot be read ({why}); start the task anew")
        };
        let root = Root::open(&self.place(seen)).map_err(|error| lost(&seen[0].name, error.to_string()))?;
        let mut offered = Vec::with_capacity(seen.len());
        for SkillSeen { name, digest, place } in seen {
            let folder = WorkspacePath::parse(name).map_err(|error| lost(name, error.to_string()))?;
            let skill = Skill::read(&root, &folder).map_err(|why| lost(name, why))?;
            if skill.digest != *digest {
                return Err(lost(name, "it was changed".to_owned()));
            }
            let source = match place {
                Some(_) => Source::Workspace,
                None if shipped().iter().any(|shipped| shipped.digest == *digest) => Source::Shipped,
                None => Source::User,
            };
            let Skill { name, description, needs, files, .. } = skill;
            let files = files.into_iter().map(|file| file.path).filter(|path| path != SKILL_FILE).collect();
            offered.push(Offered { name, description, source, needs, place: place.clone(), files });
        }
        Ok(SkillSet { offered, root: Some(Arc::new(root)) })
    }

    /// Whole or not at all: written beside its place and renamed.
    fn fill<'a>(&self, place: &Path, skills: impl Iterator<Item = &'a Skill>) -> io::Result<()> {
        let beside = self.folder.join(BESIDE);
        // Whoever was at it last may have been killed.
        remove(&beside)?;
        skills.into_iter().try_for_each(|skill| write(&beside.join(&skill.name), skill))?;
        fs::rename(&beside, place)
    }
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn write(folder: &Path, skill: &Skill) -> io::Result<()> {
    for file in &skill.files {
        let path = folder.join(&file.path);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        let mode = if file.is_executable { 0o755 } else { 0o644 };
        let mut written = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
        written.write_all(&file.bytes)?;
        written.sync_all()?;
    }
    Ok(())
}

fn name(seen: &[SkillSeen]) -> Digest {
    seen.iter()
        .fold(Digest::of(b"skills"), |so_far, skill| so_far.chain(skill.name.as_bytes()).chain(skill.digest.as_bytes()))
}
