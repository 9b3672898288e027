//! `windlass top`: the console's Stream, Review and Activity at a terminal, over this data directory or a server's.

use crate::arguments;
use crate::config::Config;
use crate::elsewhere::Far;
use crate::exit::{Exit, WrongUse};
use crate::screens::seat;
use crate::top::{Model, Source, sit};
use crate::wiring::Windlass;

const IN_LINES: &str =
    "`windlass status`, `windlass inbox` and `windlass log` say the same in lines, with --json for scripts";

pub async fn top(arguments: arguments::Top, far: Option<&Far>) -> anyhow::Result<Exit> {
    if arguments.json {
        return Err(WrongUse::new("a page to look at has no --json").hint(IN_LINES).into());
    }
    if seat().is_err() {
        return Err(WrongUse::new("standard input and output are not a terminal").hint(IN_LINES).into());
    }
    let source = match far {
        Some(far) => Source::There(far),
        None => {
            let config = Config::look()?;
            Source::Here { windlass: Box::new(Windlass::open(config.clone()).await?), config: Box::new(config) }
        }
    };
    let home = source.home(arguments.workspace, arguments.session.unwrap_or_default()).await?;
    Box::pin(sit(&source, Model::new(source.place(), home))).await
}
