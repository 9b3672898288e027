//! `windlass mcp list | pin NAME | serve`: the servers that are configured, with what they offer; accepting it is `mcp_pin`'s, and being
//! one `mcp_serve`'s.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use windlass_domain::{CancelSignal, Runtime};
use windlass_mcp::{Listing, Pins, Standing, compare, full_name};
use windlass_policy::visible_line;
use windlass_runtime::TokioRuntime;
use windlass_sandbox::{Bubblewrap, Provider, Sandbox};

use super::mcp_bridge::bridge;
use super::mcp_pin::pin;
use super::mcp_serve::serve;
use crate::arguments::{Mcp, McpList, Output, SandboxName};
use crate::config::Config;
use crate::equipment::policy;
use crate::exit::{Exit, WrongUse};
use crate::mcp::McpServers;
use crate::show::{Line, Sheet, Style};
use crate::wiring::{create_private, supervisor};

/// Of a description, on one line of a list.
const SHOWN_LETTERS: usize = 200;

pub async fn mcp(command: Mcp) -> anyhow::Result<Exit> {
    match command {
        Mcp::List(arguments) => Ok(mcp_list(&Config::load()?, &arguments).await?.show()),
        Mcp::Pin(arguments) => pin(&arguments).await,
        Mcp::Serve(arguments) => Box::pin(serve(arguments)).await,
        Mcp::Bridge => bridge().await,
    }
}

/// What is needed to ask a server.
pub(super) struct Asking {
    pub servers: McpServers,
    pub sandbox: Arc<dyn Sandbox>,
    pub pins: Pins,
}

impl Asking {
    /// The servers start in a sandbox like a task's, over the same folder.
    pub async fn open(config: &Config, workspace: &Path) -> anyhow::Result<Self> {
        create_private(&config.data_dir)?;
        let runtime: Arc<dyn Runtime> = Arc::new(TokioRuntime::current());
        let servers = McpServers::new(config, &runtime);
        let pins = servers.pins()?;
        let mut policy = policy(&config.file.sandbox, workspace);
        policy.hidden.push(config.data_dir.clone());
        let provider: Box<dyn Provider> = match config.file.sandbox.provider {
            Some(SandboxName::Docker) => Box::new(config.file.sandbox.docker.provider(supervisor())),
            Some(SandboxName::Bubblewrap | SandboxName::Process) | None => Box::new(Bubblewrap::new(supervisor())),
        };
        let sandbox = provider.open(policy).await.map_err(|error| {
            WrongUse::new(format!("failed to {error}")).hint("`windlass doctor` says what is missing")
        })?;
        Ok(Self { servers, sandbox: Arc::from(sandbox), pins })
    }

    pub async fn listing(&self, name: &str) -> anyhow::Result<Result<Listing, String>> {
        let (server, _) = self.servers.server(name, &self.sandbox, &self.pins)?;
        let listed = server.list(&CancelSignal::never()).await;
        Ok(listed.map_err(|error| error.to_string()))
    }
}

pub async fn mcp_list(config: &Config, arguments: &McpList) -> anyhow::Result<Sheet> {
    let asking = Asking::open(config, &arguments.workspace).await?;
    let mut sheet = Sheet::new();
    let mut failed = 0;
    for name in asking.servers.config.servers.keys() {
        match asking.listing(name).await? {
            Ok(listing) => tell(&mut sheet, name, (&listing, &asking.pins), arguments.output),
            Err(reason) => {
                failed += 1;
                tell_failure(&mut sheet, name, &reason, arguments.output);
            }
        }
    }
    let servers = asking.servers.config.servers.len();
    if arguments.output.json {
        sheet.object(&json!({"type": "result", "servers": servers, "failed": failed}));
    } else if servers == 0 {
        sheet.print_whole(&Line::new().plain("No MCP server is configured; docs/mcp.md shows how."));
    }
    asking.sandbox.close().await;
    Ok(sheet.ending(if failed == 0 { Exit::Completed } else { Exit::Failed }))
}

pub(super) fn tell(sheet: &mut Sheet, server: &str, (listing, pins): (&Listing, &Pins), output: Output) {
    let pinned = pins.of(server).cloned().unwrap_or_default();
    for (name, standing) in compare(&pinned, listing) {
        let tool = listing.tools.get(&name).or_else(|| pinned.get(&name));
        let description = tool.map(|tool| tool.description.as_str()).unwrap_or_default();
        if output.json {
            sheet.object(&json!({
                "type": "tool", "server": server, "name": full_name(server, &name), "standing": standing.as_str(),
                "digest": tool.map(|tool| tool.digest), "pinned": pinned.get(&name).map(|pin| pin.digest),
                "description": description,
            }));
            continue;
        }
        let style = match standing {
            Standing::Pinned => Style::Good,
            Standing::New => Style::Warn,
            Standing::Changed | Standing::Gone => Style::Bad,
        };
        let shown: String = visible_line(description).chars().take(SHOWN_LETTERS).collect();
        let line = Line::marked(style, &format!("{:<9}", standing.as_str()));
        sheet.print_whole(&line.plain(full_name(server, &name)).gap().dim(shown));
    }
    for unusable in &listing.unusable {
        if output.json {
            sheet.object(&json!({
                "type": "unusable", "server": server, "name": unusable.name, "reason": unusable.reason,
            }));
            continue;
        }
        let name = visible_line(&unusable.name).into_owned();
        let line = Line::marked(Style::Warn, "unusable ").plain(name).gap().dim(&unusable.reason);
        sheet.print_whole(&line);
    }
}

pub(super) fn tell_failure(sheet: &mut Sheet, server: &str, reason: &str, output: Output) {
    if output.json {
        sheet.object(&json!({"type": "failure", "server": server, "reason": reason}));
    } else {
        let line = format!("{server}: {}", visible_line(reason));
        sheet.print_whole(&Line::marked(Style::Bad, "✘ ").plain(line));
    }
}
