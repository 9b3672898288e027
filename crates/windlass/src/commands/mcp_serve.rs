//! `windlass mcp serve`: an MCP server on standard input and output, by which another agent may ask for tasks, watch and answer
//! them. What it says is external. It approves nothing: a task of its begins when a person has agreed to it here.

use std::io::IsTerminal as _;
use std::sync::Arc;

use windlass_mcp::serve::{Limits, Server, serve_lines};

use super::load::load_to_work;
use super::mcp_desk::Desk;
use crate::arguments::McpServe;
use crate::exit::Exit;
use crate::interrupts::Interrupts;
use crate::show::mention;
use crate::standard_streams::{Lines, input};
use crate::wiring::Windlass;

pub async fn serve(arguments: McpServe) -> anyhow::Result<Exit> {
    let config = load_to_work().await?;
    // Better now than when the first task is asked for.
    crate::place::workspace(&arguments.workspace, &config)?;
    let windlass = Arc::new(Windlass::open_to_work(config).await?);
    if std::io::stdin().is_terminal() {
        mention("this is for programs: an agent starts it, and speaks the Model Context Protocol to it");
    }
    let runtime = Arc::clone(&windlass.runtime);
    let desk = Desk::new(Arc::clone(&windlass), arguments);
    let server = Server::new(Arc::new(desk), Arc::clone(&runtime), Limits::default());
    let mut interrupts = Interrupts::new()?;
    let served = tokio::select! {
        served = Box::pin(serve_lines(&server, input(&runtime), Lines)) => served,
        () = interrupts.next() => Ok(()),
    };
    windlass.observing.flush().await;
    windlass.engine.close().await?;
    served?;
    Ok(Exit::Completed)
}
