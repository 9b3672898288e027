//! Which thing a user means by an id: the whole of it, the end of it as it is shown, or the beginning of either.

use std::fmt::Display;
use std::path::Path;

use windlass_domain::approval::CardId;
use windlass_domain::task::{Part, PartOf, TaskStatus};
use windlass_domain::{ExecutionId, RequestId, TaskId};
use windlass_engine::{Engine, Error};

use super::drive::explain;
use super::wish::Wish;
use crate::exit::WrongUse;
use crate::wiring::Windlass;

/// How far back short ids are looked for.
const MOST: usize = 10_000;
const MOST_LISTED: usize = 10;

/// Not exactly one was meant.
#[derive(Debug)]
pub enum Unclear {
    Nothing,
    Several(Vec<String>),
}

impl Unclear {
    pub fn explain(self, thing: &str, named: &str, hint: &str) -> WrongUse {
        match self {
            Self::Nothing => WrongUse::new(format!("there is no {thing} `{named}` here")).hint(hint),
            Self::Several(ids) => {
                let listed = ids.iter().take(MOST_LISTED).map(|id| format!("\n  {id}")).collect::<String>();
                let more = ids.len().saturating_sub(MOST_LISTED);
                let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
                WrongUse::new(format!("`{named}` may be any of these:{listed}{more}")).hint("give more of the id")
            }
        }
    }
}

/// The one that is meant among those there are, each with the end of it as it is shown.
pub fn pick<Id: Display + Copy>(ids: impl Iterator<Item = (Id, String)>, named: &str) -> Result<Id, Unclear> {
    let wanted = named.to_lowercase();
    let is_meant = |(id, short): &(Id, String)| {
        let text = id.to_string();
        !wanted.is_empty() && (text.starts_with(&wanted) || text.ends_with(&wanted) || short.starts_with(&wanted))
    };
    let matching: Vec<Id> = ids.filter(is_meant).map(|(id, _)| id).collect();
    match matching.as_slice() {
        [one] => Ok(*one),
        [] => Err(Unclear::Nothing),
        several => Err(Unclear::Several(several.iter().map(ToString::to_string).collect())),
    }
}

pub async fn find(engine: &Engine, named: &str) -> anyhow::Result<TaskId> {
    if let Ok(id) = named.parse::<TaskId>() {
        return Ok(id);
    }
    let ids = engine.task_ids(MOST).await?;
    let picked = pick(ids.into_iter().map(|id| (id, id.short())), named);
    Ok(picked.map_err(|problem| problem.explain("task", named, "`windlass status` lists the tasks"))?)
}

/// The task that one is a part of, with its name there; the task itself where it is no part.
pub async fn whole(engine: &Engine, task: TaskId) -> anyhow::Result<(TaskId, Option<String>)> {
    let created = engine.task(task).await.map_err(explain)?.created;
    let of = created.and_then(|created| created.part_of);
    Ok(of.map_or((task, None), |of| (of.root, Some(what_it_is(&of)))))
}

/// Whether somebody works on it or for it.
pub async fn is_driven(windlass: &Windlass, task: TaskId) -> anyhow::Result<bool> {
    Ok(windlass.engine.is_driven(task).await?)
}

fn what_it_is(of: &PartOf) -> String {
    let what = match &of.part {
        Part::Atom { atom, .. } => format!("the item `{atom}`"),
        Part::Plan { .. } | Part::Guidance { .. } | Part::Split { .. } | Part::Correction {} => {
            "the planner".to_owned()
        }
        Part::Research { .. } => "research".to_owned(),
        Part::Probe { atom } => format!("a look at the item `{atom}`"),
    };
    format!("{what} of task {}", of.root.short())
}

/// A card: one that is open rather than another that is called alike; else one that was answered, for whoever answers twice is
/// told so.
pub async fn find_card(engine: &Engine, named: &str) -> anyhow::Result<CardId> {
    if let Ok(id) = named.parse::<CardId>() {
        return Ok(id);
    }
    let among = |ids: Vec<CardId>| pick(ids.into_iter().map(|id| (id, id.short())), named);
    let open = engine.cards().await?.iter().map(|asked| asked.card.card_id).collect();
    let picked = match among(open) {
        Err(Unclear::Nothing) => among(engine.card_ids(MOST).await?),
        picked => picked,
    };
    Ok(picked.map_err(|problem| problem.explain("card", named, "`windlass inbox` shows the cards"))?)
}

/// An execution, where exactly one is meant and no task is.
pub async fn find_execution(engine: &Engine, named: &str) -> anyhow::Result<Option<ExecutionId>> {
    let tasks = engine.task_ids(MOST).await?;
    if !matches!(pick(tasks.into_iter().map(|id| (id, id.short())), named), Err(Unclear::Nothing)) {
        return Ok(None);
    }
    let executions = engine.execution_ids(MOST).await?;
    Ok(pick(executions.into_iter().map(|id| (id, id.short())), named).ok())
}

/// Who hears what is said to this id: a task, or an execution, as long as it is the one that works on its task.
pub async fn find_listener(engine: &Engine, named: &str) -> anyhow::Result<TaskId> {
    let Some(execution) = find_execution(engine, named).await? else { return find(engine, named).await };
    let task = engine.task_of(execution).await.map_err(explain)?;
    let attempts = engine.task(task).await.map_err(explain)?.attempts;
    match attempts.last().is_some_and(|newest| newest.execution_id == execution) {
        true => Ok(task),
        false => {
            let message = format!("execution {} is not the one that works on task {}", execution.short(), task.short());
            Err(WrongUse::new(message).hint("name the task instead").into())
        }
    }
}

/// A question that is open; one that was answered is found by the whole of its id.
pub async fn find_question(engine: &Engine, named: &str) -> anyhow::Result<RequestId> {
    if let Ok(id) = named.parse::<RequestId>() {
        return Ok(id);
    }
    let open = engine.questions().await?.into_iter().map(|open| open.asked.request_id);
    let picked = pick(open.map(|id| (id, id.short())), named);
    Ok(picked.map_err(|problem| problem.explain("open question", named, "`windlass inbox` shows the questions"))?)
}

/// The objective of the folder that one is in, where there is one that is not finished.
pub async fn objective_here(engine: &Engine) -> anyhow::Result<TaskId> {
    let mut open = open_objectives(engine, Path::new(".")).await?;
    open.retain(|begun| begun.is_here);
    match open.iter().collect::<Vec<_>>().as_slice() {
        [one] => Ok(one.task),
        [] => Err(WrongUse::new("no objective is worked on or agreed on in this folder")
            .hint("name its task; `windlass status` lists the tasks")
            .into()),
        several => Err(several_meant(several, "redirect").into()),
    }
}

/// The only objective that is not finished, for whoever is in no folder of this machine.
pub async fn only_objective(engine: &Engine) -> anyhow::Result<TaskId> {
    let open = open_objectives(engine, Path::new("")).await?;
    match open.iter().collect::<Vec<_>>().as_slice() {
        [one] => Ok(one.task),
        [] => Err(WrongUse::new("no objective is worked on or agreed on")
            .hint("name its task; `windlass status` lists the tasks")
            .into()),
        several => Err(several_meant(several, "redirect").into()),
    }
}

pub async fn newest_unfinished(engine: &Engine) -> anyhow::Result<TaskId> {
    let newest = engine.newest_unfinished().await?;
    newest.ok_or_else(|| WrongUse::new("no task is waiting to go on").hint("`windlass status` lists the tasks").into())
}

/// The newest of this folder that can be stopped.
pub async fn newest_at_work(engine: &Engine, wish: Wish) -> anyhow::Result<TaskId> {
    let here = Path::new(".").canonicalize()?;
    let at_work = at_work(engine).await?;
    if let Some((task, _)) = at_work.iter().find(|(_, folder)| Path::new(folder) == here) {
        return Ok(*task);
    }
    Err(named_instead("no task of this folder is worked on; elsewhere there are:", &at_work, wish).into())
}

/// The only one that can be stopped, for whoever is in no folder of this machine.
pub async fn only_at_work(engine: &Engine, wish: Wish) -> anyhow::Result<TaskId> {
    let at_work = at_work(engine).await?;
    match at_work.as_slice() {
        [(task, _)] => Ok(*task),
        _ => Err(named_instead("several tasks are worked on:", &at_work, wish).into()),
    }
}

fn named_instead(several: &str, at_work: &[(TaskId, String)], wish: Wish) -> WrongUse {
    let word = wish.word();
    if at_work.is_empty() {
        let nothing = WrongUse::new(format!("no task is worked on that could be {}", wish.done()));
        return nothing.hint("`windlass status` lists the tasks");
    }
    let listed = at_work.iter().take(MOST_LISTED).map(|(task, folder)| format!("\n  {}  in {folder}", task.short()));
    WrongUse::new(format!("{several}{}", listed.collect::<String>()))
        .hint(format!("name the one that is to {word}: windlass {word} TASK"))
}

/// With their folders, newest first: what rests, and what is not begun, stands still already.
async fn at_work(engine: &Engine) -> anyhow::Result<Vec<(TaskId, String)>> {
    let mut at_work = Vec::new();
    for summary in engine.wholes(MOST).await? {
        let state = &summary.state;
        if state.is_over() || state.status == Some(TaskStatus::Paused) || state.is_turn() {
            continue;
        }
        let is_planned = state.created.as_ref().is_some_and(|created| created.planned);
        if is_planned && engine.graph(summary.task_id).await?.is_aligned() {
            continue;
        }
        let folder = state.created.as_ref().map(|created| created.workspace.clone()).unwrap_or_default();
        at_work.push((summary.task_id, folder));
    }
    Ok(at_work)
}

/// An objective that is not over.
struct Begun {
    task: TaskId,
    goal: String,
    is_here: bool,
    is_agreed: bool,
}

/// The objective that whoever names none means: in this folder rather than elsewhere, and one that is agreed on and not started rather
/// than one that goes on; without any, the newest task that is not over.
pub async fn objective_meant(engine: &Engine, folder: &Path) -> anyhow::Result<TaskId> {
    let open = open_objectives(engine, folder).await?;
    match meant(&open).as_slice() {
        // Whoever drives that says what is missing.
        [] => engine.newest_unfinished().await?.ok_or_else(|| {
            let nothing = WrongUse::new("there is no objective to start");
            nothing.hint("agree on one first: windlass align \"…\"").into()
        }),
        [one] => Ok(one.task),
        several => Err(several_meant(several, "start").into()),
    }
}

async fn open_objectives(engine: &Engine, folder: &Path) -> Result<Vec<Begun>, Error> {
    let here = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let mut open = Vec::new();
    for summary in engine.wholes(MOST).await?.into_iter().filter(|summary| !summary.state.is_over()) {
        let Some(created) = summary.state.created.filter(|created| created.planned) else { continue };
        let graph = engine.graph(summary.task_id).await?;
        let is_agreed = graph.is_aligned();
        let is_here = Path::new(&created.workspace) == here;
        open.extend(graph.objective.map(|objective| Begun {
            task: summary.task_id,
            goal: objective.title(),
            is_here,
            is_agreed,
        }));
    }
    Ok(open)
}

/// Of each kind before the next, all that there are.
fn meant(open: &[Begun]) -> Vec<&Begun> {
    let kinds: [fn(&Begun) -> bool; 3] =
        [|begun| begun.is_here && begun.is_agreed, |begun| begun.is_here, |begun| begun.is_agreed];
    let of = |is_so: fn(&Begun) -> bool| open.iter().filter(|begun| is_so(begun)).collect::<Vec<_>>();
    kinds.into_iter().map(of).find(|found| !found.is_empty()).unwrap_or_else(|| open.iter().collect())
}

fn several_meant(several: &[&Begun], command: &str) -> WrongUse {
    let listed = several.iter().take(MOST_LISTED).map(|begun| format!("\n  {}  {}", begun.task.short(), begun.goal));
    let more = several.len().saturating_sub(MOST_LISTED);
    let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
    let newest = several.first().map(|begun| begun.task.short()).unwrap_or_default();
    WrongUse::new(format!("several objectives may be meant:{}{more}", listed.collect::<String>()))
        .hint(format!("name one: windlass {command} {newest}"))
}

#[cfg(test)]
mod tests {
    use windlass_domain::Wall;

    use super::*;

    /// Each a letter, with `h` for here and `a` for agreed on.
    #[test]
    fn what_is_agreed_on_here_is_meant_before_what_is_begun_here_and_that_before_others() {
        let check = |open: &str, expected: &str| {
            let begun = |word: &str| Begun {
                task: TaskId::new(Wall::default(), 1),
                goal: word.to_owned(),
                is_here: word.contains('h'),
                is_agreed: word.contains('a'),
            };
            let open: Vec<Begun> = open.split_whitespace().map(begun).collect();
            let found: Vec<&str> = meant(&open).iter().map(|begun| begun.goal.as_str()).collect();
            assert_eq!(found.join(" "), expected);
        };
        check("a1 h2 ha3 -4", "ha3");
        check("ha1 ha2 h3", "ha1 ha2");
        check("a1 h2 -3", "h2");
        check("a1 -2", "a1");
        check("-1 -2", "-1 -2");
        check("", "");
    }
}
