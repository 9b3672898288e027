//! The reasons for what is done, in sentences: why an atom stands as it does, what is tried if it fails, and what comes next.

use windlass_domain::graph::{Chronicle, GraphMove, Node, PlanStanding, Rung, Standing, Why};
use windlass_domain::plan::AtomId;

use crate::draw::{is_done, meant};

/// Why an atom stands as it does.
pub fn why(chronicle: &Chronicle, node: &Node) -> Vec<String> {
    let mut reasons = vec![waits(chronicle, node)];
    reasons.extend(choices(chronicle, node));
    reasons.extend(standing(chronicle, node));
    let progress = chronicle.graph.progress(node.id());
    if let Some(because) = progress.and_then(|progress| progress.reopened.as_deref()) {
        reasons.push(format!("it was done before, and goes on because what holds it does not pass: {because}"));
    }
    if let Some(report) = progress.and_then(|progress| progress.findings.as_ref()) {
        let found = if report.feasible { "can be done" } else { "cannot be done" };
        reasons.push(format!("somebody looked, and says that it {found}: {}", report.findings));
    }
    reasons
}

/// What it comes after, by itself and with what holds it.
pub fn before(chronicle: &Chronicle, node: &Node) -> Vec<AtomId> {
    let work = &chronicle.graph.work;
    let line = work.line(node.id());
    let named = line.iter().flat_map(|item| item.depends_on.iter().map(|name| meant(work, &item.id, name)));
    let mut before: Vec<AtomId> = Vec::new();
    for name in named {
        if !before.contains(&name) {
            before.push(name);
        }
    }
    before
}

fn waits(chronicle: &Chronicle, node: &Node) -> String {
    let work = &chronicle.graph.work;
    let before = before(chronicle, node);
    let open: Vec<&AtomId> = before.iter().filter(|name| !is_done(work, name)).collect();
    match (before.is_empty(), open.is_empty()) {
        (true, _) => "it comes after nothing".to_owned(),
        (false, true) => format!("what it comes after is done: {}", listed(&before)),
        (false, false) => format!("it waits for {}", listed(open)),
    }
}

fn choices(chronicle: &Chronicle, node: &Node) -> Vec<String> {
    let work = &chronicle.graph.work;
    let line = work.line(node.id());
    let around = line.into_iter().filter_map(|item| Some((&item.id, item.any_of.as_ref()?)));
    let reason = |(choice, group): (&AtomId, &AtomId)| {
        let taken = chronicle.taken.iter().find(|taken| taken.turn.group == *group);
        match taken {
            Some(taken) if taken.turn.choice == *choice => {
                format!("of {group}, {choice} is the way that is taken: {}", reason_of(&taken.why))
            }
            Some(taken) => format!("of {group}, {} is tried and not {choice}", taken.turn.choice),
            None if work.group(group).is_some_and(|group| group.speculative) => {
                format!("all ways of {group} are tried at once, and the first to be done is taken")
            }
            None if work.is_needed(choice) => format!("of {group}, {choice} is the first way that is open"),
            None => format!("of {group}, {choice} is tried only if those before it fail"),
        }
    };
    around.map(reason).collect()
}

pub fn reason_of(why: &Why) -> String {
    match why {
        Why::First => "it is the first that was open".to_owned(),
        Why::Won => "of those that were tried at once it was the first to be done".to_owned(),
        Why::After { failed, because } => format!("{failed} was given up: {because}"),
        Why::Person(said) => format!("you said so: {said}"),
    }
}

fn standing(chronicle: &Chronicle, node: &Node) -> Option<String> {
    let given_up = || chronicle.given_up.iter().rev().find(|given_up| given_up.choice == *node.id());
    let reason = match node.standing {
        Standing::Probing(_) if node.item.probe => "its plan has somebody look first whether it can be done",
        Standing::Probing(_) => "before the first turn back in a group somebody looks whether the next way can be gone",
        Standing::Splitting(_) => {
            "it failed, no attempt is left and no other way is open: the planner looks for smaller parts of it"
        }
        Standing::Joining => "all of its parts are done, and its own checks decide",
        Standing::Open => "its parts are worked on",
        Standing::Ready => "it can begin as soon as somebody is free",
        Standing::Stuck => "it failed, and has nothing left to try by itself",
        Standing::Dropped => {
            let said = given_up().map(|given_up| given_up.because.clone());
            return Some(format!("it is given up: {}", said.as_deref().unwrap_or("the way that it is in was")));
        }
        Standing::Running(_) | Standing::Resolved | Standing::Waiting => return None,
    };
    Some(reason.to_owned())
}

/// What is tried if it fails for good.
pub fn otherwise(chronicle: &Chronicle, node: &Node) -> String {
    let graph = &chronicle.graph;
    match graph.work.rung(node.id()) {
        Some(Rung::Probe { group, choice, .. }) => {
            format!("somebody looks whether {choice} can be done, the next way of {group}")
        }
        Some(Rung::Switch { group, failed, next }) => format!("{failed} is given up, and of {group} {next} is tried"),
        Some(Rung::Split { .. }) => "the planner looks for smaller parts of it".to_owned(),
        Some(Rung::Reopen { sinks, .. }) => format!("{} go on", listed(&sinks)),
        Some(Rung::Wait) => "somebody is looking for another way".to_owned(),
        None => without_rungs(graph.replans_left()),
    }
}

fn without_rungs(replans: u32) -> String {
    match replans {
        0 => "nothing is left that could be tried: you are asked".to_owned(),
        _ => "the planner writes another plan".to_owned(),
    }
}

/// What the whole is doing, where nobody is at work.
pub fn at_rest(chronicle: &Chronicle) -> Option<String> {
    let graph = &chronicle.graph;
    if let Some(reason) = &graph.stopping {
        return Some(format!("it is being stopped: {reason}"));
    }
    if let Some(review) = graph.open_review() {
        let card = review.card.short();
        return Some(format!("it waits for you, and has nothing left to try by itself (card {card}): {}", review.why));
    }
    Some(match &graph.standing {
        PlanStanding::BeingWritten(_) => format!("a planner writes revision {} of the plan", graph.revision),
        PlanStanding::Asked(card) => format!("the plan waits for your answer: windlass approve {}", card.short()),
        PlanStanding::Declined { reason } => format!("the plan was declined: {reason}"),
        PlanStanding::Impossible(error) => format!("the planner sees no way: {}", error.message),
        _ if !graph.leaving.is_empty() => {
            "those who were sent away have not left yet: what they used is to be known first".to_owned()
        }
        _ => return None,
    })
}

pub fn in_words(next: &GraphMove) -> String {
    match next {
        GraphMove::StartPlanner { revision, because: None, .. } => {
            format!("a planner writes revision {revision} of the plan")
        }
        GraphMove::StartPlanner { revision, because: Some(because), .. } => {
            format!("a planner writes revision {revision} of the plan, because {because}")
        }
        GraphMove::Ask { .. } => "the plan is put before you".to_owned(),
        GraphMove::StartAtom { atom } => format!("somebody begins on {atom}"),
        GraphMove::Probe { atom, choice: None } => format!("somebody looks whether {atom} can be done"),
        GraphMove::Probe { choice: Some(choice), .. } => {
            format!("somebody looks whether {choice} can be done, before it is tried")
        }
        GraphMove::Switch { group, failed, because } => {
            format!("{failed} is given up for the next way of {group}: {because}")
        }
        GraphMove::Split { atom, because } => format!("the planner looks for smaller parts of {atom}: {because}"),
        GraphMove::Reopen { holder, sinks } => {
            format!("{} go on, because {holder} does not pass its checks", listed(sinks))
        }
        GraphMove::CheckJoin { atom, .. } => format!("the checks of {atom} are made on the work of all"),
        GraphMove::Dismiss => "who is still at work is sent away".to_owned(),
        GraphMove::Apply { .. } => "the work is brought into your folder".to_owned(),
        GraphMove::Escalate { why } => format!("you are asked: {why}"),
        GraphMove::Complete => "it ends: all is done".to_owned(),
        GraphMove::Fail(error) => format!("it ends: {}", error.message),
        GraphMove::Cancelled(reason) => format!("it ends: {reason}"),
    }
}

pub fn listed<'a>(names: impl IntoIterator<Item = &'a AtomId>) -> String {
    names.into_iter().map(AtomId::as_str).collect::<Vec<_>>().join(", ")
}
