//! What `windlass.toml` says in the right form and cannot mean.

use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use super::{FileConfig, SandboxConfig};
use crate::place::overlap;
use crate::serving::unnamed;

/// Variables that make a shell or the linker run something before the command itself. An agent could leave that something
/// in the workspace, and every check would run it first.
const RUN_FIRST: [&str; 5] = ["BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4"];
const RUN_FIRST_PREFIXES: [&str; 2] = ["LD_", "BASH_FUNC_"];

pub struct Objection {
    /// The section that it is about, from the outermost on.
    pub section: Vec<String>,
    /// For people; a setting that it is about stands in it by its name.
    pub said: String,
}

impl FileConfig {
    /// As many as each section can tell at once.
    pub fn objections(&self, data_dir: &Path) -> Vec<Objection> {
        let SandboxConfig { limits, network, allowed_hosts, docker, .. } = &self.sandbox;
        let sections = [
            ("sandbox.limits", limits.objection()),
            ("sandbox", allowed_hosts.objection(*network)),
            ("sandbox.docker", docker.objection()),
            ("compaction", self.compaction.config().objection()),
            ("doom_loop", self.doom_loop.objection()),
            ("subagents", self.subagents.objection().map(str::to_owned)),
            ("coordinator", self.coordinator.concurrency().objection()),
            ("redis", self.redis.objection().map(str::to_owned)),
            ("browser", self.browser.objection()),
            ("approvals", self.approvals.objection()),
            ("limits", self.limits.objection()),
            ("retention", self.retention.objection()),
            ("store", self.store.objection()),
        ];
        let of_sections = sections.into_iter().filter_map(|(section, said)| {
            let path = section.split('.').map(str::to_owned).collect();
            said.map(|said| Objection { section: path, said: format!("[{section}]: {said}") })
        });
        let of_servers = self.mcp.objections().map(|(name, said)| Objection {
            section: vec!["mcp".to_owned(), "servers".to_owned(), name.clone()],
            said: format!("[mcp.servers.{name}]: {said}"),
        });
        let of_sandbox = self.sandbox.of_env().chain(self.sandbox.of_mounts(data_dir));
        of_sections.chain(of_servers).chain(of_sandbox).chain(self.of_server()).chain(self.of_tenants()).collect()
    }

    fn of_server(&self) -> impl Iterator<Item = Objection> {
        let of_limits = self.server.limits.objection().map(|said| about(&["server", "limits"], &said));
        self.server.objections().map(|said| about(&["server"], &said)).chain(of_limits)
    }

    fn of_tenants(&self) -> impl Iterator<Item = Objection> {
        self.tenants.iter().filter_map(|(name, tenant)| {
            let of_name = unnamed(name).map(|said| about(&["tenants", name], said));
            let of_limits = tenant.limits.objection().map(|said| about(&["tenants", name, "limits"], &said));
            of_name.or(of_limits)
        })
    }
}

fn about(section: &[&str], said: &str) -> Objection {
    let section: Vec<String> = section.iter().map(ToString::to_string).collect();
    Objection { said: format!("[{}]: {said}", section.join(".")), section }
}

impl SandboxConfig {
    fn of_env(&self) -> impl Iterator<Item = Objection> {
        let runs_first =
            |name: &str| RUN_FIRST.contains(&name) || RUN_FIRST_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        let is_name = |name: &str| !name.is_empty() && !name.contains(['=', '\0']);
        self.env.iter().filter_map(move |(name, value)| {
            let said = match name {
                name if runs_first(name) => {
                    format!(
                        "`env` may not set {name}: commands would first run or load what it names, checks among them"
                    )
                }
                name if !is_name(name) || value.contains('\0') => format!("`env` cannot set {name:?}"),
                _ => return None,
            };
            Some(Objection { section: vec!["sandbox".to_owned(), "env".to_owned(), name.clone()], said })
        })
    }

    fn of_mounts(&self, data_dir: &Path) -> impl Iterator<Item = Objection> {
        self.readonly_mounts.iter().filter_map(move |folder| {
            let what = match folder.metadata() {
                _ if !folder.is_absolute() => "must be absolute".to_owned(),
                Err(error) => format!("{error}; make it, or take it out"),
                Ok(_) if overlap(folder, data_dir) => "would show the data directory to agents".to_owned(),
                Ok(_) if has_socket(folder) => {
                    "holds a socket: read-only or not, whoever listens behind it would serve agents".to_owned()
                }
                Ok(_) => return None,
            };
            let said = format!("`readonly_mounts`: {} {what}", folder.display());
            Some(Objection { section: vec!["sandbox".to_owned(), "readonly_mounts".to_owned()], said })
        })
    }
}

/// Whether it is a socket, a folder with one in it, or the place where services have theirs.
fn has_socket(folder: &Path) -> bool {
    let is_socket = |kind: std::fs::FileType| kind.is_socket();
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let inside = || std::fs::read_dir(&real).into_iter().flatten().flatten().filter_map(|entry| entry.file_type().ok());
    let itself = std::fs::symlink_metadata(&real).is_ok_and(|found| is_socket(found.file_type()));
    itself || real.starts_with("/run") || inside().any(is_socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objections(file: &FileConfig, data: &Path) -> Vec<String> {
        file.objections(data).into_iter().map(|objection| objection.said).collect()
    }

    fn of(toml: &str) -> Vec<String> {
        objections(&toml::from_str(toml).expect("it can be read"), Path::new("/nowhere/data"))
    }

    #[test]
    fn what_would_run_before_every_command_is_refused() {
        for name in ["BASH_ENV", "ENV", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT"] {
            let said = of(&format!("[sandbox]\nenv = {{ {name} = \"x\" }}\n"));
            assert!(said.len() == 1 && said[0].contains(name), "{said:?}");
        }
        assert_eq!(of("[sandbox]\nenv = { LANG = \"C\", ENVIRONMENT = \"test\", OLD_ENV = \"x\" }\n"), [""; 0]);
        assert_eq!(of("[sandbox]\nenv = { \"A=B\" = \"x\", ENV = \"y\" }\n").len(), 2);
    }

    #[test]
    fn a_mount_must_be_there_and_must_not_show_the_data_directory() {
        let folder = tempfile::tempdir().expect("a folder");
        let (data, other) = (folder.path().join("data"), folder.path().join("other"));
        std::fs::create_dir(&other).expect("a folder");
        let objections = |mount: &Path| {
            let sandbox = SandboxConfig { readonly_mounts: vec![mount.to_owned()], ..SandboxConfig::default() };
            objections(&FileConfig { sandbox, ..FileConfig::default() }, &data)
        };
        assert_eq!(objections(&other), [""; 0]);
        for refused in [folder.path(), Path::new("/"), Path::new("other"), &folder.path().join("away")] {
            assert_eq!(objections(refused).len(), 1, "{}", refused.display());
        }
    }
}
