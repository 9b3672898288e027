//! Where an agent's program is on this machine, and where a sandbox shows it. What is in the system's own directories is there already; anything
//! else is shown read-only below `/agents`, together with what it was installed with and nothing around that.

use std::path::{Path, PathBuf};

use windlass_adapters::{Agent, InstalledAs};
use windlass_domain::{ErrorCode, ErrorDetails};

use super::config::Places;

/// What every sandbox shows of the machine.
const SYSTEM: [&str; 5] = ["/usr", "/bin", "/sbin", "/lib", "/lib64"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// On the machine.
    pub program: PathBuf,
    /// In a confined sandbox.
    pub inside: PathBuf,
    /// What has to be shown there for that, and where.
    pub mount: Option<(PathBuf, PathBuf)>,
}

impl Found {
    /// Another one where the program was replaced.
    pub fn known_as(&self) -> InstalledAs {
        let changed = std::fs::metadata(&self.program).and_then(|metadata| metadata.modified()).ok();
        let since = changed.and_then(|changed| changed.duration_since(std::time::UNIX_EPOCH).ok());
        InstalledAs { program: self.program.clone(), stamp: since.map_or(0, |since| since.as_nanos()) }
    }
}

/// What to say where it is not installed.
pub fn missing(agent: &Agent) -> ErrorDetails {
    let missing = format!("{} is not installed: there is no program `{}`", agent.display_name, agent.program);
    ErrorDetails::new(ErrorCode::SandboxUnavailable, missing)
        .with_hint("install it so that PATH has it, or name its folder in windlass.toml: [agents] folder = \"…\"")
}

/// Nothing where it is not installed.
pub fn find(agent: &Agent, places: &Places, home: Option<&Path>) -> Option<Found> {
    let said = places.programs.get(agent.id).cloned();
    let in_folder = places.folder.iter().map(|folder| folder.join("bin").join(agent.program));
    let on_path = places.path.iter().map(|folder| folder.join(agent.program));
    let candidates = said.into_iter().chain(in_folder).chain(on_path);
    let program = candidates.filter(|path| path.is_absolute()).find(|path| path.is_file())?;
    Some(shown(agent.id, program, home))
}

fn shown(id: &str, program: PathBuf, home: Option<&Path>) -> Found {
    let real = program.canonicalize().unwrap_or_else(|_| program.clone());
    if [&program, &real].into_iter().all(|path| SYSTEM.iter().any(|system| path.starts_with(system))) {
        return Found { inside: program.clone(), program, mount: None };
    }
    let root = installation(&program, &real, home);
    let at = Path::new("/agents").join(id);
    // Inside, the link is followed again: it leads where it leads here, unless it is an absolute one.
    let below = if program.starts_with(&root) && !links_absolutely(&program) { &program } else { &real };
    let inside = at.join(below.strip_prefix(&root).unwrap_or(below));
    Found { inside, program, mount: Some((root, at)) }
}

/// The smallest folder that holds both the program and what it is a link to, unless that would show a home or more.
fn installation(program: &Path, real: &Path, home: Option<&Path>) -> PathBuf {
    let common: PathBuf = program
        .components()
        .zip(real.components())
        .take_while(|(one, other)| one == other)
        .map(|(one, _)| one)
        .collect();
    let of_real = || package(real);
    let is_too_much =
        |folder: &Path| folder.components().count() < 3 || home.is_some_and(|home| home.starts_with(folder));
    match common {
        // No link: what it needs lies beside it.
        common if common == program => of_real(),
        common if is_too_much(&common) => of_real(),
        common => common,
    }
}

/// The folder of what is installed: the one around `node_modules`, or around `bin`, or the program's own.
fn package(real: &Path) -> PathBuf {
    let around = real.ancestors().filter(|folder| folder.file_name().is_some_and(|name| name == "node_modules")).last();
    let around = around.and_then(Path::parent);
    let parent = real.parent().unwrap_or(real);
    let of_bin = parent.file_name().is_some_and(|name| name == "bin").then(|| parent.parent()).flatten();
    let of_bin = of_bin.filter(|folder| folder.components().count() >= 3);
    around.or(of_bin).unwrap_or(parent).to_path_buf()
}

fn links_absolutely(program: &Path) -> bool {
    std::fs::read_link(program).is_ok_and(|target| target.is_absolute())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    const AGENT: Agent = Agent {
        id: "some-agent",
        display_name: "Some Agent",
        program: "some",
        tried: &[],
        dialects: &[],
        permissions: windlass_adapters::Permissions::Asked,
        takes_mcp: false,
        can_be_steered: false,
        can_fork: false,
    };

    fn touch(path: &Path) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, "#!/bin/sh\n").expect("written");
    }

    #[test]
    fn a_program_is_shown_with_what_it_was_installed_with() {
        let machine = tempfile::tempdir().expect("a folder");
        let root = machine.path().canonicalize().expect("there");
        let check = |places: Places, inside: &str, mount: Option<&str>| {
            let found = find(&AGENT, &places, Some(&root.join("home"))).expect("found");
            let mount = mount.map(|from| (root.join(from), PathBuf::from("/agents/some-agent")));
            assert_eq!((found.inside, found.mount), (PathBuf::from(inside), mount));
        };
        let on = |folder: &str| Places { path: vec![root.join("nowhere"), root.join(folder)], ..Places::default() };
        touch(&root.join("prefix/lib/node_modules/@x/some/cli.js"));
        fs::create_dir_all(root.join("prefix/bin")).expect("made");
        symlink("../lib/node_modules/@x/some/cli.js", root.join("prefix/bin/some")).expect("linked");
        check(on("prefix/bin"), "/agents/some-agent/bin/some", Some("prefix"));
        // Of a home only what the program is.
        touch(&root.join("home/.local/share/some/versions/1/some"));
        fs::create_dir_all(root.join("home/.local/bin")).expect("made");
        symlink(root.join("home/.local/share/some/versions/1/some"), root.join("home/.local/bin/some"))
            .expect("linked");
        check(on("home/.local/bin"), "/agents/some-agent/share/some/versions/1/some", Some("home/.local"));
        touch(&root.join("alone/some"));
        check(on("alone"), "/agents/some-agent/some", Some("alone"));
        let folder = Places { folder: Some(root.join("prefix")), ..on("alone") };
        check(folder, "/agents/some-agent/bin/some", Some("prefix"));
        let said = [("some-agent".to_owned(), root.join("alone/some"))].into_iter().collect();
        check(Places { programs: said, ..on("prefix/bin") }, "/agents/some-agent/some", Some("alone"));
        assert_eq!(find(&AGENT, &on("empty"), None), None);
    }
}
