//! Whose work asks a person: the task that somebody asked for, and the item of its plan, where a part of it asks. And which item
//! somebody works on. Each task is looked up once for a page.

use std::collections::BTreeMap;

use windlass_api::Whose;
use windlass_domain::plan::AtomId;
use windlass_domain::task::{Part, TaskCreated};
use windlass_domain::{ExecutionId, TaskId};
use windlass_engine::{Engine, Error};

#[derive(Default)]
pub struct Askers {
    known: BTreeMap<TaskId, Option<Whose>>,
}

impl Askers {
    /// `None`: nobody asked for such a task, as for a goal's card.
    pub async fn whose(&mut self, engine: &Engine, task: TaskId) -> Result<Option<Whose>, Error> {
        if let Some(known) = self.known.get(&task) {
            return Ok(known.clone());
        }
        let whose = whose(engine, task).await?;
        self.known.insert(task, whose.clone());
        Ok(whose)
    }
}

async fn whose(engine: &Engine, task: TaskId) -> Result<Option<Whose>, Error> {
    let Some(own) = created(engine, task).await? else { return Ok(None) };
    let Some(of) = &own.part_of else {
        let goal = own.command.goal;
        return Ok(Some(Whose { task_id: task.to_string(), goal, item: None, item_title: None }));
    };
    let goal = created(engine, of.root).await?.map(|root| root.command.goal).unwrap_or_default();
    let item = about(&of.part).map(ToString::to_string);
    // What the agent of an item is told begins with its title.
    let item_title = match &of.part {
        Part::Atom { .. } => own.command.goal.lines().next().map(str::to_owned),
        _ => None,
    };
    Ok(Some(Whose { task_id: of.root.to_string(), goal, item, item_title }))
}

#[derive(Default)]
pub struct Workers {
    known: BTreeMap<TaskId, Option<String>>,
}

impl Workers {
    /// The item that an execution belongs to.
    pub async fn item(&mut self, engine: &Engine, execution: ExecutionId) -> Result<Option<String>, Error> {
        let task = match engine.task_of(execution).await {
            Ok(task) => task,
            Err(Error::OfNoTask(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        if let Some(known) = self.known.get(&task) {
            return Ok(known.clone());
        }
        let item = item(engine, task).await?;
        self.known.insert(task, item.clone());
        Ok(item)
    }
}

async fn item(engine: &Engine, mut task: TaskId) -> Result<Option<String>, Error> {
    while let Some(of) = created(engine, task).await?.and_then(|created| created.part_of) {
        if let Some(atom) = about(&of.part) {
            return Ok(Some(atom.to_string()));
        }
        // Whoever says what to do about an item that is stuck belongs to it, too.
        task = of.task;
    }
    Ok(None)
}

const fn about(part: &Part) -> Option<&AtomId> {
    match part {
        Part::Atom { atom, .. } | Part::Probe { atom } | Part::Split { atom } => Some(atom),
        Part::Plan { .. } | Part::Research { .. } | Part::Guidance { .. } | Part::Correction {} => None,
    }
}

async fn created(engine: &Engine, task: TaskId) -> Result<Option<TaskCreated>, Error> {
    match engine.task(task).await {
        Ok(state) => Ok(state.created),
        Err(Error::NoSuchTask(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
