//! A redirect before it is meant: what is different, old and new, whoever worked it out; and what follows from it.

use windlass_domain::graph::{Addition, Change, Constraints, GraphState, Objective};
use windlass_domain::pattern::Pattern;
use windlass_domain::plan::{AtomId, Item};
use windlass_domain::{BaseCase, Budget};
use windlass_engine::Preview;

use super::card::at_worst;
use super::line::{Line, quoted};
use super::style::Style;

/// Every difference: whoever says yes to it has seen all of it.
pub fn change_lines(change: &Change, graph: &GraphState) -> Vec<Line> {
    match change {
        Change::Objective { objective } => graph.objective.iter().flat_map(|agreed| aims(agreed, objective)).collect(),
        Change::Graph { add, drop, select } => {
            let dropped = drop.iter().map(|atom| changed(atom.as_str(), title(graph, atom), "not done"));
            let selected =
                select.iter().map(|(group, choice)| changed(group.as_str(), taken(graph, group), choice.as_str()));
            add.iter().flat_map(added).chain(dropped).chain(selected).collect()
        }
        Change::Constraints { constraints } => {
            let agreed = graph.objective.as_ref().map(|agreed| agreed.constraints.clone()).unwrap_or_default();
            limits(&agreed, constraints)
        }
        Change::Binding { atom, summary } => {
            let before = graph.progress(atom).and_then(|progress| progress.summary()).unwrap_or("nothing");
            vec![changed(atom.as_str(), before, summary)]
        }
    }
}

/// What follows from it.
pub fn preview_lines(preview: &Preview) -> Vec<Line> {
    let mut lines = Vec::new();
    if preview.interrupted > 0 {
        lines.push(Line::new().plain(format!("  {} at work are interrupted", preview.interrupted)));
    }
    let undone: Vec<&str> = preview.undone.iter().map(AtomId::as_str).collect();
    let again = if undone.is_empty() {
        "nothing that is done is done again".to_owned()
    } else {
        format!("taken out, and done again where it is still wanted: {}", undone.join(", "))
    };
    lines.push(Line::new().plain(format!("  {again}")));
    if preview.trail_cleared {
        lines.push(Line::new().plain("  choices that were made are open again"));
    }
    lines.push(Line::new().plain("  from here on at worst ").facts(Style::Plain, at_worst(&preview.worst_case)));
    lines
}

fn changed(what: impl AsRef<str>, before: impl AsRef<str>, after: impl AsRef<str>) -> Line {
    let mark = format!("  {}: ", what.as_ref());
    Line::marked(Style::Accent, &mark).dim(before).plain(" → ").plain(after)
}

fn aims(agreed: &Objective, wanted: &Objective) -> Vec<Line> {
    let words = [
        ("goal", &agreed.goal, &wanted.goal),
        ("why", &agreed.background_intent, &wanted.background_intent),
        ("delivers", &agreed.deliverables, &wanted.deliverables),
        ("done when", &agreed.definition_of_done, &wanted.definition_of_done),
    ];
    let words = words.into_iter().filter(|(_, before, after)| before != after);
    let words = words.map(|(name, before, after)| changed(name, said(before), said(after)));
    let checks = (agreed.base_case != wanted.base_case)
        .then(|| changed("over when", checks(&agreed.base_case), checks(&wanted.base_case)));
    words.chain(checks).collect()
}

fn said(words: &str) -> &str {
    if words.trim().is_empty() { "nothing" } else { words }
}

fn checks(BaseCase(checks): &BaseCase) -> String {
    let probes: Vec<String> = checks.iter().map(|check| check.probe.in_words()).collect();
    if probes.is_empty() { "nothing".to_owned() } else { probes.join("; ") }
}

fn title<'a>(graph: &'a GraphState, atom: &'a AtomId) -> &'a str {
    graph.work.item(atom).map_or(atom.as_str(), |item| item.title.as_str())
}

/// The way that is taken now.
fn taken<'a>(graph: &'a GraphState, group: &AtomId) -> &'a str {
    let turn = graph.work.trail().iter().rev().find(|turn| turn.group == *group);
    turn.map_or("whichever is first", |turn| turn.choice.as_str())
}

/// All that whoever works on it would be told and held to.
fn added(Addition { to, item }: &Addition) -> Vec<Line> {
    let mark = format!("  {}: ", item.id);
    let mut lines =
        vec![Line::marked(Style::Accent, &mark).plain("new").gap().facts(Style::Dim, facts(to.as_ref(), item))];
    lines.extend(quoted(&item.briefing.what_to_do).map(|line| line.behind(Style::Plain, "    ")));
    if !item.verify.0.is_empty() {
        lines.push(Line::marked(Style::Dim, "    check ").plain(checks(&item.verify)));
    }
    lines
}

fn facts(to: Option<&AtomId>, item: &Item) -> Vec<String> {
    let named = |before: &str, names: &[String]| (!names.is_empty()).then(|| format!("{before}{}", names.join(", ")));
    let after: Vec<String> = item.depends_on.iter().map(ToString::to_string).collect();
    let facts = [
        to.map(|holder| format!("part of {holder}")),
        named("after ", &after),
        item.any_of.as_ref().map(|group| format!("a choice of {group}")),
        named("touches ", &item.touches.paths),
        named("reaches ", &item.touches.services),
        named("skills ", &item.skills),
        (item.pattern != Pattern::GENERIC).then(|| format!("pattern {}", item.pattern)),
        (item.agent != "executor").then(|| format!("agent {}", item.agent)),
        (item.budget != Budget::default()).then(|| {
            let budget = &item.budget;
            format!("at most {} attempts, {} tokens, {}", budget.max_attempts, budget.max_tokens, budget.max_cost_usd)
        }),
    ];
    facts.into_iter().flatten().collect()
}

fn limits(agreed: &Constraints, wanted: &Constraints) -> Vec<Line> {
    let passes = |limits: &Constraints| limits.max_iterations.map_or_else(|| "any".to_owned(), |most| most.to_string());
    let limits = [
        ("passes", passes(agreed), passes(wanted)),
        ("agents at once", agreed.max_parallel_agents.to_string(), wanted.max_parallel_agents.to_string()),
        ("passes without progress", agreed.max_stall_count.to_string(), wanted.max_stall_count.to_string()),
        ("atoms", agreed.max_atoms.to_string(), wanted.max_atoms.to_string()),
        ("choices", agreed.max_choices.to_string(), wanted.max_choices.to_string()),
        ("splits", agreed.max_split_depth.to_string(), wanted.max_split_depth.to_string()),
        ("plans after the first", agreed.max_replan_depth.to_string(), wanted.max_replan_depth.to_string()),
    ];
    let limits = limits.into_iter().filter(|(_, before, after)| before != after);
    limits.map(|(name, before, after)| changed(name, before, after)).collect()
}
