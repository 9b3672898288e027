//! What a call would do, said of the files themselves: a path that leads through a symlink names the file that it leads to,
//! because labels, gates and recovery mean files and not spellings. Hard links need no care here: tools replace files and
//! never write into them, and after a program every name counts.

use windlass_domain::{Effect, Prepared, Reach};
use windlass_workspace::{Root, WorkspacePath};

/// Anything in the workspace.
const ANYWHERE: &str = "";

pub(crate) fn by_real_paths(mut prepared: Prepared, root: &Root) -> Prepared {
    if let Reach::Files(files) = &mut prepared.reach {
        for file in files {
            *file = real(file, root).unwrap_or_else(|| ANYWHERE.to_owned());
        }
    }
    if let Effect::Probe(probe) = &mut prepared.effect
        && let Some(real) = real(&probe.path, root)
    {
        probe.path = real;
    }
    prepared
}

fn real(path: &str, root: &Root) -> Option<String> {
    let path = WorkspacePath::parse(path).ok()?;
    root.real_path(&path).ok().map(|real| real.to_record())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use windlass_domain::{Digest, Probe};

    use super::*;

    #[test]
    fn what_is_written_and_read_is_the_file_that_a_link_leads_to() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("real"), "text").expect("written");
        symlink("real", folder.path().join("link")).expect("linked");
        let root = Root::open(folder.path()).expect("a root");
        let reads = |path: &str| Prepared::new(Effect::Read, Reach::Files(vec![path.to_owned()]));
        assert_eq!(by_real_paths(reads("link"), &root), reads("real"));
        assert_eq!(by_real_paths(reads("real"), &root), reads("real"));
        let writes = |path: &str| {
            let probe = Probe { path: path.to_owned(), before: None, after: Digest::of(b""), result: String::new() };
            Prepared::new(Effect::Probe(probe), Reach::Context)
        };
        assert_eq!(by_real_paths(writes("link"), &root), writes("real"));
        symlink("/etc", folder.path().join("out")).expect("linked");
        assert_eq!(by_real_paths(reads("out/passwd"), &root), reads(ANYWHERE), "what is not known may be anything");
    }
}
