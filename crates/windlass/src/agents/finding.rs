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
    /// Another one where the program was replaced. Packages often bring the times of their files with them: when a file came to be where it is,
    /// nobody but the system says.
    pub fn known_as(&self) -> InstalledAs {
        use std::os::unix::fs::MetadataExt as _;
        let stamp = std::fs::metadata(&self.program).map(|file| {
            let changed = format!("{}.{:09}", file.ctime(), file.ctime_nsec());
            format!("{} bytes, {}.{:09}, {changed}", file.len(), file.mtime(), file.mtime_nsec())
        });
        InstalledAs { program: self.program.clone(), stamp: stamp.unwrap_or_default() }
    }
}

/// Where a sandbox shows Windlass itself, to agents that take tools only from programs.
pub const INSIDE_BRIDGE: &str = "/agents/.windlass/windlass";

/// This very program. Nothing once it was replaced on the disk: whoever would be started then is another one.
pub fn myself() -> Option<PathBuf> {
    std::env::current_exe().ok().filter(|program| program.is_file())
}

/// What to say where it is not installed.
pub fn missing(agent: &Agent) -> ErrorDetails {
    let missing = format!("{} is not installed: there is no program `{}`", agent.display_name, agent.program);
    ErrorDetails::new(ErrorCode::RunnerUnavailable, missing)
        .with_hint("install it so that PATH has it, or name its folder in windlass.toml: [agents] folder = \"…\"")
}

/// An agent that the operator had added when the task was begun, and has taken away since.
pub fn unknown(id: &str) -> ErrorDetails {
    ErrorDetails::new(ErrorCode::RunnerUnavailable, format!("the agent `{id}` is not known here any more"))
        .with_hint(format!("put it back into windlass.toml ([agents.acp.{id}]), or begin anew with another; `windlass agents` lists all"))
}

/// Nothing where it is not installed.
pub fn find(agent: &Agent, places: &Places) -> Option<Found> {
    let is_there = |path: &PathBuf| path.is_absolute() && path.is_file();
    if let Some(program) = places.programs.get(agent.id).cloned().filter(is_there) {
        return Some(shown(agent.id, program));
    }
    if let Some(folder) = &places.folder {
        let program = folder.join("bin").join(agent.program);
        if is_there(&program) {
            return Some(of_folder(agent, folder.clone(), program));
        }
    }
    let on_path = places.path.iter().map(|folder| folder.join(agent.program)).find(is_there)?;
    Some(shown(agent.id, on_path))
}

/// A folder that the operator keeps for agents is shown whole.
fn of_folder(agent: &Agent, folder: PathBuf, program: PathBuf) -> Found {
    let at = Path::new("/agents").join(agent.id);
    Found { inside: at.join("bin").join(agent.program), program, mount: Some((folder, at)) }
}

/// Of anything else no more than packages beside each other, or the program's file: what lies around it may be a home.
fn shown(id: &str, program: PathBuf) -> Found {
    let real = program.canonicalize().unwrap_or_else(|_| program.clone());
    if [&program, &real].into_iter().all(|path| SYSTEM.iter().any(|system| path.starts_with(system))) {
        return Found { inside: program.clone(), program, mount: None };
    }
    let packages =
        real.ancestors().filter(|folder| folder.file_name().is_some_and(|name| name == "node_modules")).last();
    let root = packages.unwrap_or(&real).to_path_buf();
    let at = Path::new("/agents").join(id).join(root.file_name().unwrap_or_default());
    let inside = match real.strip_prefix(&root) {
        Ok(below) if !below.as_os_str().is_empty() => at.join(below),
        _ => at.clone(),
    };
    Found { inside, program, mount: Some((root, at)) }
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
        can_resume: false,
        can_fork: false,
    };

    fn touch(path: &Path) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, "#!/bin/sh\n").expect("written");
    }

    #[test]
    fn a_program_is_shown_with_the_packages_that_it_is_one_of_and_nothing_around() {
        let machine = tempfile::tempdir().expect("a folder");
        let root = machine.path().canonicalize().expect("there");
        let check = |places: Places, inside: &str, mount: (&str, &str)| {
            let found = find(&AGENT, &places).expect("found");
            let mount = Some((root.join(mount.0), PathBuf::from(mount.1)));
            assert_eq!((found.inside, found.mount), (PathBuf::from(inside), mount));
        };
        let on = |folder: &str| Places { path: vec![root.join("nowhere"), root.join(folder)], ..Places::default() };
        touch(&root.join("prefix/lib/node_modules/@x/some/cli.js"));
        fs::create_dir_all(root.join("prefix/bin")).expect("made");
        symlink("../lib/node_modules/@x/some/cli.js", root.join("prefix/bin/some")).expect("linked");
        let packages = ("prefix/lib/node_modules", "/agents/some-agent/node_modules");
        check(on("prefix/bin"), "/agents/some-agent/node_modules/@x/some/cli.js", packages);
        // The review found it: of a home everything was shown that stood beside the program.
        let version = "home/.local/share/some/versions/1";
        touch(&root.join(version));
        fs::create_dir_all(root.join("home/.local/bin")).expect("made");
        symlink(root.join(version), root.join("home/.local/bin/some")).expect("linked");
        check(on("home/.local/bin"), "/agents/some-agent/1", (version, "/agents/some-agent/1"));
        touch(&root.join("home/bin/some"));
        let alone = ("home/bin/some", "/agents/some-agent/some");
        check(on("home/bin"), "/agents/some-agent/some", alone);
        let folder = Places { folder: Some(root.join("prefix")), ..on("home/bin") };
        check(folder, "/agents/some-agent/bin/some", ("prefix", "/agents/some-agent"));
        let said = [("some-agent".to_owned(), root.join("home/bin/some"))].into_iter().collect();
        check(Places { programs: said, ..on("prefix/bin") }, "/agents/some-agent/some", alone);
        assert_eq!(find(&AGENT, &on("empty")), None);
    }
}
