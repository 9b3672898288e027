//! `windlass rehearse serve`: a script as a model server on the loopback interface.

use std::sync::Arc;

use anyhow::Context as _;
use windlass_llm::{Script, Server};
use windlass_runtime::TokioRuntime;

use crate::arguments::Rehearse;
use crate::exit::{Exit, WrongUse};
use crate::show::{Line, Screen};

pub async fn rehearse(arguments: Rehearse) -> anyhow::Result<Exit> {
    let Rehearse::Serve(serve) = arguments;
    let text = std::fs::read_to_string(&serve.script).with_context(|| format!("{}", serve.script.display()));
    let text = text.map_err(|error| WrongUse::new(format!("{error:#}")))?;
    let script =
        Script::parse(&text).map_err(|problems| WrongUse::new(format!("{}:\n{problems}", serve.script.display())))?;
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
