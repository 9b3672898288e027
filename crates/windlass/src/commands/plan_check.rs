//! `windlass plan check`: what a plan document means and can cost at worst, or everything that is wrong with it. Nothing is run.

use serde_json::json;
use windlass_domain::Usd;
use windlass_domain::approval::{WorstCase, bound_plan};
use windlass_domain::plan::{AtomId, Item, Plan};

use super::plan_file::plan_file;
use crate::arguments::PlanCheck;
use crate::exit::Exit;
use crate::show::{Line, Screen, Style, at_worst, counted, print_json, word};

pub fn plan_check(arguments: &PlanCheck) -> anyhow::Result<Exit> {
    let plan = plan_file(&arguments.file)?;
    // Which model will be asked, and hence what one call of it can cost, is not known here.
    let worst = bound_plan(&plan, (0, Usd::ZERO));
    match arguments.output.json {
        true => print_json(&json!({"type": "result", "plan": plan, "worst_case": worst})),
        false => tell(&plan, &worst),
    }
    Ok(Exit::Completed)
}

fn tell(Plan(root): &Plan, worst: &WorstCase) {
    let mut screen = Screen::new();
    let width = root.all().iter().map(|item| item.id.as_str().len()).max().unwrap_or_default();
    tell_item(root, 0, width, &mut screen);
    let line = Line::new()
        .dim("at worst ")
        .facts(Style::Plain, at_worst(worst))
        .plain(", and one model call more for each item");
    screen.print_whole(&line);
}

fn tell_item(item: &Item, depth: usize, width: usize, screen: &mut Screen) {
    let id = format!("{}{:<width$}  ", "  ".repeat(depth), item.id.as_str());
    screen.print_whole(&Line::new().plain(id).plain(format!("{}  ", item.title)).dim(facts(item).join(", ")));
    for child in &item.tasks {
        tell_item(child, depth + 1, width, screen);
    }
}

fn facts(item: &Item) -> Vec<String> {
    let names = |what: &str, ids: &[AtomId]| {
        let ids: Vec<&str> = ids.iter().map(AtomId::as_str).collect();
        (!ids.is_empty()).then(|| format!("{what} {}", ids.join(" and ")))
    };
    let checks = match item.verify.0.len() {
        0 if item.tasks.is_empty() => Some("no check".to_owned()),
        0 => None,
        count => Some(counted(count as u64, "check")),
    };
    let of_kind = (!item.tasks.is_empty() || item.schedule.is_some()).then(|| word(&item.kind));
    let choice = item.any_of.as_ref().map(|group| format!("a choice of {group}"));
    of_kind.into_iter().chain(names("after", &item.depends_on)).chain(choice).chain(checks).collect()
}
