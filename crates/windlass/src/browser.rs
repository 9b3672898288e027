//! `[browser]` in `windlass.toml`: whether agents have a browser, and which Chromium it is. It runs in the task's sandbox, so that
//! it must be where the sandbox shows it: below `/usr`, or in a mount; in a container it is the image's, which nobody can look
//! into from here, and the operator says where it is. Where nothing confines it there is none: it has no other wall.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use windlass_policy::visible;
use windlass_tools::browser::{Browser, BrowserSetup};
use windlass_tools::{Error, Kit};

use crate::config::SandboxConfig;
use crate::equipment::{BUBBLEWRAP, DOCKER};
use crate::network::NetworkChoice;

/// The program itself before scripts that start it: those want more of `/etc` than a sandbox has.
const PLACES: [&str; 7] = [
    "/usr/lib/chromium/chromium",
    "/usr/lib/chromium-browser/chromium-browser",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
];
const SHOWN: &str = "/usr";

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BrowserConfig {
    pub enabled: bool,
    /// As the sandbox sees it; looked for where there is none.
    pub program: Option<PathBuf>,
}

impl BrowserConfig {
    pub fn objection(&self) -> Option<String> {
        let program = self.program.as_ref().filter(|program| !program.is_absolute())?;
        Some(format!("`program` must be absolute, not {}", program.display()))
    }

    /// The kit, and the browser where the role may have it and there is one.
    pub fn join(&self, kit: Kit, sandbox: &str, config: &SandboxConfig) -> Result<Kit, Error> {
        let Ok(program) = self.find(sandbox, config) else { return Ok(kit) };
        let SandboxConfig { network, allowed_hosts, .. } = config;
        let hosts = (*network == NetworkChoice::Restricted).then(|| allowed_hosts.hosts().clone());
        let setup = BrowserSetup::new(program, hosts, |words| visible(words).into_owned());
        kit.with(vec![Box::new(Browser::new(setup))])
    }

    /// Where it is in a sandbox of this name, or why there is none.
    pub fn find(&self, sandbox: &str, config: &SandboxConfig) -> Result<String, String> {
        if !self.enabled {
            return Err("not enabled; set `enabled = true` in [browser] of windlass.toml to use it".to_owned());
        }
        match (sandbox, &self.program) {
            (BUBBLEWRAP, Some(program)) if is_shown(program, config) => Ok(program.display().to_string()),
            (BUBBLEWRAP, Some(program)) => Err(format!(
                "{} is not a program that a sandbox shows; install it below {SHOWN}, or add its folder to `readonly_mounts`",
                program.display()
            )),
            (BUBBLEWRAP, None) => {
                let found = PLACES.iter().find(|place| is_shown(Path::new(place), config));
                let absent = "no Chromium below /usr; on Debian and its kin: apt-get install chromium";
                found.map(|place| (*place).to_owned()).ok_or_else(|| absent.to_owned())
            }
            (DOCKER, Some(program)) => Ok(program.display().to_string()),
            (DOCKER, None) => Err("in containers it is the image's: say where with `program` in [browser]".to_owned()),
            _ => Err("without a sandbox nothing would confine it".to_owned()),
        }
    }
}

fn is_shown(program: &Path, config: &SandboxConfig) -> bool {
    let Ok(real) = program.canonicalize() else { return false };
    let in_mount = || config.readonly_mounts.iter().any(|mount| program.starts_with(mount));
    real.is_file() && (real.starts_with(SHOWN) || in_mount())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::equipment::PROCESS;

    fn enabled(program: Option<&Path>) -> BrowserConfig {
        BrowserConfig { enabled: true, program: program.map(Path::to_owned) }
    }

    #[test]
    fn it_is_where_the_sandbox_shows_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("chrome");
        std::fs::write(&program, "").expect("a program");
        let mut config = SandboxConfig::default();
        let find = |sandbox, config: &SandboxConfig| enabled(Some(&program)).find(sandbox, config);
        assert!(find(BUBBLEWRAP, &config).expect_err("it is elsewhere").contains("readonly_mounts"));
        assert_eq!(find(DOCKER, &config), Ok(program.display().to_string()), "the image is the operator's to know");
        config.readonly_mounts.push(folder.path().to_owned());
        assert_eq!(find(BUBBLEWRAP, &config), Ok(program.display().to_string()));
        assert!(enabled(Some(Path::new("/usr/no/such"))).find(BUBBLEWRAP, &config).is_err());
        assert_eq!(enabled(Some(Path::new("/usr/bin/env"))).find(BUBBLEWRAP, &config), Ok("/usr/bin/env".to_owned()));
        assert!(enabled(None).find(DOCKER, &config).is_err());
        assert!(find(PROCESS, &config).expect_err("nothing confines it").contains("confine"));
        assert!(BrowserConfig::default().find(BUBBLEWRAP, &config).expect_err("it is off").contains("not enabled"));
    }

    #[test]
    fn a_program_has_a_whole_path() {
        assert!(enabled(Some(Path::new("chromium"))).objection().is_some());
        assert_eq!(enabled(Some(Path::new("/usr/bin/chromium"))).objection(), None);
    }
}
