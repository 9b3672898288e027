//! What of an agent's home is its conversation. Everything else there may be the agent's own doing: settings, hooks, skills, start files of
//! shells. None of it outlives a launch, and none of it comes along into a fork.

use std::path::Path;

/// What stays of a home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// Plain files, by their paths in the home; a `*`, of which there is one at most, stands for anything, folders included.
    Files(&'static [&'static str]),
    /// Nobody knows where this program has its conversation: all but what shells and git obey.
    AllBut(&'static [&'static str]),
}

/// What shells and git obey in a home.
pub(crate) const START_FILES: [&str; 18] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_aliases",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".inputrc",
    ".gitconfig",
    ".config/git",
    ".config/fish",
    ".npmrc",
    ".env",
    ".local/bin",
];

impl Kept {
    /// Whether a plain file of this path in the home stays.
    pub fn takes(self, path: &Path) -> bool {
        match self {
            Self::Files(patterns) => {
                path.to_str().is_some_and(|path| patterns.iter().any(|pattern| matches(pattern, path)))
            }
            Self::AllBut(gone) => !gone.iter().any(|gone| path.starts_with(gone)),
        }
    }

    /// Whether something that stays may lie in this folder of the home.
    pub fn leads(self, folder: &Path) -> bool {
        match self {
            Self::Files(patterns) => folder.to_str().is_some_and(|folder| {
                let folder = format!("{folder}/");
                patterns.iter().any(|pattern| match pattern.split_once('*') {
                    None => pattern.starts_with(&folder),
                    Some((begins, _)) => begins.starts_with(&folder) || folder.starts_with(begins),
                })
            }),
            Self::AllBut(_) => self.takes(folder),
        }
    }

    /// What `find` is asked for in the home so that nothing else is left in it. No link is followed, and none stays.
    pub(crate) fn sweeping(self) -> Vec<String> {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let any_of = |patterns: &[String]| {
            let tests = patterns.iter().flat_map(|pattern| words(&["-o", "-path", pattern]));
            tests.skip(1).collect::<Vec<_>>()
        };
        let mut asked = words(&[".", "-mindepth", "1", "-depth"]);
        match self {
            // Folders are looked at after what is in them, so that those that held nothing else go, too.
            Self::Files(patterns) => {
                // Pictures that came with the goal lie there already; no program obeys one.
                let patterns = patterns.iter().chain([&"attached/*"]);
                let patterns: Vec<String> = patterns.map(|pattern| format!("./{pattern}")).collect();
                asked.extend(words(&["(", "-type", "f", "("]));
                asked.extend(any_of(&patterns));
                asked.extend(words(&[")", "-o", "-type", "d", "!", "-empty", ")", "-o"]));
            }
            Self::AllBut(gone) => {
                let below = |path: &&str| [format!("./{path}"), format!("./{path}/*")];
                let gone: Vec<String> = gone.iter().flat_map(below).collect();
                asked.push("(".to_owned());
                asked.extend(any_of(&gone));
                asked.push(")".to_owned());
            }
        }
        asked.push("-delete".to_owned());
        asked
    }
}

fn matches(pattern: &str, path: &str) -> bool {
    match pattern.split_once('*') {
        None => path == pattern,
        Some((begins, ends)) => {
            path.len() >= begins.len() + ends.len() && path.starts_with(begins) && path.ends_with(ends)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_kept_by_its_path_alone() {
        let kept = Kept::Files(&[".x/sessions/*.jsonl", ".x/x.db"]);
        let check = |path: &str, stays: bool| assert_eq!(kept.takes(Path::new(path)), stays, "{path}");
        check(".x/sessions/a.jsonl", true);
        check(".x/sessions/2026/11/a.jsonl", true);
        check(".x/x.db", true);
        check(".x/sessions/a.md", false);
        check(".x/x.db-journal", false);
        check(".x/x.db/hooks", false);
        check(".bashrc", false);
        let leads = |folder: &str| kept.leads(Path::new(folder));
        assert!(leads(".x") && leads(".x/sessions") && leads(".x/sessions/2026/11"));
        assert!(!leads(".x/skills") && !leads(".x/session") && !leads(".y") && !leads(".x/x.db"));
        let kept = Kept::AllBut(&START_FILES);
        assert!(kept.takes(Path::new("notes")) && !kept.takes(Path::new(".config/git/config")));
    }
}
