//! `windlass align` with a server: the file is read here, a planner of the server's writes the objective, and what it asks, and whether it
//! is to be so, is asked about at this terminal.

use windlass_domain::TaskId;

use super::far::{Far, explained};
use super::follow::{Before, follow};
use super::ordered::{Unsayable, sayable};
use crate::arguments::{Align, SandboxChoice};
use crate::commands::{
    Agreement, Errand, Seen, Wanted, is_dialogue, objective_document, settled, wanted_otherwise, written_again,
};
use crate::exit::Exit;
use crate::show::{Sheet, teller};

pub async fn align(far: &Far, arguments: Align) -> anyhow::Result<Exit> {
    let SandboxChoice { sandbox, no_isolation } = &arguments.sandbox;
    sayable(&[
        Unsayable { flag: "--rehearsal", is_said: arguments.rehearsal.is_some() },
        Unsayable { flag: "--sandbox", is_said: sandbox.is_some() || *no_isolation },
    ])?;
    let output = arguments.output;
    if let (Some(named), Some(change)) = (&arguments.task, &arguments.change) {
        let task = far.answer(Errand::SendBack(named.clone(), change.clone())).await.map_err(explained)?;
        let exit = follow(far, task, &teller(output), Before::SoFar).await?;
        if exit == Exit::Paused {
            return Ok(exit);
        }
        let (sheet, agreed) = agreement(far, task).await?;
        return Ok(written_again(settled(task, exit, (sheet, &agreed), output, Seen::No), agreed.is_as_before));
    }
    let may_change = is_dialogue(&arguments);
    let document = arguments.from.as_deref().map(objective_document).transpose()?;
    let (warnings, task) =
        far.shown_with::<TaskId>(Errand::Align(Box::new(arguments), document)).await.map_err(explained)?;
    let Some(task) = task else { return Err(explained(far.another_version("it does not say which task it is"))) };
    warnings.show();
    let mut exit = follow(far, task, &teller(output), Before::Taken).await?;
    loop {
        // Whoever has left is asked nothing more, and the server may be away.
        if exit == Exit::Paused {
            return Ok(exit);
        }
        let (sheet, agreed) = agreement(far, task).await?;
        let wanted = match may_change {
            true => wanted_otherwise(far.runtime.as_ref(), (&sheet, &agreed)).await?,
            false => Wanted::So(Seen::No),
        };
        let change = match wanted {
            Wanted::Otherwise(change) => change,
            Wanted::So(seen) => return Ok(settled(task, exit, (sheet, &agreed), output, seen)),
        };
        far.asked(Errand::SendBack(task.to_string(), change)).await.map_err(explained)?;
        exit = follow(far, task, &teller(output), Before::SoFar).await?;
    }
}

/// How it stands there.
pub async fn agreement(far: &Far, task: TaskId) -> anyhow::Result<(Sheet, Agreement)> {
    let (sheet, agreed) = far.shown_with(Errand::Agreement(task)).await.map_err(explained)?;
    let agreed = agreed.ok_or_else(|| explained(far.another_version("it does not say what is agreed on")))?;
    Ok((sheet, agreed))
}
