//! `windlass demo`: rehearsed agents reach an objective in real sandboxes: side by side where they can, back and another way where one
//! fails, within the bound that was stated. Killed half-way and started again, it goes on where it was.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use windlass_domain::approval::Strength;
use windlass_domain::graph::Remembered;
use windlass_domain::task::ExecutionConfig;
use windlass_domain::{BaseCase, Budget, TaskId};
use windlass_engine::{Agreed, Dispatch, Engine, NobodyWatches, Planning, Submission, SubmittedModel};
use windlass_plan::{ObjectiveFile, parse_objective};

use super::agreement::agreed_sheet;
use super::drive::{Before, drive, explain};
use super::load::load_to_work;
use crate::arguments;
use crate::config::Config;
use crate::equipment::BUBBLEWRAP;
use crate::exit::{Exit, WrongUse};
use crate::place;
use crate::show::teller;
use crate::wiring::Windlass;

const SCRIPT: &str = include_str!("../../demo/script.yaml");
/// Tells a folder that the demo made from one that is somebody's own.
const MARK: &str = ".windlass-demo";
const PROJECT: [(&str, &str); 7] = [
    (MARK, "`windlass demo` made this folder, and makes it anew each time.\n"),
    ("README.md", include_str!("../../demo/project/README.md")),
    ("parts/count.sh", include_str!("../../demo/project/parts/count.sh")),
    ("parts/heading.sh", include_str!("../../demo/project/parts/heading.sh")),
    ("parts/slug.sh", include_str!("../../demo/project/parts/slug.sh")),
    ("parts/title.sh", include_str!("../../demo/project/parts/title.sh")),
    ("tests/run.sh", include_str!("../../demo/project/tests/run.sh")),
];
/// What is agreed on.
const OBJECTIVE: &str = include_str!("../../demo/objective.md");

pub async fn demo(arguments: arguments::Demo) -> anyhow::Result<Exit> {
    let config = load_to_work().await?;
    let windlass = Windlass::open_to_work(config.clone()).await?;
    let folder = folder(&config)?;
    let teller = teller(arguments.output);
    let unfinished = unfinished(&windlass.engine, &folder).await?;
    let (task, before) = match (unfinished, arguments.fresh) {
        (Some(task), false) => {
            windlass.engine.nobody_drives(task).await.map_err(explain)?;
            (task, Before::SoFar)
        }
        (interrupted, _) => {
            if let Some(task) = interrupted {
                windlass.engine.ask_to_cancel(task, "a fresh demo was asked for").await.map_err(explain)?;
                windlass.engine.drive(task, Arc::new(NobodyWatches)).await.map_err(explain)?;
            }
            write_project(&folder)?;
            let workspace = place::workspace(&folder, &config)?;
            let key = windlass.keys.owner().map_err(WrongUse::from)?;
            let task = windlass.engine.submit(submission(workspace), Dispatch::Here, Some(&key)).await?;
            teller.remark("Scripted agents in real sandboxes: no key, no network. Kill it when you like");
            teller.remark("(Ctrl-C, or kill -9) and start it again: it goes on where it was.");
            teller.remark("");
            (task, Before::Taken)
        }
    };
    if let Some(card) = windlass.engine.agreed(task, None).await? {
        if !arguments.output.json {
            agreed_sheet(&card).show();
        }
        let key = windlass.keys.owner().map_err(WrongUse::from)?;
        windlass.engine.start(task, &key, Some(&card), (Strength::Explicit, None)).await.map_err(explain)?;
    }
    let exit = drive(&windlass, task, teller.clone(), before).await?;
    if exit == Exit::Completed {
        let short = task.short();
        teller.remark(&format!(
            "what it did, step by step: windlass log {short}; as a graph: windlass graph {short} --all"
        ));
    }
    Ok(exit)
}

/// Beside the data directory: nothing in it is an agent's to change.
fn folder(config: &Config) -> anyhow::Result<PathBuf> {
    let data_dir = config.data_dir.canonicalize().with_context(|| format!("{}", config.data_dir.display()))?;
    let mut name = data_dir.file_name().unwrap_or_default().to_owned();
    name.push("-demo");
    Ok(data_dir.with_file_name(name))
}

async fn unfinished(engine: &Engine, folder: &Path) -> anyhow::Result<Option<TaskId>> {
    let folder = folder.to_string_lossy();
    let tasks = engine.wholes(100).await?;
    let is_demo = |summary: &windlass_engine::TaskSummary| {
        let workspace = summary.state.created.as_ref().map(|created| created.workspace.as_str());
        workspace == Some(folder.as_ref()) && !summary.state.is_over()
    };
    Ok(tasks.into_iter().find(is_demo).map(|summary| summary.task_id))
}

fn submission(workspace: PathBuf) -> Submission {
    let ObjectiveFile { objective, plan, .. } = parse_objective(OBJECTIVE).expect("a test reads the demo's objective");
    Submission {
        goal: objective.goal.clone(),
        constraints: Vec::new(),
        attachments: Vec::new(),
        config: ExecutionConfig { model: "rehearsal".to_owned(), ..ExecutionConfig::default() },
        agent_id: "executor".to_owned(),
        model: SubmittedModel::Rehearsal(SCRIPT.to_owned()),
        workspace,
        base_case: BaseCase::default(),
        budget: Budget::default(),
        sandbox: BUBBLEWRAP.to_owned(),
        planning: Planning::Aligned(Box::new(Agreed { objective, plan, remembered: Remembered::default() })),
    }
}

/// What is there is removed first, if it is of our making.
fn write_project(folder: &Path) -> anyhow::Result<()> {
    let named = || format!("the demo's folder {}", folder.display());
    match std::fs::read_dir(folder).map(Iterator::count) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(named),
        Ok(entries) if entries == 0 || folder.join(MARK).is_file() => {
            std::fs::remove_dir_all(folder).with_context(named)?;
        }
        Ok(_) => {
            return Err(WrongUse::new(format!("{} is in the demo's way, and is not one of its own", folder.display()))
                .hint("move it, or set WINDLASS_DATA_DIR to another folder: the demo works beside it")
                .into());
        }
    }
    for (path, content) in PROJECT {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().expect("every file stands in a folder")).with_context(named)?;
        std::fs::write(path, content).with_context(named)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demo_s_objective_and_script_are_in_order() {
        assert_eq!(parse_objective(OBJECTIVE).expect("an objective").warnings, []);
        assert!(windlass_llm::Script::parse(SCRIPT).is_ok());
    }
}
