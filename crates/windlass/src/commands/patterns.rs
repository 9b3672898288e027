//! `windlass patterns list | show NAME | check FILE`: the kinds of work that agents can be led through, one of them step by step, and whether a
//! document is one.

use std::path::Path;

use serde_json::{Value, json};
use windlass_domain::Labels;
use windlass_domain::pattern::{Condition, Pattern, Step};
use windlass_plan::parse_pattern;

use super::labels::known_labels;
use crate::arguments::{Output, Patterns as Command, PatternsCheck, PatternsList, PatternsShow};
use crate::config::Config;
use crate::exit::{Exit, WrongUse};
use crate::patterns::{Found, Patterns};
use crate::show::{Line, Screen, Sheet, Style, print_json};
use crate::skills::SourceName;
use crate::text_file::read_text;
use crate::wiring::Windlass;

pub async fn patterns(command: Command) -> anyhow::Result<Exit> {
    match command {
        Command::List(PatternsList { workspace, output }) => {
            Ok(patterns_list(&gather_patterns(&Config::load()?, &workspace).await?, output).show())
        }
        Command::Show(PatternsShow { name, workspace, output }) => {
            Ok(pattern_shown(&gather_patterns(&Config::load()?, &workspace).await?, &name, output)?.show())
        }
        Command::Check(arguments) => check(&arguments),
    }
}

/// Whose files they are matters only where the workspace's are heard.
pub async fn gather_patterns(config: &Config, workspace: &Path) -> anyhow::Result<Patterns> {
    let labels = match config.file.patterns.from.contains(&SourceName::Workspace) {
        true => known_labels(workspace).await?,
        false => Labels::default(),
    };
    Ok(Patterns::gather(config, Some(workspace), &labels))
}

/// The same with the store at hand, as a tenant's own records say it.
pub(super) async fn patterns_in(windlass: &Windlass, config: &Config, workspace: &Path) -> anyhow::Result<Patterns> {
    let labels = match workspace.canonicalize() {
        Ok(folder) => windlass.engine.labels(&folder).await?,
        Err(_) => Labels::default(),
    };
    Ok(Patterns::gather(config, Some(workspace), &labels))
}

/// Those there are, for a program.
pub(super) fn objects(patterns: &Patterns) -> Vec<Value> {
    let object = |Found { pattern, source, place, shadowed_by }: &Found| {
        json!({
            "type": "pattern", "name": pattern.name, "description": pattern.description, "source": source.as_str(),
            "place": place, "shadowed_by": shadowed_by,
            "steps": pattern.steps.iter().map(|step| &step.name).collect::<Vec<_>>(),
        })
    };
    patterns.found.iter().map(object).collect()
}

pub fn patterns_list(patterns: &Patterns, output: Output) -> Sheet {
    let mut sheet = Sheet::new();
    if output.json {
        objects(patterns).iter().for_each(|object| sheet.object(object));
        for bad in &patterns.bad {
            sheet.object(&json!({"type": "bad_pattern", "place": bad.place, "reason": bad.reason}));
        }
        sheet.object(&json!({"type": "result", "patterns": patterns.offered().len(), "bad": patterns.bad.len()}));
        return sheet;
    }
    for Found { pattern, source, shadowed_by, .. } in &patterns.found {
        let line = Line::new().plain(&pattern.name).dim(format!(" ({})", source.as_str()));
        sheet.print_whole(&match shadowed_by {
            None => line.gap().plain(&pattern.description).gap().dim(steps_of(pattern)),
            Some(other) => line.gap().dim(format!("not used: {other} has the same name")),
        });
    }
    for bad in &patterns.bad {
        sheet.print(&Line::marked(Style::Bad, "✘ ").plain(format!("{}:", bad.place)));
        bad.reason.lines().for_each(|reason| sheet.print_whole(&Line::marked(Style::Bad, "  ").plain(reason)));
    }
    sheet
}

pub fn pattern_shown(patterns: &Patterns, name: &str, output: Output) -> anyhow::Result<Sheet> {
    let Found { pattern, source, place, .. } = patterns.find(name)?;
    let mut sheet = Sheet::new();
    if output.json {
        sheet.object(&json!({"type": "result", "source": source.as_str(), "place": place, "pattern": pattern}));
        return Ok(sheet);
    }
    sheet.print_whole(&Line::new().plain(&pattern.name).gap().plain(&pattern.description));
    sheet.print_whole(&Line::new().dim(place));
    for (number, step) in pattern.steps.iter().enumerate() {
        sheet.print_whole(
            &Line::new().plain(format!("{}. {}", number + 1, step.name)).gap().dim(facts(step).join(" · ")),
        );
    }
    let budget = &pattern.token_budget;
    sheet.print_whole(&Line::new().dim(format!(
        "at most {} changes of step; a tactician is asked with {} tokens: {} of instructions, {} of context.md, {} for its answer",
        pattern.max_steps, budget.total, budget.prompt, budget.input_docs, budget.output
    )));
    Ok(sheet)
}

fn check(arguments: &PatternsCheck) -> anyhow::Result<Exit> {
    let path = arguments.file.display();
    let text = read_text(&arguments.file).map_err(|error| {
        WrongUse::new(format!("{path}: {error}")).hint("name a pattern's document; docs/patterns.md shows one")
    })?;
    let pattern = parse_pattern(&text).map_err(|problems| {
        let told: Vec<String> = problems.iter().map(|problem| format!("{path}:{problem}")).collect();
        WrongUse::new(told.join("\n")).hint("docs/patterns.md has every field")
    })?;
    if arguments.output.json {
        print_json(&json!({"type": "result", "pattern": pattern}));
    } else {
        let said = format!("{}: {}", pattern.name, steps_of(&pattern));
        Screen::new().print_whole(&Line::marked(Style::Good, "✔ ").plain(said));
    }
    Ok(Exit::Completed)
}

fn steps_of(pattern: &Pattern) -> String {
    pattern.steps.iter().map(|step| step.name.as_str()).collect::<Vec<_>>().join(" → ")
}

fn facts(step: &Step) -> Vec<String> {
    let tools = if step.tools.is_empty() { "no calls".to_owned() } else { step.tools.join(", ") };
    let all = |conditions: &[Condition], between: &str| conditions.iter().map(shown).collect::<Vec<_>>().join(between);
    let parts = [
        Some(tools),
        (!step.done_when.is_empty()).then(|| format!("done when {}", all(&step.done_when, " and "))),
        (!step.skip_when.is_empty()).then(|| format!("skipped when {}", all(&step.skip_when, " or "))),
        (!step.tools.is_empty()).then(|| format!("at most {} calls", step.retries + 1)),
        step.on_fail.as_ref().map(|target| format!("then back to {target}")),
        step.optional.then(|| "optional".to_owned()),
    ];
    parts.into_iter().flatten().collect()
}

fn shown(condition: &Condition) -> String {
    match condition {
        Condition::Ok => "its newest call succeeded".to_owned(),
        Condition::Error => "its newest call failed".to_owned(),
        Condition::OutputContains(text) => format!("its newest result has `{text}` in it"),
        Condition::ArgumentsContain(text) => format!("its newest call was given `{text}`"),
        Condition::Called(tools) => format!("{} succeeded", tools.join(" or ")),
        Condition::FileExists(path) => format!("{path} is there"),
        Condition::Given(material) => format!("the task came with {}", crate::show::word(material)),
    }
}
