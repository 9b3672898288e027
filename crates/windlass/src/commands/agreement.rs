//! What `windlass align` has come to, as whoever asked for it is shown it and says whether it is to be so: the same here and for a server.

use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_domain::approval::Card;
use windlass_domain::graph::PlanStanding;
use windlass_domain::{Runtime, TaskId};

use super::dialogue::one_line;
use super::drive::explain;
use crate::arguments::Output;
use crate::exit::Exit;
use crate::keyboard::Keyboard;
use crate::show::{Line, Screen, Sheet, Style, plan_lines, print_json};
use crate::wiring::Windlass;

/// How it stands.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Agreement {
    /// What it begins with; none where nothing is agreed on.
    pub card: Option<Card>,
    /// Whether it was written and can be written otherwise.
    pub is_proposed: bool,
    /// Whether it was to be written otherwise, and is as it was.
    pub is_as_before: bool,
}

/// Whether they were shown it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    Yes,
    No,
}

/// What whoever sits there says to it.
pub enum Wanted {
    Otherwise(String),
    So(Seen),
}

/// It, as it is shown, and the same for the program itself.
pub async fn agreement(windlass: &Windlass, task: TaskId) -> anyhow::Result<(Sheet, Agreement)> {
    let card = windlass.engine.agreed(task, None).await.map_err(explain)?;
    let graph = windlass.engine.graph(task).await.map_err(explain)?;
    let is_proposed = matches!(graph.standing, PlanStanding::Proposed);
    let sheet = card.as_ref().map(agreed_sheet).unwrap_or_default();
    Ok((sheet, Agreement { card, is_proposed, is_as_before: graph.unchanged.is_some() }))
}

/// What was agreed on, as whoever begins it is shown it.
pub fn agreed_sheet(card: &Card) -> Sheet {
    let mut sheet = Sheet::new();
    sheet.print(&Line::new());
    plan_lines(card).iter().for_each(|line| sheet.print_whole(line));
    sheet
}

/// What is to be different, where somebody sits there who has seen it and says so.
pub async fn wanted_otherwise(
    runtime: &dyn Runtime,
    (sheet, agreement): (&Sheet, &Agreement),
) -> anyhow::Result<Wanted> {
    let (Some(keyboard), true, Some(_)) = (Keyboard::look(), agreement.is_proposed, &agreement.card) else {
        return Ok(Wanted::So(Seen::No));
    };
    sheet.clone().show();
    let said = one_line(runtime, keyboard, "What should be different? Enter leaves it so: ").await?;
    let said = said.filter(|said| !said.is_empty());
    Ok(said.map_or(Wanted::So(Seen::Yes), Wanted::Otherwise))
}

/// Tells what is agreed on, and how to begin it; `exit` is how whoever wrote it ended.
pub fn settled(task: TaskId, exit: Exit, (sheet, agreement): (Sheet, &Agreement), output: Output, seen: Seen) -> Exit {
    let Some(card) = &agreement.card else { return exit };
    if output.json {
        let fields = json!({"type": "result", "task_id": task, "aligned": true,
            "worst_case": card.worst_case, "objective": card.details["objective"]});
        print_json(&fields);
    } else {
        if seen == Seen::No {
            sheet.show();
        }
        tell_how_to_begin(task);
    }
    Exit::Completed
}

pub fn tell_how_to_begin(task: TaskId) {
    let mut screen = Screen::new();
    screen.print(&Line::new());
    screen.print(&Line::new().plain("to begin: ").add(Style::Accent, format!("windlass start {}", task.short())));
}
