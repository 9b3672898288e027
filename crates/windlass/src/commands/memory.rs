//! `windlass memory list | search QUERY | forget ID`: what agents that plan and look around find of earlier tasks, as they find
//! it, and the owner's word that something is to be found no more.

use serde_json::{Value, json};
use windlass_domain::{Memory, MemoryId, MemorySource, Taint};
use windlass_engine::{Engine, Error, Recalled};

use super::find::pick;
use crate::arguments::{MemoryCommand, MemoryForget, MemoryList, MemorySearch};
use crate::config::Config;
use crate::exit::{Exit, WrongUse};
use crate::show::{Line, Screen, Style, print_json, quoted};
use crate::wiring::Windlass;

const LIST: &str = "`windlass memory list` shows what is remembered";

pub async fn memory(command: MemoryCommand) -> anyhow::Result<Exit> {
    match command {
        MemoryCommand::List(arguments) => list(&arguments).await?,
        MemoryCommand::Search(arguments) => search(&arguments).await?,
        MemoryCommand::Forget(arguments) => forget(&arguments).await?,
    }
    Ok(Exit::Completed)
}

async fn list(MemoryList { limit, output }: &MemoryList) -> anyhow::Result<()> {
    let memories = Windlass::open(Config::look()?)?.engine.memories().await?;
    let limit = usize::try_from(*limit).unwrap_or(usize::MAX);
    let shown = memories.iter().take(limit);
    if output.json {
        shown.for_each(|memory| print_json(&as_json(memory)));
        print_json(&json!({"type": "result", "memories": memories.len()}));
        return Ok(());
    }
    let mut screen = Screen::new();
    for memory in shown {
        let (_, rest) = memory.parts();
        screen.print(&row(memory).gap().giving_way(Style::Dim, rest.lines().next().unwrap_or_default()));
    }
    match memories.len().saturating_sub(limit) {
        _ if memories.is_empty() => screen.print(&nothing()),
        0 => {}
        older => screen.print(&Line::new().dim(format!("and {older} older: --limit {} shows all", memories.len()))),
    }
    Ok(())
}

async fn search(MemorySearch { query, limit, output }: &MemorySearch) -> anyhow::Result<()> {
    if !query.chars().any(char::is_alphanumeric) {
        return Err(WrongUse::new("there is no word to look for").hint("windlass memory search \"flaky test\"").into());
    }
    // An embedder may be asked: what is wrong with its configuration is said.
    let Windlass { engine, .. } = Windlass::open(Config::load()?)?;
    let limit = usize::try_from(*limit).unwrap_or(usize::MAX);
    let Recalled { found, kept, remark } = engine.search_memory(query, limit).await?;
    if output.json {
        found.iter().for_each(|memory| print_json(&as_json(memory)));
        print_json(&json!({"type": "result", "found": found.len(), "memories": kept, "remark": remark}));
        return Ok(());
    }
    let mut screen = Screen::new();
    for memory in &found {
        screen.print_whole(&row(memory));
        let (_, rest) = memory.parts();
        quoted(rest).for_each(|line| screen.print_whole(&line));
    }
    match (found.is_empty(), kept) {
        (false, _) => {}
        (true, 0) => screen.print_whole(&nothing()),
        (true, kept) => {
            let told = format!("None of {kept} memories matches. Try other words; {LIST}.");
            screen.print_whole(&Line::new().plain(told));
        }
    }
    remark.iter().for_each(|remark| screen.print_whole(&Line::new().dim(remark)));
    Ok(())
}

async fn forget(MemoryForget { id, output }: &MemoryForget) -> anyhow::Result<()> {
    let windlass = Windlass::open(Config::look()?)?;
    let meant = find(&windlass.engine, id).await?;
    let forgotten = windlass.engine.forget(meant, &windlass.user).await.map_err(|error| match error {
        Error::NoSuchMemory(_) => WrongUse::new(error.to_string()).hint(LIST).into(),
        other => anyhow::Error::from(other),
    })?;
    windlass.engine.close().await?;
    match output.json {
        true => print_json(&json!({"type": "result", "id": forgotten.id, "forgotten": true})),
        false => {
            let (about, _) = forgotten.parts();
            let line = format!("forgotten: {} \"{about}\"; nobody finds it any more", forgotten.kind.as_str());
            Screen::new().print_whole(&Line::marked(Style::Good, "✔ ").plain(line));
        }
    }
    Ok(())
}

async fn find(engine: &Engine, named: &str) -> anyhow::Result<MemoryId> {
    if let Ok(id) = named.parse() {
        return Ok(id);
    }
    let memories = engine.memories().await?;
    let picked = pick(memories.iter().map(|memory| (memory.id, memory.id.short())), named);
    Ok(picked.map_err(|problem| problem.explain("memory", named, LIST))?)
}

fn nothing() -> Line {
    Line::new().plain("Nothing is remembered yet: no task has ended here.")
}

fn row(memory: &Memory) -> Line {
    let (about, _) = memory.parts();
    let MemorySource::Task(task) = memory.source;
    let line = Line::new().dim(format!("{}  ", memory.id.short())).plain(format!("{:<8}  ", memory.kind.as_str()));
    let line = line.dim(format!("task {}  ", task.short()));
    let line = if memory.taint == Taint::External { line.add(Style::Warn, "external  ") } else { line };
    line.giving_way(Style::Plain, about)
}

fn as_json(memory: &Memory) -> Value {
    let Memory { id, kind, text, taint, source, created_at } = memory;
    json!({
        "type": "memory", "id": id, "kind": kind, "text": text, "taint": taint, "source": source,
        "created_at": created_at.to_rfc3339(),
    })
}
