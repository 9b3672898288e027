//! `windlass redirect` of an objective that a server has: with flags, in words, or question by question. A planner of the server's looks what words mean, while this
//! program waits; Ctrl-C sends it away.

use std::time::Duration;

use windlass_domain::TaskId;
use windlass_domain::graph::GraphState;
use windlass_engine::JournalRecord;

use super::far::{Far, explained};
use crate::arguments::{Output, Redirect};
use crate::commands::{
    ChangeAsked, ChangeShown, Errand, Fares, MEANT, RedirectStep, Redirecting, Subject, THINKS, apart, cannot_go_on,
    change_asked_about, is_meant, left, sayable, tell,
};
use crate::exit::Exit;
use crate::interrupts::Interrupts;

const LOOK_EVERY: Duration = Duration::from_millis(500);

pub async fn redirect(far: &Far, arguments: Redirect) -> anyhow::Result<Exit> {
    let (wanted, (named, words)) = (sayable(&arguments)?, apart(&arguments));
    let planner = match words {
        Some(words) => {
            let ask = RedirectStep::Ask { named: named.map(str::to_owned), words: words.to_owned() };
            match think(far, ask, arguments.output).await? {
                Thought::Over(planner) => Some(planner),
                Thought::Left(task) => return Ok(left(task, arguments.output)),
            }
        }
        None => None,
    };
    let said = match planner {
        None if wanted.is_empty() => {
            let meant = Errand::Redirect(RedirectStep::Meant(named.map(str::to_owned)));
            let task = far.answer(meant).await.map_err(explained)?;
            match change_asked_about(far.runtime.as_ref(), &graph(far, task).await?).await? {
                Some(said) => Some(said),
                None => return Ok(left(task, arguments.output)),
            }
        }
        _ => None,
    };
    let mut asked = Redirecting { arguments, said, planner, seen: None };
    let show = Errand::Redirect(RedirectStep::Show(Box::new(asked.clone())));
    let (shown, told) = far.shown_with::<ChangeShown>(show).await.map_err(explained)?;
    let Some(ChangeShown { task, seen }) = told else {
        return Err(explained(far.another_version("it does not say what would change")));
    };
    if !asked.arguments.output.json {
        shown.show();
    }
    if !asked.arguments.yes && !is_meant(far.runtime.as_ref(), MEANT).await? {
        return Ok(left(task, asked.arguments.output));
    }
    asked.seen = Some(seen);
    far.errand(Errand::Redirect(RedirectStep::Make(Box::new(asked)))).await
}

/// As its records have it.
async fn graph(far: &Far, task: TaskId) -> anyhow::Result<GraphState> {
    let (story, _) = far.story_after(Subject::Task(task), 0).await.map_err(explained)?;
    let mut graph = GraphState::default();
    for record in &story {
        if let JournalRecord::Graph { task: of, event, .. } = record
            && *of == task
        {
            graph.apply(event);
        }
    }
    Ok(graph)
}

enum Thought {
    Over(TaskId),
    /// Whoever asked, about this task, does not want to know any more.
    Left(TaskId),
}

async fn think(far: &Far, ask: RedirectStep, output: Output) -> anyhow::Result<Thought> {
    let mut interrupts = Interrupts::new()?;
    let ChangeAsked { task, planner } = far.answer(Errand::Redirect(ask)).await.map_err(explained)?;
    if !output.json {
        tell(THINKS);
    }
    loop {
        let fares: Fares = far.answer(Errand::Redirect(RedirectStep::Planner(planner))).await.map_err(explained)?;
        if fares.is_over {
            return Ok(Thought::Over(planner));
        }
        if let Some(why) = fares.rests {
            leave(far, planner).await?;
            return Err(cannot_go_on(&why).into());
        }
        tokio::select! {
            () = far.runtime.sleep(LOOK_EVERY) => {}
            () = interrupts.next() => {
                leave(far, planner).await?;
                return Ok(Thought::Left(task));
            }
        }
    }
}

/// A planner that cannot go on now would be asked about something else when it can.
async fn leave(far: &Far, planner: TaskId) -> anyhow::Result<()> {
    far.asked(Errand::Redirect(RedirectStep::Leave(planner))).await.map(drop).map_err(explained)
}
