//! `objective.md` (contracts §7, contract v1.2 of seed 004): what was agreed on and how far it is, written from the graph. Reading it
//! gives the same objective, graph, bindings and choices. A plan that nobody agreed on limits for is written in the same form,
//! with its own checks as the base case. What the contract has no field for stays in the journal.

use std::collections::BTreeMap;

use windlass_domain::graph::{
    Binding, Change, Chronicle, Constraints, Corrected, GraphState, Memory, Node, Objective, PlanStanding, Standing,
    Taken, Why,
};
use windlass_domain::plan::{AtomId, Item, Plan};
use windlass_domain::task::TaskStatus;
use windlass_domain::{BaseCase, Budget, Deliverable, Wall};

use super::objective::LONGEST_TITLE;
use crate::check::written_checks;
use crate::emit::{Out, yaml};

/// Everything that the page is made of.
#[derive(Debug, Clone, Copy)]
pub struct ObjectivePage<'a> {
    pub chronicle: &'a Chronicle,
    /// Of the task that it is carried out as.
    pub status: Option<TaskStatus>,
    /// Why somebody stopped it, while it is stopped.
    pub stopped: Option<&'a str>,
    /// Somebody is changing what it is about.
    pub is_redirected: bool,
    pub as_of: Wall,
}

/// The text of `objective.md`.
pub fn write_objective(page: &ObjectivePage<'_>) -> String {
    let graph = &page.chronicle.graph;
    let tree = graph.work.plan();
    let items = tree.as_ref().map(|Plan(root)| written_items(root)).unwrap_or_default();
    let memory = graph.work.memory();
    let fields = [
        ("objective", objective(graph, tree.as_ref())),
        ("control", control(page)),
        ("atoms", Out::List(items.iter().map(|item| atom(graph, &memory, item)).collect())),
        ("decompositions", decompositions(page.chronicle, &items)),
        ("or_groups", groups(&memory, &items)),
        ("bindings", bindings(graph, &items)),
        ("trail", trail(page.chronicle)),
        ("corrections", Out::List(graph.corrections.iter().map(correction).collect())),
        ("as_of", time(page.as_of)),
    ];
    let fields = fields.map(|(name, value)| (name.to_owned(), value));
    let words = graph.objective.as_ref().map(|agreed| agreed.words.trim()).unwrap_or_default();
    let body = if words.is_empty() { String::new() } else { format!("\n{words}\n") };
    format!("---\n{}---\n{body}", yaml(&fields))
}

/// Everything in it, parts after what holds them. The whole is the objective, unless it is one atom and no more.
fn written_items(root: &Item) -> Vec<&Item> {
    fn below<'a>(item: &'a Item, to: &mut Vec<&'a Item>) {
        to.push(item);
        item.tasks.iter().for_each(|part| below(part, to));
    }
    let mut items = Vec::new();
    below(root, &mut items);
    if items.len() > 1 {
        items.remove(0);
    }
    items
}

fn objective(graph: &GraphState, tree: Option<&Plan>) -> Out {
    let Some(agreed) = &graph.objective else { return of_a_plan(tree) };
    // Whatever else they wrote stands below the fields.
    let Objective { goal, base_case, background_intent, deliverables, definition_of_done, constraints, words: _ } =
        agreed;
    Out::map([
        ("goal", text(goal)),
        ("base_case", written_checks(base_case)),
        ("background_intent", text(background_intent)),
        ("deliverables", text(deliverables)),
        ("definition_of_done", text(definition_of_done)),
        ("constraints", limits(constraints)),
    ])
}

fn of_a_plan(tree: Option<&Plan>) -> Out {
    let root = tree.map(|Plan(root)| root);
    let checks = root.map(|root| root.verify.clone()).unwrap_or_default();
    let goal = root.map(|root| root.title.as_str()).unwrap_or_default();
    Out::map([("goal", text(goal)), ("base_case", written_checks(&checks))])
}

fn limits(constraints: &Constraints) -> Out {
    let Constraints {
        max_iterations,
        max_parallel_agents,
        max_stall_count,
        max_atoms,
        max_choices,
        max_split_depth,
        max_replan_depth,
        probe_before_switch,
    } = constraints;
    let passes = max_iterations.map(|most| ("max_iterations", Out::word(most)));
    let others = [
        ("max_parallel_agents", Out::word(max_parallel_agents)),
        ("max_stall_count", Out::word(max_stall_count)),
        ("max_atoms", Out::word(max_atoms)),
        ("max_choices", Out::word(max_choices)),
        ("max_split_depth", Out::word(max_split_depth)),
        ("max_replan_depth", Out::word(max_replan_depth)),
        ("probe_before_switch", Out::word(probe_before_switch)),
    ];
    Out::map(passes.into_iter().chain(others))
}

fn control(page: &ObjectivePage<'_>) -> Out {
    let graph = &page.chronicle.graph;
    let status = match page.status {
        Some(TaskStatus::Completed) => "completed",
        Some(TaskStatus::Failed) => "failed",
        Some(TaskStatus::Paused | TaskStatus::Cancelled) => "stopped",
        Some(TaskStatus::Running) | None if graph.standing == PlanStanding::Approved => "running",
        Some(TaskStatus::Running) | None => "pending",
    };
    let reason = graph.stopping.as_deref().or(page.stopped);
    let fields = [
        ("status", Out::text(status)),
        ("iteration", Out::word(graph.passes.iteration)),
        ("stall_count", Out::word(graph.passes.stall_count)),
        ("stop_requested", Out::word(reason.is_some())),
    ];
    let reason = reason.map(|reason| ("stop_reason", text(reason)));
    let redirected = ("redirect_requested", Out::word(page.is_redirected));
    Out::map(fields.into_iter().chain(reason).chain([redirected]))
}

fn atom(graph: &GraphState, memory: &Memory, item: &Item) -> Out {
    let status = graph.work.find(&item.id).map_or("pending", |node| status(memory, node, item, graph));
    let unusual = |word: &str, usual: &str| (word != usual).then(|| Out::text(word));
    let budget = (item.budget != Budget::default()).then(|| budget(&item.budget));
    let touches = &item.touches;
    let touched = (!touches.paths.is_empty() || !touches.services.is_empty())
        .then(|| Out::map([("paths", Out::row(&touches.paths)), ("services", Out::row(&touches.services))]));
    let verify = (item.verify != BaseCase::default()).then(|| written_checks(&item.verify));
    let optional = [
        ("or_group", item.any_of.as_ref().map(|group| Out::text(group.as_str()))),
        ("verify", verify),
        ("touches", touched),
        ("budget", budget),
        ("agent", unusual(&item.agent, "executor")),
        ("pattern", unusual(&item.pattern, "generic")),
        ("skills", (!item.skills.is_empty()).then(|| Out::row(&item.skills))),
        ("probe", item.probe.then(|| Out::word(true))),
    ];
    let fields = [
        ("id", Out::text(item.id.as_str())),
        ("description", text(&description(item))),
        ("status", Out::text(status)),
        ("depends_on", Out::row(&item.depends_on)),
    ];
    let given = optional.into_iter().filter_map(|(name, value)| Some((name, value?)));
    Out::map(fields.into_iter().chain(given))
}

/// Its words, which begin with its title.
fn description(item: &Item) -> String {
    let words = item.briefing.what_to_do.trim();
    let first: String = words.lines().next().unwrap_or_default().chars().take(LONGEST_TITLE).collect();
    if words.is_empty() {
        item.title.clone()
    } else if first == item.title {
        words.to_owned()
    } else {
        format!("{}\n\n{words}", item.title)
    }
}

fn status(memory: &Memory, node: &Node, item: &Item, graph: &GraphState) -> &'static str {
    let is_failed_choice = || memory.failed.iter().any(|(_, choice)| *choice == item.id);
    match node.standing {
        Standing::Resolved => "resolved",
        // It fails when it is given up for another, and would not be tried again by who reads that.
        Standing::Stuck if item.any_of.is_some() => "in_progress",
        Standing::Stuck => "failed",
        Standing::Dropped if is_failed_choice() => "failed",
        Standing::Dropped => "dropped",
        Standing::Running(_) | Standing::Probing(_) | Standing::Splitting(_) | Standing::Joining => "in_progress",
        Standing::Open if item.tasks.iter().any(|part| has_begun(graph, part)) => "in_progress",
        Standing::Open | Standing::Waiting | Standing::Ready => "pending",
    }
}

fn has_begun(graph: &GraphState, item: &Item) -> bool {
    let stands = graph.work.find(&item.id).map(|node| node.standing);
    !matches!(stands, None | Some(Standing::Waiting | Standing::Ready | Standing::Open))
        || item.tasks.iter().any(|part| has_begun(graph, part))
}

fn budget(budget: &Budget) -> Out {
    Out::map([
        ("max_tokens", Out::word(budget.max_tokens)),
        ("max_cost_usd", Out::word(budget.max_cost_usd.as_dollars())),
        ("max_wall_time_seconds", Out::word(budget.max_wall_time_seconds)),
        ("max_attempts", Out::word(budget.max_attempts)),
        ("max_planner_calls", Out::word(budget.max_planner_calls)),
    ])
}

fn decompositions(chronicle: &Chronicle, items: &[&Item]) -> Out {
    let holders = items.iter().filter(|item| !item.tasks.is_empty());
    let each = holders.map(|item| {
        let reason = chronicle.splits.get(&item.id).map_or("as planned", String::as_str);
        Out::map([
            ("parent", Out::text(item.id.as_str())),
            ("children", Out::row(item.tasks.iter().map(|part| &part.id))),
            ("reason", text(reason)),
        ])
    });
    Out::List(each.collect())
}

fn groups(memory: &Memory, items: &[&Item]) -> Out {
    let mut groups: BTreeMap<&AtomId, Vec<&Item>> = BTreeMap::new();
    for item in items {
        if let Some(group) = &item.any_of {
            groups.entry(group).or_default().push(item);
        }
    }
    let of = |pairs: &[(AtomId, AtomId)], group: &AtomId| -> Vec<AtomId> {
        pairs.iter().filter(|(of, _)| of == group).map(|(_, choice)| choice.clone()).collect()
    };
    let each = groups.into_iter().map(|(group, choices)| {
        let selected = of(&memory.selected, group).into_iter().next();
        let fields = Out::map([
            ("choices", Out::row(choices.iter().map(|choice| &choice.id))),
            ("selected", selected.map_or_else(|| Out::word("null"), |choice| Out::text(choice.as_str()))),
            ("failed", Out::row(of(&memory.failed, group))),
            ("speculative", Out::word(choices.iter().any(|choice| choice.speculative))),
        ]);
        (group.as_str(), fields)
    });
    Out::map(each)
}

fn bindings(graph: &GraphState, items: &[&Item]) -> Out {
    let each = items.iter().filter(|item| item.tasks.is_empty() && graph.is_resolved(item)).filter_map(|item| {
        let progress = graph.progress(&item.id)?;
        let Binding { artifacts, files, .. } = progress.binding()?;
        let is_new = |path: &&String| !artifacts.iter().any(|known| known.filepath == **path);
        let files = files.iter().filter(is_new).map(|path| Out::map([("path", text(path))]));
        let artifacts = Out::List(artifacts.iter().map(artifact).chain(files).collect());
        let fields = [("summary", text(progress.summary()?.trim())), ("artifacts", artifacts)];
        Some((item.id.as_str(), Out::map(fields)))
    });
    Out::map(each)
}

fn artifact(artifact: &Deliverable) -> Out {
    Out::map([("path", text(&artifact.filepath)), ("description", text(&artifact.description))])
}

/// Turns, and what people changed about the graph, in the order that it came about. Who changes the objective clears it.
fn trail(chronicle: &Chronicle) -> Out {
    let corrections = &chronicle.graph.corrections;
    let cleared = corrections.iter().rposition(|corrected| matches!(corrected.change, Change::Objective { .. }));
    // A turn that somebody asked for tells it by itself.
    let is_told = |corrected: &Corrected| {
        chronicle.taken.iter().any(|taken| matches!(&taken.why, Why::Person(said) if *said == corrected.description))
    };
    let adjusted = corrections[cleared.map_or(0, |at| at + 1)..].iter();
    let adjusted = adjusted.filter(|corrected| matches!(corrected.change, Change::Graph { .. }) && !is_told(corrected));
    let adjusted = adjusted.map(|corrected| (corrected.at, adjustment(corrected)));
    let mut entries: Vec<(Wall, Out)> = chronicle.taken.iter().map(|taken| (taken.at, turn(taken))).collect();
    entries.extend(adjusted);
    entries.sort_by_key(|(at, _)| *at);
    Out::List(entries.into_iter().map(|(_, entry)| entry).collect())
}

fn adjustment(corrected: &Corrected) -> Out {
    Out::map([
        ("type", Out::text("user_correction")),
        ("reason", text(&corrected.description)),
        ("timestamp", time(corrected.at)),
    ])
}

fn turn(taken: &Taken) -> Out {
    let (kind, reason) = match &taken.why {
        Why::First => (None, "the first that was open".to_owned()),
        Why::Won => (None, "the first to be done of those that were tried at once".to_owned()),
        Why::After { failed, because } => (None, format!("{failed} was given up: {because}")),
        Why::Person(said) => (Some(("type", Out::text("user_correction"))), said.clone()),
    };
    let fields = [
        ("or_group", Out::text(taken.turn.group.as_str())),
        ("selected", Out::text(taken.turn.choice.as_str())),
        ("reason", text(&reason)),
        ("timestamp", time(taken.at)),
    ];
    Out::map(kind.into_iter().chain(fields))
}

fn correction(corrected: &Corrected) -> Out {
    let kind = match corrected.change {
        Change::Objective { .. } => "objective_change",
        Change::Graph { .. } => "dag_adjustment",
        Change::Constraints { .. } => "constraint_change",
        Change::Binding { .. } => "bindings_override",
    };
    Out::map([
        ("timestamp", time(corrected.at)),
        ("type", Out::text(kind)),
        ("description", text(&corrected.description)),
        ("trail_cleared", Out::word(corrected.trail_cleared)),
    ])
}

fn text(text: &str) -> Out {
    Out::text(text)
}

fn time(at: Wall) -> Out {
    Out::text(at.to_rfc3339())
}
