//! A task of an agent with a screen, at a terminal: the agent's screen has it as soon as there is one, because `--terminal` was asked for or
//! because its channel cannot be read, and what happens is told when it has left it.

use std::sync::Arc;
use std::time::Duration;

use windlass_domain::TaskId;
use windlass_engine::Error;

use super::drive::{Before, work};
use crate::exit::Exit;
use crate::interrupts::Interrupts;
use crate::screens::{Curtain, Left, sit};
use crate::show::Teller;
use crate::wiring::Windlass;

/// Between two looks whether there is a screen.
const TICK: Duration = Duration::from_millis(50);

/// Whether the work may be done on a screen, and somebody sits here who would see it.
pub async fn may_be_on_screen(windlass: &Windlass, task: TaskId, teller: &dyn Teller) -> Result<bool, Error> {
    let created = windlass.engine.task(task).await?.created;
    let has_screen = |agent: &str| windlass.catalogue.find(agent).is_some_and(|adapter| adapter.has_screen());
    Ok(teller.can_ask() && created.is_some_and(|created| !created.planned && has_screen(&created.agent_id)))
}

pub async fn work_on_screen(
    windlass: &Windlass,
    task: TaskId,
    teller: &Arc<dyn Teller>,
    before: Before,
    interrupts: Interrupts,
) -> Result<Exit, Error> {
    let curtain = Arc::new(Curtain::new(Arc::clone(teller)));
    let behind = Arc::clone(&curtain) as Arc<dyn Teller>;
    let mut working = Box::pin(work(windlass, task, &behind, before, interrupts));
    let worked = tokio::select! {
        worked = &mut working => worked,
        why = sit_while(windlass, &curtain) => {
            if let Err(error) = why {
                curtain.remark(&format!("the agent's screen cannot be shown here: {error:#}"));
            }
            working.await
        }
    };
    curtain.rises();
    worked
}

/// In front of one screen after the other, until the person leaves.
async fn sit_while(windlass: &Windlass, curtain: &Curtain) -> anyhow::Result<()> {
    let screens = &windlass.screens;
    loop {
        windlass.runtime.sleep(TICK).await;
        let Some(name) = screens.terminals.names().into_iter().next() else { continue };
        let Some(stream) = screens.sockets.connect(&name).await? else { continue };
        curtain.falls();
        let left = sit(stream, &windlass.runtime).await;
        curtain.rises();
        if left? == Left::Detached {
            curtain.remark(&format!("it goes on; to see it again, in another terminal: windlass attach {name}"));
            return Ok(());
        }
    }
}
