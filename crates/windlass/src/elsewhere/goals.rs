//! `windlass goals add` for a server: the document is read here and kept there, and whoever sits here is asked for the leave to mend it.

use windlass_domain::TaskId;

use super::ask::ask;
use super::far::{Far, explained};
use super::ordered::{Unsayable, sayable};
use crate::arguments::{GoalsAdd, SandboxChoice};
use crate::commands::{Errand, goal_document};
use crate::exit::Exit;
use crate::interrupts::Interrupts;

pub async fn goals_add(far: &Far, arguments: GoalsAdd) -> anyhow::Result<Exit> {
    let SandboxChoice { sandbox, no_isolation } = &arguments.sandbox;
    sayable(&[
        Unsayable { flag: "--rehearsal", is_said: arguments.rehearsal.is_some() },
        Unsayable { flag: "--sandbox", is_said: sandbox.is_some() || *no_isolation },
    ])?;
    let (document, is_json) = (goal_document(&arguments.file)?, arguments.output.json);
    let errand = Errand::GoalsAdd(Box::new(arguments), document);
    if is_json {
        return far.errand(errand).await;
    }
    // Its cards go by its id, as those of a task do.
    let (shown, goal) = far.shown_with::<TaskId>(errand).await.map_err(explained)?;
    shown.show();
    if let Some(goal) = goal {
        ask(far, goal, &mut Interrupts::new()?).await.map_err(explained)?;
    }
    Ok(Exit::Completed)
}
