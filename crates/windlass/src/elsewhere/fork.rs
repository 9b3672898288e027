//! `windlass fork` of a conversation that a server has: the new task is the server's as well, and is followed like a run.

use super::far::{Far, explained};
use super::follow::{Before, follow};
use super::ordered::{Unsayable, sayable};
use crate::arguments::{self, SandboxChoice};
use crate::attach::to_send;
use crate::commands::{Errand, Forked, left_to_workers, tell_left_out};
use crate::exit::Exit;
use crate::show::teller;

pub async fn fork(far: &Far, arguments: arguments::Fork) -> anyhow::Result<Exit> {
    let SandboxChoice { sandbox, no_isolation } = &arguments.sandbox;
    sayable(&[
        Unsayable { flag: "--rehearsal", is_said: arguments.rehearsal.is_some() },
        Unsayable { flag: "--sandbox", is_said: sandbox.is_some() || *no_isolation },
    ])?;
    let (detach, output) = (arguments.detach, arguments.output);
    let attached = to_send(&arguments.attach)?;
    let Forked { task, leaves_out } =
        far.answer(Errand::Fork(Box::new(arguments), attached)).await.map_err(explained)?;
    if detach {
        return Ok(left_to_workers(task, output).show());
    }
    if let Some(turn) = leaves_out {
        tell_left_out(task, turn, output);
    }
    follow(far, task, &teller(output), Before::Taken).await
}
