//! Those who have an objective begin, and those who redirect it. What they were told is on record.

use std::sync::Arc;
use std::time::Duration;

use windlass_domain::approval::Strength;
use windlass_domain::{Runtime as _, TaskId};
use windlass_engine::{Error, Wanted};

use crate::engines::history::EngineWhat;
use crate::engines::house::{House, KEY};
use crate::engines::objective::{Terms, Turn};
use crate::engines::project::{Author, Project};
use crate::engines::scene::tenant;

const AGAIN: Duration = Duration::from_millis(300);

/// Says so until it is heard: nothing begins before everything is there.
pub async fn begin(house: Arc<House>, project: Project, terms: Terms) {
    let (scene, process) = (house.scene(), &house.process);
    let engine = house.engine.for_tenant(tenant(project.tenant));
    process.sleep(project.at + terms.begins).await;
    let task = loop {
        match scene.task_of(project.number) {
            Some(task) => break task,
            None => process.sleep(AGAIN).await,
        }
    };
    loop {
        match engine.start(task, &KEY, None, (Strength::Confirmed, None)).await {
            Ok(_) => {
                scene.tell(process.id, EngineWhat::Begun { task });
                break;
            }
            Err(Error::Over(_)) => break,
            Err(Error::NotAligned(_)) => process.sleep(AGAIN).await,
            Err(error) => {
                scene.tell(process.id, EngineWhat::Broken(format!("starting: {error}")));
                break;
            }
        }
    }
    scene.idle();
}

pub async fn redirect(house: &House, task: TaskId, turn: Turn) {
    let scene = house.scene();
    let whose = |project: &&Project| scene.task_of(project.number) == Some(task);
    let Some(project) = scene.plan.projects().find(whose) else { return };
    let Author::Agreed(terms) = &project.author else { return };
    let Some(change) = project.change(terms, turn) else { return };
    // Nobody says the same thing twice.
    let words = format!("redirect {:x}", house.process.random());
    let engine = house.engine.for_tenant(tenant(project.tenant));
    let wanted = Wanted { change, description: &words, taint: None };
    let what = match engine.redirect(task, wanted, None, (&KEY, Strength::Confirmed)).await {
        Ok(redirected) => EngineWhat::Redirected { task, words, undone: redirected.undone },
        Err(Error::Over(_) | Error::NotAligned(_) | Error::CannotCorrect(_)) => return,
        Err(error) => EngineWhat::Broken(format!("redirecting: {error}")),
    };
    scene.tell(house.process.id, what);
}
