//! A redirect before it is meant: what is different, old and new, whoever worked it out; and what follows from it.

use windlass_domain::graph::{Addition, Change, Constraints, GraphState, Objective};
use windlass_domain::pattern::Pattern;
use windlass_domain::plan::{AtomId, Item};
use windlass_domain::{BaseCase, Budget, Check};
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
    words.chain(other_checks(&agreed.base_case, &wanted.base_case)).collect()
}

/// A line for each: what it was over by and is no more, and all that it would be over by.
fn other_checks(BaseCase(agreed): &BaseCase, BaseCase(wanted): &BaseCase) -> Vec<Line> {
    if agreed == wanted {
        return Vec::new();
    }
    let gone = agreed.iter().filter(|check| !wanted.contains(check));
    let gone = gone.map(|check| Line::marked(Style::Accent, "  no longer over when: ").dim(whole(check)));
    let kept = wanted.iter().map(|check| {
        let mark = if agreed.contains(check) { "  over when, as before: " } else { "  over when, new: " };
        Line::marked(Style::Accent, mark).plain(whole(check))
    });
    gone.chain(kept).collect()
}

/// All that there is to a check: what passes for it, how long it may take, and what it is kept from.
fn whole(check: &Check) -> String {
    let probe = check.probe.in_words();
    let facts = [
        (check.name != probe).then(|| format!("called {}", check.name)),
        Some(format!("within {} s", check.timeout_seconds)),
        check.network.then(|| "with network".to_owned()),
        (!check.protect.is_empty()).then(|| format!("protects {}", check.protect.join(", "))),
    ];
    format!("{probe} ({})", facts.into_iter().flatten().collect::<Vec<_>>().join("; "))
}

fn said(words: &str) -> &str {
    if words.trim().is_empty() { "nothing" } else { words }
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
    lines.extend(item.verify.0.iter().map(|check| Line::marked(Style::Dim, "    check ").plain(whole(check))));
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
            let Budget { max_attempts, max_tokens, max_cost_usd, max_wall_time_seconds, max_planner_calls } =
                &item.budget;
            format!(
                "at most {max_attempts} attempts, {max_tokens} tokens, {max_cost_usd}, {max_wall_time_seconds} s, {max_planner_calls} \
                 questions to the planner"
            )
        }),
        item.probe.then(|| "looked at first".to_owned()),
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
