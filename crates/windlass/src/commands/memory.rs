//! `windlass memory list | search QUERY | forget ID`: what agents that plan and look around find of earlier tasks, as they find
//! it, and the owner's word that something is to be found no more.

use serde_json::{Value, json};
use windlass_domain::{Memory, MemoryId, MemorySource, Taint};
use windlass_engine::{Engine, Error, Recalled};

use super::find::pick;
use crate::arguments::{MemoryCommand, MemoryForget, MemoryList, MemorySearch};
use crate::exit::WrongUse;
use crate::show::{Line, Sheet, Style, quoted};
use crate::wiring::Windlass;

const LIST: &str = "`windlass memory list` shows what is remembered";

pub async fn memory(windlass: &Windlass, command: &MemoryCommand) -> anyhow::Result<Sheet> {
    match command {
        MemoryCommand::List(arguments) => list(windlass, arguments).await,
        MemoryCommand::Search(arguments) => search(windlass, arguments).await,
        MemoryCommand::Forget(arguments) => forget(windlass, arguments).await,
    }
}

async fn list(windlass: &Windlass, MemoryList { limit, output }: &MemoryList) -> anyhow::Result<Sheet> {
    let mut sheet = Sheet::new();
    let memories = windlass.engine.memories().await?;
    let limit = usize::try_from(*limit).unwrap_or(usize::MAX);
    let shown = memories.iter().take(limit);
    if output.json {
        shown.for_each(|memory| sheet.object(&as_json(memory)));
        sheet.object(&json!({"type": "result", "memories": memories.len()}));
        return Ok(sheet);
    }
    for memory in shown {
        let (_, rest) = memory.parts();
        sheet.print(&row(memory).gap().giving_way(Style::Dim, rest.lines().next().unwrap_or_default()));
    }
    match memories.len().saturating_sub(limit) {
        _ if memories.is_empty() => sheet.print(&nothing()),
        0 => {}
        older => sheet.print(&Line::new().dim(format!("and {older} older: --limit {} shows all", memories.len()))),
    }
    Ok(sheet)
}

async fn search(windlass: &Windlass, arguments: &MemorySearch) -> anyhow::Result<Sheet> {
    let MemorySearch { query, limit, output } = arguments;
    if !query.chars().any(char::is_alphanumeric) {
        return Err(WrongUse::new("there is no word to look for").hint("windlass memory search \"flaky test\"").into());
    }
    let mut sheet = Sheet::new();
    let limit = usize::try_from(*limit).unwrap_or(usize::MAX);
    let Recalled { found, kept, remark } = windlass.engine.search_memory(query, limit).await?;
    if output.json {
        found.iter().for_each(|memory| sheet.object(&as_json(memory)));
        sheet.object(&json!({"type": "result", "found": found.len(), "memories": kept, "remark": remark}));
        return Ok(sheet);
    }
    for memory in &found {
        sheet.print_whole(&row(memory));
        let (_, rest) = memory.parts();
        quoted(rest).for_each(|line| sheet.print_whole(&line));
    }
    match (found.is_empty(), kept) {
        (false, _) => {}
        (true, 0) => sheet.print_whole(&nothing()),
        (true, kept) => {
            let told = format!("None of {kept} memories matches. Try other words; {LIST}.");
            sheet.print_whole(&Line::new().plain(told));
        }
    }
    remark.iter().for_each(|remark| sheet.print_whole(&Line::new().dim(remark)));
    Ok(sheet)
}

async fn forget(windlass: &Windlass, MemoryForget { id, output }: &MemoryForget) -> anyhow::Result<Sheet> {
    let mut sheet = Sheet::new();
    let meant = find(&windlass.engine, id).await?;
    let forgotten = windlass.engine.forget(meant, &windlass.user).await.map_err(|error| match error {
        Error::NoSuchMemory(_) => WrongUse::new(error.to_string()).hint(LIST).into(),
        other => anyhow::Error::from(other),
    })?;
    match output.json {
        true => sheet.object(&json!({"type": "result", "id": forgotten.id, "forgotten": true})),
        false => {
            let (about, _) = forgotten.parts();
            let line = format!("forgotten: {} \"{about}\"; nobody finds it any more", forgotten.kind.as_str());
            sheet.print_whole(&Line::marked(Style::Good, "✔ ").plain(line));
        }
    }
    Ok(sheet)
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
