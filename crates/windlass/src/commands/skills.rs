//! `windlass skills list | show NAME | check DIR`: what agents here may read up on, one of them as they read it, and
//! whether a folder would be one.

use std::path::Path;

use serde_json::{Value, json};
use windlass_tools::skills::{Found, Library, Skill, check_folder};

use super::labels::known_labels;
use crate::arguments::{Output, Skills, SkillsCheck, SkillsList, SkillsShow};
use crate::config::Config;
use crate::exit::{Exit, WrongUse};
use crate::show::{Line, Screen, Sheet, Style, print_json};
use crate::skills::SkillSources;

pub async fn skills(command: Skills) -> anyhow::Result<Exit> {
    match command {
        Skills::List(SkillsList { workspace, output }) => Ok(skills_list(&gather(&workspace).await?, output).show()),
        Skills::Show(SkillsShow { name, workspace, output }) => {
            Ok(skill_shown(&gather(&workspace).await?, &name, output)?.show())
        }
        Skills::Check(arguments) => check(&arguments),
    }
}

async fn gather(workspace: &Path) -> anyhow::Result<Library> {
    Ok(SkillSources::new(&Config::load()?).gather(Some(workspace), &known_labels(workspace).await?))
}

/// Those there are, for a program.
pub(super) fn objects(library: &Library) -> Vec<Value> {
    let object = |Found { skill, source, place, shadowed_by }: &Found| {
        json!({
            "type": "skill", "name": skill.name, "description": skill.description, "source": source.as_str(),
            "place": place, "shadowed_by": shadowed_by, "needs_tools": skill.needs, "digest": skill.digest,
        })
    };
    library.found.iter().map(object).collect()
}

pub fn skills_list(library: &Library, output: Output) -> Sheet {
    let mut sheet = Sheet::new();
    if output.json {
        objects(library).iter().for_each(|object| sheet.object(object));
        for bad in &library.bad {
            sheet.object(&json!({"type": "bad_skill", "place": bad.place, "reason": bad.reason}));
        }
        sheet.object(&json!({"type": "result", "skills": library.offered().len(), "bad": library.bad.len()}));
        return sheet;
    }
    for Found { skill, source, shadowed_by, .. } in &library.found {
        let line = Line::new().plain(&skill.name).dim(format!(" ({})", source.as_str()));
        sheet.print_whole(&match shadowed_by {
            None => line.gap().plain(&skill.description),
            Some(other) => line.gap().dim(format!("not used: {other} has the same name")),
        });
    }
    for bad in &library.bad {
        sheet.print_whole(&Line::marked(Style::Bad, "✘ ").plain(format!("{}: {}", bad.place, bad.reason)));
    }
    if library.found.is_empty() && library.bad.is_empty() {
        sheet.print_whole(&Line::new().plain("There are no skills here."));
    }
    sheet
}

pub fn skill_shown(library: &Library, name: &str, output: Output) -> anyhow::Result<Sheet> {
    let offered = library.offered();
    let found = offered.iter().find(|found| found.skill.name == name).ok_or_else(|| {
        WrongUse::new(format!("there is no skill `{name}`")).hint("`windlass skills list` shows those there are")
    })?;
    let Found { skill, source, place, .. } = found;
    let files: Vec<&str> = skill.files.iter().map(|file| file.path.as_str()).collect();
    let mut sheet = Sheet::new();
    if output.json {
        sheet.object(&json!({
            "type": "result", "name": skill.name, "source": source.as_str(), "place": place, "files": files,
            "digest": skill.digest, "text": skill.instructions(),
        }));
        return Ok(sheet);
    }
    sheet.print_whole(&Line::new().dim(format!("{place} · {}", files.join(", "))));
    sheet.print_whole(&Line::new());
    skill.instructions().lines().for_each(|line| sheet.print_whole(&Line::new().plain(line)));
    Ok(sheet)
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
