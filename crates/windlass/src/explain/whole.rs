//! A planned task as a whole: what it is doing and why that, what failed, what is left, what was promised, and how it came to this.

use serde_json::{Value, json};
use windlass_domain::graph::{
    AtomOutcome, AtomProgress, AtomRun, Change, GraphEvent, GraphState, JoinChecked, Node, Standing,
};
use windlass_domain::plan::AtomId;
use windlass_domain::task::TaskState;
use windlass_domain::{TaskId, Wall};

use super::bound::Bound;
use super::known::Known;
use super::left::Left;
use super::why::{at_rest, in_words, otherwise, reason_of, why};
use crate::draw::Mark;
use crate::show::{Line, Style, check_in_a_line, counted, graph_story, headline};

/// As much of the story as helps; the log has all of it.
const LAST: usize = 12;

pub fn whole_in_lines(known: &Known) -> Vec<Line> {
    let sections = [
        ("now", now(known)),
        ("failed so far", failed_lines(&known.chronicle.graph)),
        ("left to try", left_lines(&known.chronicle.graph)),
        ("promised", known.bound().map(|bound| bound.in_lines()).unwrap_or_default()),
        ("the ways that are taken", trail(known)),
        ("what you changed", corrections(known)),
        ("how it came to this", story(known)),
    ];
    let head = Line::new().add(Style::Bold, headline(&known.goal()));
    let filled = sections.into_iter().filter(|(_, lines)| !lines.is_empty());
    std::iter::once(head).chain(filled.flat_map(|(name, lines)| section(name, lines))).collect()
}

pub fn section(name: &str, lines: Vec<Line>) -> Vec<Line> {
    let head = Line::new().add(Style::Accent, name);
    std::iter::once(head).chain(lines.into_iter().map(|line| line.behind(Style::Plain, "  "))).collect()
}

fn now(known: &Known) -> Vec<Line> {
    let chronicle = &known.chronicle;
    if let Some(result) = &known.state.result {
        let word = if result.verified { "it is over, and its checks passed" } else { "it is over" };
        let error = result.error_details.as_ref().map(|error| error.message.as_str());
        let said = error.or(result.final_message.as_deref());
        let line = Line::new().plain(word);
        return vec![match said.filter(|said| !said.is_empty()) {
            Some(said) => line.point(Style::Dim).giving_way(Style::Plain, headline(said)),
            None => line,
        }];
    }
    let mut lines: Vec<Line> = chronicle.graph.work.busy().flat_map(|node| busy(known, node)).collect();
    if let Some(rests) = at_rest(chronicle) {
        lines.push(Line::marked(Style::Warn, "… ").plain(headline(&rests)));
    }
    if let Some(rests) = known.rests() {
        let line = Line::marked(Style::Warn, "… ").plain(rests);
        lines.push(match known.next_command() {
            Some(next) => line.point(Style::Dim).facts(Style::Dim, [next]),
            None => line,
        });
    }
    let next = known.next();
    lines
        .extend(next.iter().map(|next| Line::marked(Style::Bold, "▷ ").dim("next: ").plain(headline(&in_words(next)))));
    if lines.is_empty() {
        lines.push(Line::new().plain("nothing: it waits"));
    }
    lines
}

fn busy(known: &Known, node: &Node) -> Vec<Line> {
    let doing = doing(known, node);
    let mark = node.standing.run().map_or(Mark::Queued, |run| known.mark_of(run));
    let head =
        Line::marked(mark.style(), &format!("{} ", mark.sign())).add(Style::Bold, node.id().as_str()).plain("  ");
    let head = head.giving_way(Style::Plain, headline(&node.item.title)).gap().facts(Style::Dim, doing);
    let reasons = why(&known.chronicle, node).into_iter().map(|reason| reason_line("because ", &reason));
    let last = node.standing.run().and_then(|run| last_failure(known.runs.get(&run)?));
    let last = last.map(|last| reason_line("the attempt before failed: ", &last));
    let otherwise = reason_line("if it fails for good: ", &otherwise(&known.chronicle, node));
    std::iter::once(head).chain(reasons).chain(last).chain([otherwise]).collect()
}

pub fn reason_line(before: &str, reason: &str) -> Line {
    Line::marked(Style::Dim, "    ").dim(before).plain(headline(reason))
}

fn doing(known: &Known, node: &Node) -> Vec<String> {
    let run = node.standing.run();
    let state = run.and_then(|run| known.runs.get(&run));
    let mark = run.map_or(Mark::Queued, |run| known.mark_of(run));
    let what = match node.standing {
        Standing::Probing(_) => "to see whether it can be done".to_owned(),
        Standing::Splitting(_) => "to find smaller parts".to_owned(),
        _ => {
            let attempts = state.map_or(1, |state| state.attempts.len().max(1));
            let most = node.item.budget.max_attempts;
            format!("attempt {attempts} of {most}")
        }
    };
    // Whoever is at work needs no word for it.
    let stands = (mark != Mark::Working).then(|| mark.word().to_owned());
    let task = run.map(|run| format!("task {}", run.short()));
    [stands, Some(what), task].into_iter().flatten().collect()
}

/// Why the last attempt that ended did not do.
pub fn last_failure(state: &TaskState) -> Option<String> {
    let ended = state.attempts.iter().rev().find(|attempt| attempt.ended.is_some())?;
    let failed = ended.checks.iter().flatten().filter(|check| !check.passed);
    let checks: Vec<String> = failed.map(|check| format!("{}: {}", check.name, check.reason)).collect();
    let error = || ended.ended.as_ref().and_then(|ended| ended.error.as_ref()).map(|error| error.message.clone());
    if checks.is_empty() { error() } else { Some(checks.join("; ")) }
}

/// Every run that came to nothing, with what it said. Who was sent away has not failed.
fn failures(graph: &GraphState) -> Vec<(&AtomId, u32, String, TaskId)> {
    let failed = |run: &AtomRun| match run.ended.as_ref().map(|ended| (&ended.outcome, ended.attempts)) {
        Some((outcome @ AtomOutcome::Failed(error), attempts)) if !outcome.is_called_off() => {
            Some((attempts, error.message.clone(), run.task))
        }
        _ => None,
    };
    let runs = graph.atoms.iter().flat_map(|(atom, progress)| progress.runs.iter().map(move |run| (atom, run)));
    runs.filter_map(|(atom, run)| failed(run).map(|(attempts, said, task)| (atom, attempts, said, task))).collect()
}

fn failed_lines(graph: &GraphState) -> Vec<Line> {
    let line = |(atom, attempts, said, task): (&AtomId, u32, String, TaskId)| {
        let facts = [counted(attempts.into(), "attempt"), format!("task {}", task.short())];
        let line = Line::marked(Style::Bad, "✘ ").add(Style::Bold, atom.as_str()).plain("  ");
        line.giving_way(Style::Plain, headline(&said)).gap().facts(Style::Dim, facts)
    };
    let joins = graph.work.unmet().flat_map(|node| {
        let checks = graph.progress(node.id()).map(AtomProgress::checks).unwrap_or_default();
        let failed = checks.iter().filter(|check| !check.passed).map(check_in_a_line);
        let lines: Vec<Line> = failed.map(|line| line.behind(Style::Plain, "    ")).collect();
        let head = Line::marked(Style::Bad, "✘ ").add(Style::Bold, node.id().as_str());
        std::iter::once(head.plain("  its checks fail on the work of all of its parts")).chain(lines)
    });
    failures(graph).into_iter().map(line).chain(joins).collect()
}

fn left_lines(graph: &GraphState) -> Vec<Line> {
    if graph.work.root().is_none() {
        return Vec::new();
    }
    let lines = Left::of(graph).in_words().into_iter().map(|words| Line::new().plain(words));
    let end =
        Line::new().dim("every step makes something of this less and nothing before it more, so that there is an end");
    lines.chain([end]).collect()
}

fn trail(known: &Known) -> Vec<Line> {
    let line = |taken: &windlass_domain::graph::Taken| {
        let turn = Line::new().dim(format!("{}  ", clock(taken.at))).add(Style::Bold, taken.turn.group.as_str());
        let turn = turn.plain(format!(": {}", taken.turn.choice));
        turn.point(Style::Dim).dim(headline(&reason_of(&taken.why)))
    };
    known.chronicle.taken.iter().map(line).collect()
}

fn corrections(known: &Known) -> Vec<Line> {
    let line = |corrected: &windlass_domain::graph::Corrected| {
        let line = Line::new().dim(format!("{}  ", clock(corrected.at))).plain(headline(&corrected.description));
        line.gap().facts(Style::Dim, [kind(&corrected.change)])
    };
    known.chronicle.graph.corrections.iter().map(line).collect()
}

const fn kind(change: &Change) -> &'static str {
    match change {
        Change::Objective { .. } => "what was agreed on",
        Change::Graph { .. } => "the graph",
        Change::Constraints { .. } => "the limits",
        Change::Binding { .. } => "what an atom came to",
    }
}

/// What was decided, told as the log tells it.
fn story(known: &Known) -> Vec<Line> {
    let decisive = |event: &GraphEvent| match event {
        GraphEvent::AtomStarted(_) | GraphEvent::AttemptStarted(_) | GraphEvent::PlanAsked(_) => false,
        // What is done is seen in the graph.
        GraphEvent::AtomEnded(ended) => {
            matches!(ended.outcome, AtomOutcome::Failed(_)) && !ended.outcome.is_called_off()
        }
        _ => true,
    };
    let records = known.records.iter().enumerate();
    let is_told =
        |at: usize, event: &GraphEvent| decisive(event) && !comes_to_the_same(event, &known.records[at + 1..]);
    let lines = graph_story(records.map(|(number, (at, event))| (*at, event, is_told(number, event))));
    let more = lines.len().saturating_sub(LAST);
    let before =
        (more > 0).then(|| Line::new().dim(format!("{} before that: windlass log", counted(more as u64, "line"))));
    let told = lines.into_iter().skip(more).map(|(at, line)| line.behind(Style::Dim, &format!("{}  ", clock(at))));
    before.into_iter().chain(told).collect()
}

/// Whether these are checks that come to the same the next time they are made: the whole is looked at after every atom.
fn comes_to_the_same(event: &GraphEvent, later: &[(Wall, GraphEvent)]) -> bool {
    let GraphEvent::JoinChecked(checked) = event else { return false };
    let next = later.iter().find_map(|(_, event)| match event {
        GraphEvent::JoinChecked(next) if next.atom == checked.atom => Some(next),
        _ => None,
    });
    let said = |checked: &JoinChecked| -> Vec<(String, bool)> {
        checked.results.iter().map(|result| (result.name.clone(), result.passed)).collect()
    };
    next.is_some_and(|next| said(next) == said(checked))
}

fn clock(at: Wall) -> String {
    at.to_rfc3339()[11..19].to_owned()
}

pub fn whole_as_json(known: &Known) -> Value {
    let graph = &known.chronicle.graph;
    let busy = graph.work.busy().map(|node| {
        json!({
            "atom": node.id(),
            "task_id": node.standing.run(),
            "doing": doing(known, node),
            "why": why(&known.chronicle, node),
            "if_it_fails": otherwise(&known.chronicle, node),
        })
    });
    let failed = failures(graph).into_iter().map(
        |(atom, attempts, said, task)| json!({"atom": atom, "attempts": attempts, "message": said, "task_id": task}),
    );
    let trail = known.chronicle.taken.iter().map(|taken| {
        json!({
            "or_group": taken.turn.group,
            "selected": taken.turn.choice,
            "reason": reason_of(&taken.why),
            "timestamp": taken.at.to_rfc3339(),
        })
    });
    let given_up = known.chronicle.given_up.iter().map(|given_up| {
        json!({
            "or_group": given_up.group,
            "choice": given_up.choice,
            "reason": given_up.because,
            "timestamp": given_up.at.to_rfc3339(),
        })
    });
    let corrections = graph.corrections.iter().map(|corrected| {
        json!({
            "timestamp": corrected.at.to_rfc3339(),
            "change": corrected.change,
            "description": corrected.description,
            "trail_cleared": corrected.trail_cleared,
        })
    });
    let bound = known.bound();
    json!({
        "type": "result",
        "task_id": known.task,
        "status": known.state.status,
        "standing": known.stands,
        "command": known.command(),
        "is_driven": known.is_driven,
        "goal": known.goal(),
        "revision": graph.revision,
        "busy": busy.collect::<Vec<_>>(),
        "waits": at_rest(&known.chronicle),
        "next": known.next().iter().map(in_words).collect::<Vec<_>>(),
        "failed": failed.collect::<Vec<_>>(),
        "left": Left::of(graph),
        "promised": bound.as_ref().map(Bound::promised),
        "used": bound.as_ref().map(Bound::used_as_json),
        "trail": trail.collect::<Vec<_>>(),
        "given_up": given_up.collect::<Vec<_>>(),
        "corrections": corrections.collect::<Vec<_>>(),
    })
}
