//! `windlass rehearse serve`: a script as a model server on the loopback interface.

use std::sync::Arc;

use windlass_llm::Server;
use windlass_runtime::TokioRuntime;

use super::script::read_script;
use crate::arguments::Rehearse;
use crate::exit::{Exit, WrongUse};
use crate::show::{Line, Screen};

pub async fn rehearse(arguments: Rehearse) -> anyhow::Result<Exit> {
    let Rehearse::Serve(serve) = arguments;
    let (_, script) = read_script(&serve.script)?;
    let runtime = Arc::new(TokioRuntime::current());
    let server = Server::bind(serve.port, Arc::new(script), runtime).await.map_err(|error| {
        let problem = format!("port {} of 127.0.0.1 cannot be used: {error}", serve.port);
        WrongUse::new(problem).hint("--port 0 takes a free one")
    })?;
    Screen::new().print_whole(&Line::new().plain(format!("listening on http://{}", server.local_addr()?)));
    tokio::select! {
        () = server.run() => {}
        stopped = tokio::signal::ctrl_c() => stopped?,
    }
    Ok(Exit::Completed)
}
