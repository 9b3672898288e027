//! `windlass redirect [TASK] ["words"]`: changes what was agreed on while it is worked on. What is wanted is said with flags, in a person's own
//! words, or at the terminal, question by question; it is shown with all that follows from it, and nothing changes until somebody says
//! that it is meant. Then whoever is at work is interrupted; what is done and is not touched by the change stays.

use serde_json::json;
use windlass_domain::TaskId;
use windlass_domain::approval::Strength;
use windlass_domain::graph::{Change, GraphState};
use windlass_domain::role_output::WantedChange;
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
use crate::show::{Line, Screen, Style, change_lines, preview_lines, print_json};
use crate::wiring::Windlass;

const UNCHANGED: &str = "nothing was changed";

pub async fn redirect(arguments: Redirect) -> anyhow::Result<Exit> {
    let windlass = Windlass::open_to_work(load_to_work().await?).await?;
    let redirected = Box::pin(redirect_with(&windlass, &arguments)).await;
    windlass.engine.close().await?;
    redirected
}

async fn redirect_with(windlass: &Windlass, arguments: &Redirect) -> anyhow::Result<Exit> {
    let engine = &windlass.engine;
    let (named, words) = apart(arguments);
    let wanted = flags(arguments)?;
    if words.is_some() && !wanted.is_empty() {
        let mistake = WrongUse::new("it is said in words and with flags, and only one of them can be meant");
        return Err(mistake.hint("leave out the words, or the flags").into());
    }
    let task = match named {
        Some(named) => find(engine, named).await?,
        None => objective_here(engine).await?,
    };
    if arguments.output.json && !arguments.yes {
        let mistake = WrongUse::new("with --json nobody is shown what they would say yes to");
        return Err(mistake.hint("add --yes, or leave out --json").into());
    }
    let said = match words {
        Some(words) => think(windlass, task, words, arguments.output).await?.map(Said::Thought),
        None if wanted.is_empty() => {
            asked(windlass, &engine.graph(task).await.map_err(explain)?).await?.map(Box::new).map(Said::Wanted)
        }
        None => Some(Said::Wanted(Box::new(wanted))),
    };
    let Some(said) = said else { return Ok(left(task, arguments.output)) };
    // While somebody thought or was asked, others may have changed it: what is not said stays as it is now.
    let graph = engine.graph(task).await.map_err(explain)?;
    let meant = match said {
        Said::Thought(meant) => *meant,
        Said::Wanted(wanted) => Meant::said(&wanted, &graph)?,
    };
    let description = arguments.note.clone().unwrap_or_else(|| meant.description.clone());
    let preview = engine.preview_redirect(task, &meant.change).await.map_err(explain)?;
    if !preview.is_of(&graph) {
        return Err(WrongUse::new("somebody else changed it at this moment").hint("say it once more").into());
    }
    if !arguments.output.json {
        show(&description, &meant, &graph, &preview);
    }
    if !arguments.yes && !is_meant(windlass, "Is that meant? [y/N] ").await? {
        return Ok(left(task, arguments.output));
    }
    apply(windlass, task, (meant, &description), &preview, arguments.output).await
}

/// What is to be different, as far as it is known before the graph is looked at.
enum Said {
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
fn apart(arguments: &Redirect) -> (Option<&str>, Option<&str>) {
    match (arguments.task.as_deref(), arguments.words.as_deref()) {
        (Some(one), None) if one.contains(char::is_whitespace) => (None, Some(one)),
        both => both,
    }
}

async fn apply(
    windlass: &Windlass,
    task: TaskId,
    (meant, description): (Meant, &str),
    preview: &Preview,
    output: Output,
) -> anyhow::Result<Exit> {
    let key = windlass.keys.owner().map_err(WrongUse::from)?;
    // It was shown and meant: that is the second step as well.
    let signed = (&key, Strength::Confirmed);
    let wanted = Wanted { change: meant.change, description, taint: meant.planner.map(|(_, taint)| taint) };
    let redirected = windlass.engine.redirect(task, wanted, Some(preview), signed).await.map_err(explain)?;
    if output.json {
        let fields = json!({"type": "result", "task_id": task, "redirected": true, "description": description,
            "interrupted": redirected.interrupted, "undone": redirected.undone, "worst_case": preview.worst_case});
        print_json(&fields);
    } else {
        let head = Line::new().add(Style::Good, "REDIRECTED").dim(format!("  task {}", task.short()));
        let mut screen = Screen::new();
        screen.print(&head);
        screen.print(
            &Line::new().dim(format!("whoever drives it goes on with that; else: windlass start {}", task.short())),
        );
    }
    Ok(Exit::Completed)
}

fn show(description: &str, meant: &Meant, graph: &GraphState, preview: &Preview) {
    let mut screen = Screen::new();
    screen.print_whole(&Line::new().add(Style::Bold, description));
    if let Some((message, _)) = meant.planner.as_ref().filter(|(message, _)| !message.trim().is_empty()) {
        screen.print_whole(&Line::marked(Style::Dim, "  the planner says: ").plain(message));
    }
    change_lines(&meant.change, graph).iter().for_each(|line| screen.print_whole(line));
    preview_lines(preview).iter().for_each(|line| screen.print_whole(line));
}

fn left(task: TaskId, output: Output) -> Exit {
    match output.json {
        true => print_json(&json!({"type": "result", "task_id": task, "redirected": false})),
        false => tell(UNCHANGED),
    }
    Exit::Stopped
}

/// Where nobody sits, `--yes` says so.
pub(super) async fn is_meant(windlass: &Windlass, question: &str) -> anyhow::Result<bool> {
    let Some(keyboard) = Keyboard::look() else {
        return Err(WrongUse::new("nobody is there to say that it is meant").hint("add --yes").into());
    };
    let said = one_line(windlass, keyboard, question).await?;
    Ok(said.is_some_and(|said| matches!(said.to_lowercase().as_str(), "y" | "yes")))
}
