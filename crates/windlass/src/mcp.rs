//! MCP servers that the operator has configured, and the file that says which of their tools were accepted. Nothing of this is
//! ever read from a workspace. A tool that nobody accepted is not offered, so that a server nobody looked at has none.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use windlass_domain::{ErrorCode, ErrorDetails, Runtime};
use windlass_mcp::{Limits, Listing, Pins, Server, name_problem};
use windlass_sandbox::Sandbox;
use windlass_tools::Kit;
use windlass_tools::mcp::{Address, McpTool, ServerProgram};
use windlass_tools::web::Location;

use crate::config::Config;
use crate::exit::WrongUse;
use crate::keys::{self, Kind};
use crate::services::Keys;
use crate::wiring::create_private;

/// `[mcp]` in `windlass.toml`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct McpConfig {
    pub servers: BTreeMap<String, ServerConfig>,
}

/// `[mcp.servers.NAME]`: a program, or an address.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerConfig {
    pub command: Vec<String>,
    /// Variables that the program is given besides those of the sandbox.
    pub env: BTreeMap<String, String>,
    pub url: Option<String>,
    /// Headers, and the variables that hold their values.
    pub headers_env: BTreeMap<String, String>,
}

impl McpConfig {
    /// What all programs are given, by name.
    pub fn environment(&self) -> impl Iterator<Item = (&String, &String)> {
        self.servers.values().flat_map(|server| &server.env)
    }

    pub fn key_variables(&self) -> impl Iterator<Item = &str> {
        self.servers.values().flat_map(|server| server.headers_env.values().map(String::as_str))
    }

    /// By the server's name.
    pub fn objections(&self) -> impl Iterator<Item = (&String, String)> {
        self.servers.iter().filter_map(|(name, server)| {
            let objection = name_problem(name).or_else(|| server.objection());
            objection.map(|objection| (name, objection))
        })
    }
}

impl ServerConfig {
    fn objection(&self) -> Option<String> {
        let objection = match (&self.url, self.command.is_empty()) {
            (Some(_), false) => "it has `command` and `url`; keep one of them",
            (None, true) => "it needs `command` or `url`",
            (Some(_), true) if !self.env.is_empty() => "`env` is for a `command`; a `url` has `headers_env`",
            (None, false) if !self.headers_env.is_empty() => "`headers_env` is for a `url`; a `command` has `env`",
            (url, _) => {
                return url.as_ref().and_then(|url| Location::parse(url).err()).map(|bad| format!("`url`: {bad}"));
            }
        };
        Some(objection.to_owned())
    }
}

#[derive(Clone)]
pub struct McpServers {
    pub config: McpConfig,
    keys: Keys,
    file: PathBuf,
    runtime: Arc<dyn Runtime>,
}

impl McpServers {
    pub fn new(config: &Config, runtime: &Arc<dyn Runtime>) -> Self {
        Self {
            config: config.file.mcp.clone(),
            keys: config.keys.clone(),
            file: file(&config.data_dir),
            runtime: Arc::clone(runtime),
        }
    }

    pub fn pins(&self) -> Result<Pins, WrongUse> {
        let Some(bytes) = keys::read(&self.file, Kind::Public)? else { return Ok(Pins::default()) };
        Pins::read(&bytes).map_err(|bad| {
            WrongUse::new(format!("{}: {bad}", self.file.display()))
                .hint("move it away and accept the servers again with `windlass mcp pin`")
        })
    }

    pub fn accept(&self, server: &str, listing: &Listing) -> anyhow::Result<()> {
        let mut pins = self.pins()?;
        pins.accept(server, listing);
        create_private(self.file.parent().unwrap_or(&self.file))?;
        Ok(keys::replace(&self.file, &pins.written()).map_err(WrongUse::from)?)
    }

    /// A server of the configuration, and the host it is at, where it is not a program.
    pub fn server(
        &self,
        name: &str,
        sandbox: &Arc<dyn Sandbox>,
        pins: &Pins,
    ) -> Result<(Server, Option<String>), WrongUse> {
        let config = self.config.servers.get(name).ok_or_else(|| {
            WrongUse::new(format!("windlass.toml has no [mcp.servers.{name}]"))
                .hint("`windlass mcp list` shows those there are")
        })?;
        let limits = Limits::default();
        let pinned = pins.of(name).cloned().unwrap_or_default();
        let made = |connector| Server::new(name, connector, pinned, Arc::clone(&self.runtime), limits);
        let Some(url) = &config.url else {
            let program = ServerProgram {
                sandbox: Arc::clone(sandbox),
                argv: config.command.clone(),
                env: config.env.clone(),
                longest_message: limits.message_bytes,
            };
            return Ok((made(Box::new(program)), None));
        };
        let wrong = |what: String| WrongUse::new(format!("windlass.toml: [mcp.servers.{name}]: {what}"));
        let header =
            |(header, variable): (&String, &String)| match self.keys.of(Some(variable)) {
                Some(value) => Ok((header.clone(), value)),
                None => Err(wrong(format!("`headers_env` names {variable}, which is not set"))
                    .hint("set it, or remove the header")),
            };
        let headers = config.headers_env.iter().map(header).collect::<Result<Vec<_>, _>>()?;
        let address =
            Address::new(url, headers, Arc::clone(&self.runtime), limits).map_err(|bad| wrong(bad.to_string()))?;
        let door = address.door();
        Ok((made(Box::new(address)), Some(door)))
    }

    /// The kit, and every tool that was accepted. Nothing is started or asked before one is called.
    pub fn join(&self, mut kit: Kit, sandbox: &Arc<dyn Sandbox>) -> Result<Kit, ErrorDetails> {
        if self.config.servers.is_empty() {
            return Ok(kit);
        }
        let wrong = |wrong: WrongUse| ErrorDetails::new(ErrorCode::Internal, wrong.message);
        let pins = self.pins().map_err(wrong)?;
        for name in self.config.servers.keys() {
            let (server, host) = self.server(name, sandbox, &pins).map_err(wrong)?;
            for tool in McpTool::all(&Arc::new(server), host.as_deref()) {
                // A schema that nothing can be held against is the server's fault, and no reason to stop the task.
                if let Ok(more) = kit.clone().with(vec![tool]) {
                    kit = more;
                }
            }
        }
        Ok(kit)
    }
}

/// In a folder of its own, which nobody else may enter.
fn file(data_dir: &Path) -> PathBuf {
    data_dir.join("mcp/pins.json")
}
