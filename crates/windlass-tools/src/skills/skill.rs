//! One skill: its files, and what its `SKILL.md` says it is. It is read whole, so that it has a digest and can be put
//! somewhere else as it is; what is too large for that is no skill.

use std::path::Path;

use windlass_domain::Digest;
use windlass_workspace::{Error, Kind, Root, WorkspacePath};

use super::manifest::Manifest;

pub const SKILL_FILE: &str = "SKILL.md";
const LARGEST_SKILL_FILE: usize = 64 * 1024;
const LARGEST_FILE: u64 = 1024 * 1024;
const MOST_BYTES: usize = 8 * 1024 * 1024;
const MOST_FILES: usize = 200;
const DEEPEST: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    pub name: String,
    pub description: String,
    /// Tools without which it is of no use.
    pub needs: Vec<String>,
    /// By path; `SKILL.md` among them.
    pub files: Vec<SkillFile>,
    pub digest: Digest,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFile {
    /// Below the skill's folder.
    pub path: String,
    pub bytes: Vec<u8>,
    pub is_executable: bool,
}

impl Skill {
    /// The skill in this folder of `root`, or why there is none. Symlinks are followed as far as they stay in `root`.
    pub fn read(root: &Root, folder: &WorkspacePath) -> Result<Self, String> {
        Self::read_where(root, folder, &|_| Ok(()))
    }

    /// The same, if `allowed` objects to none of its files; it is told where each really is.
    pub fn read_where(root: &Root, folder: &WorkspacePath, allowed: Allowed<'_>) -> Result<Self, String> {
        let name = folder.as_path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let mut reading = Reading { root, folder, allowed, files: Vec::new(), bytes_left: MOST_BYTES };
        reading.below("", DEEPEST)?;
        Self::from_files(&name, reading.files)
    }

    /// What its `SKILL.md` says.
    pub fn instructions(&self) -> String {
        let file = self.files.iter().find(|file| file.path == SKILL_FILE);
        file.map(|file| String::from_utf8_lossy(&file.bytes).into_owned()).unwrap_or_default()
    }

    pub fn from_files(folder: &str, mut files: Vec<SkillFile>) -> Result<Self, String> {
        files.sort_by(|one, other| one.path.cmp(&other.path));
        let text =
            files.iter().find(|file| file.path == SKILL_FILE).ok_or(format!("there is no {SKILL_FILE} in it"))?;
        if text.bytes.len() > LARGEST_SKILL_FILE {
            return Err(format!(
                "its {SKILL_FILE} is larger than {} KiB; put the long parts into files beside it",
                LARGEST_SKILL_FILE / 1024
            ));
        }
        let text = std::str::from_utf8(&text.bytes).map_err(|_| format!("its {SKILL_FILE} is not UTF-8"))?;
        let Manifest { name, description, needs } = Manifest::read(text, folder)?;
        let digest = digest(&files);
        Ok(Self { name, description, needs, files, digest })
    }
}

fn digest(files: &[SkillFile]) -> Digest {
    let file = |so_far: Digest, file: &SkillFile| {
        so_far.chain(file.path.as_bytes()).chain(&[u8::from(file.is_executable)]).chain(&file.bytes)
    };
    files.iter().fold(Digest::of(b"skill"), file)
}

/// The skill that is this folder, or why it is none.
pub fn check_folder(folder: &Path) -> Result<Skill, String> {
    let (Some(above), Some(name)) = (folder.parent(), folder.file_name()) else {
        return Err("this is no folder with a name".to_owned());
    };
    let root = Root::open(above).map_err(told)?;
    Skill::read(&root, &WorkspacePath::parse(name).map_err(told)?)
}

/// Says why a file may not be part of a skill.
pub type Allowed<'a> = &'a dyn Fn(&WorkspacePath) -> Result<(), String>;

struct Reading<'a> {
    root: &'a Root,
    folder: &'a WorkspacePath,
    allowed: Allowed<'a>,
    files: Vec<SkillFile>,
    bytes_left: usize,
}

impl Reading<'_> {
    fn below(&mut self, inner: &str, depth: usize) -> Result<(), String> {
        if depth == 0 {
            return Err(format!("its folders are nested more than {DEEPEST} deep"));
        }
        for entry in self.root.list(&self.path(inner)?).map_err(told)? {
            let name = entry.name.to_str().ok_or("a name in it is not UTF-8")?;
            let inner = if inner.is_empty() { name.to_owned() } else { format!("{inner}/{name}") };
            let path = self.path(&inner)?;
            let kind = match entry.kind {
                Kind::Symlink => self.root.metadata(&path).map_err(told)?.kind,
                kind => kind,
            };
            match kind {
                Kind::Folder => self.below(&inner, depth - 1)?,
                _ => self.file(inner, &path)?,
            }
        }
        Ok(())
    }

    fn file(&mut self, inner: String, path: &WorkspacePath) -> Result<(), String> {
        (self.allowed)(&self.root.real_path(path).map_err(told)?)?;
        let is_executable = self.root.metadata(path).map_err(told)?.mode & 0o111 != 0;
        let bytes = self.root.read(path, LARGEST_FILE).map_err(told)?;
        if self.files.len() == MOST_FILES {
            return Err(format!("it has more than {MOST_FILES} files"));
        }
        self.bytes_left = self
            .bytes_left
            .checked_sub(bytes.len())
            .ok_or(format!("its files have more than {} MiB together", MOST_BYTES >> 20))?;
        self.files.push(SkillFile { path: inner, bytes, is_executable });
        Ok(())
    }

    fn path(&self, inner: &str) -> Result<WorkspacePath, String> {
        WorkspacePath::parse(self.folder.as_path().join(inner)).map_err(told)
    }
}

/// The root may be another than the workspace, which is what these errors speak of.
fn told(error: Error) -> String {
    match error {
        Error::Outside { path } => format!("{path}: leads out of the folder; copy what it means into the skill"),
        error => error.to_string(),
    }
}
