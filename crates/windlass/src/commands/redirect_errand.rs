//! `windlass redirect` as somebody elsewhere says it, in steps each of which is done in one go: a planner is asked what words mean, the change is
//! shown with all that follows from it, and it is made as it was seen.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_domain::TaskId;
use windlass_domain::role_output::WantedChange;
use windlass_domain::task::{Part, PartOf, TaskStatus};

use super::drive::explain;
use super::find::{find, only_objective};
use super::redirect::{Drawn, Said, apart, apply, draw, sayable};
use super::redirect_words::{UNHEARD, made_of};
use crate::arguments::Redirect;
use crate::exit::WrongUse;
use crate::show::Sheet;
use crate::wiring::Windlass;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RedirectStep {
    /// Which objective is meant, named or the only one.
    Meant(Option<String>),
    /// Of which objective, named or the only one, and in which words.
    Ask {
        named: Option<String>,
        words: String,
    },
    /// How the planner fares.
    Planner(TaskId),
    /// Nobody waits for it any more.
    Leave(TaskId),
    Show(Box<Redirecting>),
    Make(Box<Redirecting>),
}

/// What was typed, what was said when it was asked about or who made a change of its words, and what whoever typed it has seen of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Redirecting {
    pub arguments: Redirect,
    pub said: Option<WantedChange>,
    pub planner: Option<TaskId>,
    pub seen: Option<Value>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Asked {
    pub task: TaskId,
    pub planner: TaskId,
}

/// Whether it is done, or why it cannot go on.
#[derive(Debug, Serialize, Deserialize)]
pub struct Fares {
    pub is_over: bool,
    pub rests: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Shown {
    pub task: TaskId,
    pub seen: Value,
}

pub async fn redirect_step(windlass: &Windlass, step: RedirectStep) -> anyhow::Result<Sheet> {
    let engine = &windlass.engine;
    match step {
        RedirectStep::Meant(named) => Ok(told(&objective(windlass, named.as_deref()).await?)),
        RedirectStep::Ask { named, words } => {
            let task = objective(windlass, named.as_deref()).await?;
            let planner = engine.ask_for_change(task, &words).await.map_err(explain)?;
            Ok(told(&Asked { task, planner }))
        }
        RedirectStep::Planner(planner) => {
            asked_about(windlass, planner).await?;
            let state = engine.task(planner).await.map_err(explain)?;
            let rests = (state.status == Some(TaskStatus::Paused)).then(|| state.rests_for.clone().unwrap_or_default());
            Ok(told(&Fares { is_over: state.is_over(), rests }))
        }
        RedirectStep::Leave(planner) => {
            asked_about(windlass, planner).await?;
            engine.ask_to_cancel(planner, UNHEARD).await.map_err(explain)?;
            Ok(told(&json!({})))
        }
        RedirectStep::Show(asked) => {
            let drawn = drawn(windlass, &asked).await?;
            let mut sheet = drawn.sheet();
            sheet.object(&Shown { task: drawn.task, seen: drawn.seen() });
            Ok(sheet)
        }
        RedirectStep::Make(asked) => {
            let drawn = drawn(windlass, &asked).await?;
            match asked.seen == Some(drawn.seen()) {
                true => apply(windlass, drawn, asked.arguments.output).await,
                false => {
                    Err(WrongUse::new("something happened since it was shown").hint("look at it once more").into())
                }
            }
        }
    }
}

async fn drawn(
    windlass: &Windlass,
    Redirecting { arguments, said, planner, .. }: &Redirecting,
) -> anyhow::Result<Drawn> {
    let wanted = sayable(arguments)?;
    let wanted = said.clone().unwrap_or(wanted);
    let (named, words) = apart(arguments);
    let task = objective(windlass, named).await?;
    let said = match (words, planner) {
        (Some(words), Some(planner)) if asked_about(windlass, *planner).await? == task => {
            Said::Thought(Box::new(made_of(windlass, *planner, words).await?))
        }
        (Some(_), Some(_)) => return Err(WrongUse::new("that planner was asked about another task").into()),
        _ => Said::Wanted(Box::new(wanted)),
    };
    draw(windlass, task, said, arguments.note.clone()).await
}

/// The objective that it was asked about. Others who work for one are not to be had by this door.
async fn asked_about(windlass: &Windlass, planner: TaskId) -> anyhow::Result<TaskId> {
    let created = windlass.engine.task(planner).await.map_err(explain)?.created;
    match created.and_then(|created| created.part_of) {
        Some(PartOf { root, part: Part::Correction {}, .. }) => Ok(root),
        _ => Err(WrongUse::new(format!("task {} looks for no change", planner.short())).into()),
    }
}

async fn objective(windlass: &Windlass, named: Option<&str>) -> anyhow::Result<TaskId> {
    match named {
        Some(named) => find(&windlass.engine, named).await,
        None => only_objective(&windlass.engine).await,
    }
}

/// For the program itself.
fn told(value: &impl Serialize) -> Sheet {
    let mut sheet = Sheet::new();
    sheet.object(value);
    sheet
}
