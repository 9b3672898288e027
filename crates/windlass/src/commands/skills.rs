//! `windlass skills list | show NAME | check DIR`: what agents here may read up on, one of them as they read it, and
//! whether a folder would be one.

use std::path::Path;

use serde_json::json;
use windlass_tools::skills::{Found, Library, Skill, check_folder};

use super::labels::known_labels;
use crate::arguments::{Skills, SkillsCheck, SkillsList, SkillsShow};
use crate::config::Config;
use crate::exit::{Exit, WrongUse};
use crate::show::{Line, Screen, Style, print_json};
use crate::skills::SkillSources;

pub async fn skills(command: Skills) -> anyhow::Result<Exit> {
    match command {
        Skills::List(arguments) => list(&arguments).await,
        Skills::Show(arguments) => show(&arguments).await,
        Skills::Check(arguments) => check(&arguments),
    }
}

async fn gather(workspace: &Path) -> anyhow::Result<Library> {
    Ok(SkillSources::new(&Config::load()?).gather(workspace, &known_labels(workspace).await?))
}

async fn list(arguments: &SkillsList) -> anyhow::Result<Exit> {
    let library = gather(&arguments.workspace).await?;
    if arguments.output.json {
        for Found { skill, source, place, shadowed_by } in &library.found {
            print_json(&json!({
                "type": "skill", "name": skill.name, "description": skill.description, "source": source.as_str(),
                "place": place, "shadowed_by": shadowed_by, "needs_tools": skill.needs, "digest": skill.digest,
            }));
        }
        for bad in &library.bad {
            print_json(&json!({"type": "bad_skill", "place": bad.place, "reason": bad.reason}));
        }
        print_json(&json!({"type": "result", "skills": library.offered().len(), "bad": library.bad.len()}));
        return Ok(Exit::Completed);
    }
    let mut screen = Screen::new();
    for Found { skill, source, shadowed_by, .. } in &library.found {
        let line = Line::new().plain(&skill.name).dim(format!(" ({})", source.as_str()));
        screen.print_whole(&match shadowed_by {
            None => line.gap().plain(&skill.description),
            Some(other) => line.gap().dim(format!("not used: {other} has the same name")),
        });
    }
    for bad in &library.bad {
        screen.print_whole(&Line::marked(Style::Bad, "✘ ").plain(format!("{}: {}", bad.place, bad.reason)));
    }
    if library.found.is_empty() && library.bad.is_empty() {
        screen.print_whole(&Line::new().plain("There are no skills here."));
    }
    Ok(Exit::Completed)
}

async fn show(arguments: &SkillsShow) -> anyhow::Result<Exit> {
    let library = gather(&arguments.workspace).await?;
    let offered = library.offered();
    let found = offered.iter().find(|found| found.skill.name == arguments.name).ok_or_else(|| {
        WrongUse::new(format!("there is no skill `{}`", arguments.name))
            .hint("`windlass skills list` shows those there are")
    })?;
    let Found { skill, source, place, .. } = found;
    let files: Vec<&str> = skill.files.iter().map(|file| file.path.as_str()).collect();
    if arguments.output.json {
        print_json(&json!({
            "type": "result", "name": skill.name, "source": source.as_str(), "place": place, "files": files,
            "digest": skill.digest, "text": skill.instructions(),
        }));
        return Ok(Exit::Completed);
    }
    let mut screen = Screen::new();
    screen.print_whole(&Line::new().dim(format!("{place} · {}", files.join(", "))));
    screen.print_whole(&Line::new());
    skill.instructions().lines().for_each(|line| screen.print_whole(&Line::new().plain(line)));
    Ok(Exit::Completed)
}

fn check(arguments: &SkillsCheck) -> anyhow::Result<Exit> {
    let folder = arguments.folder.canonicalize().map_err(|error| {
        WrongUse::new(format!("{}: {error}", arguments.folder.display()))
            .hint("name the folder that holds the SKILL.md")
    })?;
    let Skill { name, description, files, .. } = check_folder(&folder).map_err(|reason| {
        WrongUse::new(format!("{}: {reason}", arguments.folder.display())).hint("docs/skills.md shows a skill")
    })?;
    if arguments.output.json {
        print_json(&json!({"type": "result", "name": name, "description": description, "files": files.len()}));
    } else {
        let line = Line::marked(Style::Good, "✔ ").plain(format!("{name}: {description}"));
        Screen::new().print_whole(&line);
    }
    Ok(Exit::Completed)
}
