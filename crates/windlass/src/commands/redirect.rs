//! `windlass redirect [TASK] ["words"]`: changes what was agreed on while it is worked on. What is wanted is said with flags, in a person's own
//! words, or at the terminal, question by question; it is shown with all that follows from it, and nothing changes until somebody says
//! that it is meant. Then whoever is at work is interrupted; what is done and is not touched by the change stays.

use serde_json::{Value, json};
use windlass_domain::approval::Strength;
use windlass_domain::graph::{Change, GraphState};
use windlass_domain::role_output::WantedChange;
use windlass_domain::{Runtime, TaskId};
use windlass_engine::{Preview, Wanted};
use windlass_plan::{NoChange, change_of};

use super::dialogue::{one_line, tell};
use super::drive::explain;
use super::find::{find, objective_here};
use super::load::load_to_work;
use super::redirect_asked::asked;
use super::redirect_flags::flags;
use super::redirect_words::think;
use crate::arguments::{Output, Redirect};
use crate::exit::{Exit, WrongUse};
use crate::keyboard::Keyboard;
use crate::show::{Line, Sheet, Style, change_lines, preview_lines, print_json};
use crate::wiring::Windlass;

const UNCHANGED: &str = "nothing was changed";
pub const MEANT: &str = "Is that meant? [y/N] ";

pub async fn redirect(arguments: Redirect) -> anyhow::Result<Exit> {
    let windlass = Windlass::open_to_work(load_to_work().await?).await?;
    let redirected = Box::pin(redirect_with(&windlass, &arguments)).await;
    windlass.engine.close().await?;
    redirected
}

async fn redirect_with(windlass: &Windlass, arguments: &Redirect) -> anyhow::Result<Exit> {
    let engine = &windlass.engine;
    let (named, words) = apart(arguments);
    let wanted = sayable(arguments)?;
    let task = match named {
        Some(named) => find(engine, named).await?,
        None => objective_here(engine).await?,
    };
    let said = match words {
        Some(words) => think(windlass, task, words, arguments.output).await?.map(Said::Thought),
        None if wanted.is_empty() => asked(windlass.runtime.as_ref(), &engine.graph(task).await.map_err(explain)?)
            .await?
            .map(Box::new)
            .map(Said::Wanted),
        None => Some(Said::Wanted(Box::new(wanted))),
    };
    let Some(said) = said else { return Ok(left(task, arguments.output)) };
    let drawn = draw(windlass, task, said, arguments.note.clone()).await?;
    if !arguments.output.json {
        drawn.sheet().show();
    }
    if !arguments.yes && !is_meant(windlass.runtime.as_ref(), MEANT).await? {
        return Ok(left(task, arguments.output));
    }
    Ok(apply(windlass, drawn, arguments.output).await?.show())
}

/// What the flags ask for, where what was typed can be meant at all.
pub fn sayable(arguments: &Redirect) -> Result<WantedChange, WrongUse> {
    let wanted = flags(arguments)?;
    if apart(arguments).1.is_some() && !wanted.is_empty() {
        return Err(WrongUse::new("it is said in words and with flags, and only one of them can be meant")
            .hint("leave out the words, or the flags"));
    }
    if arguments.output.json && !arguments.yes {
        return Err(WrongUse::new("with --json nobody is shown what they would say yes to")
            .hint("add --yes, or leave out --json"));
    }
    Ok(wanted)
}

/// A change with all that follows from it, as whoever says yes to it is shown it.
pub(super) struct Drawn {
    pub task: TaskId,
    meant: Meant,
    description: String,
    graph: GraphState,
    preview: Preview,
}

/// While somebody thought or was asked, others may have changed it: what is not said stays as it is now.
pub(super) async fn draw(windlass: &Windlass, task: TaskId, said: Said, note: Option<String>) -> anyhow::Result<Drawn> {
    let graph = windlass.engine.graph(task).await.map_err(explain)?;
    let meant = match said {
        Said::Thought(meant) => *meant,
        Said::Wanted(wanted) => Meant::said(&wanted, &graph)?,
    };
    let description = note.unwrap_or_else(|| meant.description.clone());
    let preview = windlass.engine.preview_redirect(task, &meant.change).await.map_err(explain)?;
    if let Some(cap) = &windlass.cap {
        cap.holds_change(&meant.change, preview.was, preview.worst_case)?;
    }
    match preview.is_of(&graph) {
        true => Ok(Drawn { task, meant, description, graph, preview }),
        false => Err(WrongUse::new("somebody else changed it at this moment").hint("say it once more").into()),
    }
}

impl Drawn {
    pub fn sheet(&self) -> Sheet {
        let Self { meant, description, graph, preview, .. } = self;
        let mut sheet = Sheet::new();
        sheet.print_whole(&Line::new().add(Style::Bold, description));
        if let Some((message, _)) = meant.planner.as_ref().filter(|(message, _)| !message.trim().is_empty()) {
            sheet.print_whole(&Line::marked(Style::Dim, "  the planner says: ").plain(message));
        }
        change_lines(&meant.change, graph).iter().for_each(|line| sheet.print_whole(line));
        preview_lines(preview).iter().for_each(|line| sheet.print_whole(line));
        sheet
    }

    /// The same for what is drawn again as long as nothing has happened that it depends on.
    pub fn seen(&self) -> Value {
        let Self { meant, description, graph, preview, .. } = self;
        let changes: Vec<String> = change_lines(&meant.change, graph).iter().map(Line::text).collect();
        json!([meant.change, graph.corrections.len(), preview.undone, preview.risk_level, description, changes])
    }
}

/// What is to be different, as far as it is known before the graph is looked at.
pub(super) enum Said {
    Wanted(Box<WantedChange>),
    Thought(Box<Meant>),
}

/// What somebody wants, and where it comes from.
pub(super) struct Meant {
    pub change: Change,
    pub description: String,
    /// Whoever worked it out says so much about it.
    pub planner: Option<(String, windlass_domain::Taint)>,
}

impl Meant {
    fn said(wanted: &WantedChange, graph: &GraphState) -> Result<Self, WrongUse> {
        let (change, description) = change_of(wanted, graph).map_err(unchanged)?;
        Ok(Self { change, description, planner: None })
    }
}

fn unchanged(why: NoChange) -> WrongUse {
    let mistake = WrongUse::new(why.to_string());
    match why {
        NoChange::Several => mistake.hint("make them one after the other"),
        NoChange::Check { .. } => mistake.hint("see docs/checks.md"),
        NoChange::Atom { .. } => mistake.hint("docs/objectives.md has every field of an atom"),
        NoChange::Nothing | NoChange::NoObjective | NoChange::NoId { .. } | NoChange::Hidden => mistake,
    }
}

/// One argument is a task, unless it has several words.
pub fn apart(arguments: &Redirect) -> (Option<&str>, Option<&str>) {
    match (arguments.task.as_deref(), arguments.words.as_deref()) {
        (Some(one), None) if one.contains(char::is_whitespace) => (None, Some(one)),
        both => both,
    }
}

pub(super) async fn apply(windlass: &Windlass, drawn: Drawn, output: Output) -> anyhow::Result<Sheet> {
    let Drawn { task, meant, description, preview, .. } = drawn;
    let key = windlass.keys.owner().map_err(WrongUse::from)?;
    // It was shown and meant: that is the second step as well.
    let signed = (&key, Strength::Confirmed);
    let wanted =
        Wanted { change: meant.change, description: &description, taint: meant.planner.map(|(_, taint)| taint) };
    let redirected = windlass.engine.redirect(task, wanted, Some(&preview), signed).await.map_err(explain)?;
    let mut sheet = Sheet::new();
    if output.json {
        sheet.object(&json!({"type": "result", "task_id": task, "redirected": true, "description": description,
            "interrupted": redirected.interrupted, "undone": redirected.undone, "worst_case": preview.worst_case}));
    } else {
        sheet.print(&Line::new().add(Style::Good, "REDIRECTED").dim(format!("  task {}", task.short())));
        let next = format!("whoever drives it goes on with that; else: windlass start {}", task.short());
        sheet.print(&Line::new().dim(next));
    }
    Ok(sheet)
}

pub fn left(task: TaskId, output: Output) -> Exit {
    match output.json {
        true => print_json(&json!({"type": "result", "task_id": task, "redirected": false})),
        false => tell(UNCHANGED),
    }
    Exit::Stopped
}

/// Where nobody sits, `--yes` says so.
pub async fn is_meant(runtime: &dyn Runtime, question: &str) -> anyhow::Result<bool> {
    let Some(keyboard) = Keyboard::look() else {
        return Err(WrongUse::new("nobody is there to say that it is meant").hint("add --yes").into());
    };
    let said = one_line(runtime, keyboard, question).await?;
    Ok(said.is_some_and(|said| matches!(said.to_lowercase().as_str(), "y" | "yes")))
}
