//! Containers: `[sandbox.docker]` in `windlass.toml`, and the variables of seed 000 §17.1 above it.

use std::path::PathBuf;

use clap::ValueEnum as _;
use serde::Deserialize;
use windlass_sandbox::{Docker, Supervisor};

use crate::arguments::SandboxName;
use crate::config::SandboxConfig;
use crate::exit::WrongUse;

/// Fewer bytes than this nothing runs in.
const LEAST_MEMORY: u64 = 64 << 20;

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ContainerConfig {
    /// Where the daemon listens.
    pub socket: Option<PathBuf>,
    pub image: Option<String>,
    /// How many processors a container may use.
    pub cpus: Option<f64>,
    /// In place of the limit that every sandbox has. Only a variable says so.
    #[serde(skip)]
    pub memory_bytes: Option<u64>,
}

impl ContainerConfig {
    pub fn provider(&self, supervisor: Supervisor) -> Docker {
        let Self { socket, image, cpus, memory_bytes } = self.clone();
        let mut docker = Docker::new(supervisor);
        docker = socket.into_iter().fold(docker, Docker::socket);
        docker = image.into_iter().fold(docker, Docker::image);
        docker = cpus.into_iter().fold(docker, Docker::cpus);
        memory_bytes.into_iter().fold(docker, Docker::memory_bytes)
    }

    pub fn objection(&self) -> Option<String> {
        let is_out = |cpus: f64| !(0.01..=1024.0).contains(&cpus);
        self.cpus.is_some_and(is_out).then(|| "cpus must be between 0.01 and 1024".to_owned())
    }
}

/// What the variables say stands above the file. Returns what is wrong with them; that is as if it had not been said.
pub fn overridden(config: &mut SandboxConfig, variable: fn(&str) -> Option<String>) -> Vec<WrongUse> {
    let mut problems = Vec::new();
    let mut heard = |problem| problems.push(problem);
    if let Some(mode) = variable("CONTAINER_MODE") {
        config.provider = provider(&mode).map_err(&mut heard).ok().or(config.provider);
    }
    let docker = &mut config.docker;
    // Another program's variable: what is no socket is said when there is something to connect to.
    let socket = |host: String| PathBuf::from(host.strip_prefix("unix://").unwrap_or(&host));
    docker.socket = variable("DOCKER_HOST").map(socket).or(docker.socket.take());
    docker.image = variable("CONTAINER_IMAGE").or(docker.image.take());
    if let Some(memory) = variable("CONTAINER_MEMORY") {
        docker.memory_bytes = bytes(&memory).map_err(&mut heard).ok();
    }
    if let Some(said) = variable("CONTAINER_CPU") {
        docker.cpus = cpus(&said).map_err(heard).ok().or(docker.cpus);
    }
    problems
}

fn cpus(said: &str) -> Result<f64, WrongUse> {
    let cpus = said.trim().parse().map_err(|_| wrong("CONTAINER_CPU", "a number, as 2 or 0.5", said))?;
    let asked = ContainerConfig { cpus: Some(cpus), ..ContainerConfig::default() };
    asked.objection().map_or(Ok(cpus), |objection| Err(WrongUse::new(format!("CONTAINER_CPU: {objection}"))))
}

fn wrong(name: &str, what: &str, value: &str) -> WrongUse {
    WrongUse::new(format!("{name} must be {what}, not `{value}`"))
}

fn provider(mode: &str) -> Result<SandboxName, WrongUse> {
    let known = SandboxName::from_str(mode.trim(), true);
    known.map_err(|_| wrong("CONTAINER_MODE", "docker, bubblewrap or process", mode))
}

/// As Docker writes it: bytes, or a number with `k`, `m` or `g`.
fn bytes(memory: &str) -> Result<u64, WrongUse> {
    let text = memory.trim().to_ascii_lowercase();
    let text = text.strip_suffix('b').unwrap_or(&text);
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'k') => (&text[..text.len() - 1], 10),
        Some(b'm') => (&text[..text.len() - 1], 20),
        Some(b'g') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let bytes = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    let bytes = bytes.filter(|bytes| (LEAST_MEMORY..1 << 50).contains(bytes));
    bytes.ok_or_else(|| wrong("CONTAINER_MEMORY", "at least 64m, as 512m or 2g", memory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_written_as_docker_writes_it() {
        let read = |text| bytes(text).map_err(|wrong| wrong.message);
        for (text, expected) in [("2g", 2 << 30), ("512M", 512 << 20), ("100000k", 100_000 << 10), ("2gb", 2 << 30)] {
            assert_eq!(read(text), Ok(expected), "{text}");
        }
        assert_eq!(read(" 134217728 "), Ok(134_217_728));
        for text in ["", "g", "2t", "-1g", "1.5g", "1m", "99999999999g"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_variable_stands_above_the_file() {
        let file = ContainerConfig { image: Some("mine".to_owned()), cpus: Some(1.0), ..ContainerConfig::default() };
        let file = SandboxConfig { docker: file, provider: Some(SandboxName::Bubblewrap), ..SandboxConfig::default() };
        let said = |name: &str| match name {
            "CONTAINER_MODE" => Some("docker".to_owned()),
            "CONTAINER_CPU" => Some("0.5".to_owned()),
            "DOCKER_HOST" => Some("unix:///run/mine.sock".to_owned()),
            _ => None,
        };
        let mut config = file;
        assert_eq!(overridden(&mut config, said).len(), 0, "they are in order");
        assert_eq!(config.provider, Some(SandboxName::Docker));
        assert_eq!(config.docker.image.as_deref(), Some("mine"));
        assert_eq!((config.docker.cpus, config.docker.socket), (Some(0.5), Some("/run/mine.sock".into())));
        let mut untouched = SandboxConfig::default();
        let wrong = overridden(&mut untouched, |name| name.starts_with("CONTAINER_").then(|| "mock".to_owned()));
        let wrong: Vec<String> = wrong.into_iter().map(|wrong| wrong.message).collect();
        assert!(wrong.len() == 3 && wrong[0].starts_with("CONTAINER_MODE must be"), "{wrong:?}");
        assert_eq!(untouched.provider, None);
    }
}
