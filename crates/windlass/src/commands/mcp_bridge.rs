//! `windlass mcp bridge`: standard input and output, passed on to an endpoint of this machine, for agents that only take MCP
//! servers that are programs.

use std::sync::Arc;

use windlass_domain::Runtime;
use windlass_mcp::serve::{Bridge, Limits};
use windlass_runtime::TokioRuntime;

use crate::config::mcp_endpoint;
use crate::exit::{Exit, WrongUse};
use crate::standard_streams::{Lines, input};

pub async fn bridge() -> anyhow::Result<Exit> {
    let Some((url, token)) = mcp_endpoint() else {
        return Err(WrongUse::new("nobody says where to")
            .hint("set WINDLASS_MCP_URL and WINDLASS_MCP_TOKEN, as whoever starts an agent does")
            .into());
    };
    let runtime: Arc<dyn Runtime> = Arc::new(TokioRuntime::current());
    let bridge = Bridge::new(&url, token, Arc::clone(&runtime), Limits::default())
        .map_err(|unusable| WrongUse::new(format!("WINDLASS_MCP_URL: {unusable}")))?;
    Box::pin(bridge.forward(input(&runtime), Lines)).await?;
    Ok(Exit::Completed)
}
