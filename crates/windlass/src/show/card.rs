//! A card for a person: what is asked and why, everything that would run to the last byte, what a yes binds, and until when
//! there is time. Every word on it may be an agent's or a web page's.

use serde_json::Value;
use windlass_domain::approval::{Card, RiskLevel, WorstCase};
use windlass_domain::{Usd, Wall, millis};
use windlass_engine::Asked;

use super::line::{Line, first_line, quoted, verbatim};
use super::narrate::{counted, duration, money};
use super::plan_card::{is_plan, plan};
use super::style::Style;

/// As much of a digest as tells one file from another.
const DIGEST: usize = 12;

/// The file that stands for all of them: what the command will touch cannot be told from its words.
const WHOLE: &str = ".";

/// All of it.
pub fn card(asked: &Asked, now: Wall) -> Vec<Line> {
    let Asked { card, at, .. } = asked;
    let facts = [
        whose(asked),
        format!("asked {} ago", duration(millis(now.since(*at)))),
        format!("expires in {} ({})", duration(millis(card.expires_at.since(now))), card.expires_at.to_rfc3339()),
    ];
    let head = Line::new().add(Style::Bold, format!("card {}", card.card_id.short())).plain("  ");
    let mut lines = vec![head.add(Style::Warn, risk(card.risk_level)).gap().facts(Style::Dim, facts)];
    if is_plan(card) {
        lines.extend(plan(card));
        return lines;
    }
    lines.extend(item(&card.details));
    lines.push(labelled("wants").plain(first_line(&card.intent)));
    lines.extend(texts(&card.details["reasons"]).map(|reason| labelled("why").plain(reason)));
    if card.details["kind"] == "help" {
        lines.push(labelled("so far").dim("what became of its attempts:"));
        lines.extend(quoted(&card.rationale).map(|line| line.behind(Style::Plain, "  ")));
    } else if !card.rationale.trim().is_empty() {
        let (label, words) = match is_goal(card) {
            true => ("for", "as its document says:"),
            false => ("agent", "its own words, which nobody has to believe:"),
        };
        lines.push(labelled(label).dim(words));
        lines.extend(quoted(&card.rationale).map(|line| line.behind(Style::Plain, "  ")));
    }
    // One that asks whether to go on at all has nothing that would run.
    if card.details["kind"] != "review" && card.details["kind"] != "help" {
        lines.extend(deed(&card.details));
        lines.extend(binds(card));
    }
    lines.push(labelled("then").plain(&card.consequence_label));
    let what = if is_goal(card) { "each time it uses " } else { "the whole task uses " };
    lines.extend(card.worst_case.as_ref().map(|worst| worst_case(worst, what)));
    lines
}

/// How many of its last lines say what follows from a yes: what somebody who reads no further must have seen.
pub fn consequences(card: &Card) -> usize {
    1 + usize::from(card.worst_case.is_some())
}

/// Which item of a plan asks, where one does.
fn item(details: &Value) -> Option<Line> {
    let id = details["item"]["id"].as_str()?;
    let title = details["item"]["title"].as_str().unwrap_or_default();
    Some(labelled("item").plain(first_line(id)).point(Style::Dim).plain(first_line(title)))
}

fn is_goal(card: &Card) -> bool {
    card.details["kind"] == "goal"
}

/// A goal is no task.
fn whose(Asked { card, task, .. }: &Asked) -> String {
    match card.details["name"].as_str().filter(|_| is_goal(card)) {
        Some(name) => format!("goal {name}"),
        None => format!("task {}", task.short()),
    }
}

/// In a line, for a card that is not its turn.
pub fn card_in_short(asked: &Asked, now: Wall) -> Line {
    let card = &asked.card;
    let left = duration(millis(card.expires_at.since(now)));
    let item = card.details["item"]["id"].as_str().map(|id| format!("item {}", first_line(id))).into_iter();
    Line::new()
        .plain(format!("card {}  ", card.card_id.short()))
        .add(Style::Warn, risk(card.risk_level))
        .plain("  ")
        .giving_way(Style::Plain, first_line(&card.intent))
        .gap()
        .facts(Style::Dim, item.chain([whose(asked), format!("expires in {left}")]))
}

const fn risk(level: RiskLevel) -> &'static str {
    match level {
        RiskLevel::Low => "low risk",
        RiskLevel::Medium => "medium risk",
        RiskLevel::High => "high risk",
        RiskLevel::Irreversible => "cannot be undone",
    }
}

pub(super) fn labelled(label: &str) -> Line {
    Line::marked(Style::Dim, &format!("  {label:<10}"))
}

/// A program by its arguments, the last one whole; any other call by all that it is given.
fn deed(details: &Value) -> Vec<Line> {
    if details["kind"] == "goal" {
        return template(details);
    }
    let words: Vec<&str> = texts(&details["argv"]).collect();
    if let Some((last, before)) = words.split_last() {
        let head = labelled("runs").plain(before.iter().map(|word| apart(word)).collect::<Vec<_>>().join(" "));
        return std::iter::once(head).chain(whole(last)).collect();
    }
    let mut lines = vec![labelled("calls").plain(details["tool"].as_str().unwrap_or_default())];
    for (name, value) in details["arguments"].as_object().into_iter().flatten() {
        lines.push(labelled("with").plain(format!("{name}:")));
        let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        lines.extend(whole(&text));
    }
    lines
}

/// What a goal is held against, and what whoever mends it is told.
fn template(details: &Value) -> Vec<Line> {
    let looks = match details["schedule"]["cron"].as_str() {
        Some(cron) => {
            let clocks = details["timezone"].as_str().unwrap_or("UTC");
            labelled("looks").plain(cron).dim(format!(" ({clocks})"))
        }
        None => labelled("looks").plain("all the time, a minute after the last"),
    };
    let mut lines = vec![looks];
    lines.extend(texts(&details["verify"]).map(|check| labelled("checks").plain(check)));
    lines.extend(texts(&details["skills"]).map(|skill| labelled("skill").plain(skill)));
    for gate in details["gates"].as_array().into_iter().flatten() {
        lines.push(labelled("gate").plain(gate.to_string()));
    }
    for (label, name) in [("context", "context"), ("limits", "constraints"), ("if stuck", "if_you_get_stuck")] {
        let words = details[name].as_str().unwrap_or_default().trim();
        if !words.is_empty() {
            lines.push(labelled(label).plain("whoever mends it is told:"));
            lines.extend(whole(words));
        }
    }
    lines.extend(details["model"].as_str().map(|model| labelled("model").plain(model)));
    if let Some(told) = details["failure_context"].as_str() {
        lines.push(labelled("told").plain("whoever mends it is told:"));
        lines.extend(whole(told));
    }
    lines
}

/// So that one argument cannot be taken for two.
fn apart(word: &str) -> String {
    let is_one = !word.is_empty() && !word.contains(|letter: char| letter.is_whitespace() || letter == '"');
    if is_one { word.to_owned() } else { format!("{word:?}") }
}

pub(super) fn whole(text: &str) -> impl Iterator<Item = Line> {
    verbatim(text).map(|line| line.behind(Style::Plain, "  "))
}

/// What must be the same when it happens.
fn binds(card: &Card) -> Vec<Line> {
    let details = &card.details;
    let text = |name: &str| details[name].as_str().unwrap_or_default();
    let folder = match text("cwd") {
        "" => text("workspace").to_owned(),
        below => format!("{}/{below}", text("workspace")),
    };
    let mut lines = vec![labelled("in").plain(folder).point(Style::Dim).plain(format!("sandbox {}", text("sandbox")))];
    for (path, digest) in details["files"].as_object().into_iter().flatten() {
        let state = match digest.as_str() {
            Some(digest) => format!("as it is now ({})", digest.get(..DIGEST).unwrap_or(digest)),
            None => "which is not there now".to_owned(),
        };
        let what = if path == WHOLE { "the whole workspace" } else { path };
        lines.push(labelled("file").plain(what).point(Style::Dim).dim(state));
    }
    lines.extend(taint_note(details));
    lines
}

pub(super) fn taint_note(details: &Value) -> Option<Line> {
    let words = "the agent has read content from outside, which may have asked for this";
    (details["taint"] == "external").then(|| labelled("note").add(Style::Warn, words))
}

pub fn at_worst(worst: &WorstCase) -> [String; 4] {
    figures(worst.attempts, worst.tokens, Some(worst.cost_usd), worst.wall_time_seconds.saturating_mul(1_000))
}

/// What work may use, or has used: attempts, tokens, money and time, told the same everywhere.
pub fn figures(attempts: u32, tokens: u64, cost: Option<Usd>, millis: u64) -> [String; 4] {
    [counted(attempts.into(), "attempt"), counted(tokens, "token"), money(cost), duration(millis)]
}

fn worst_case(worst: &WorstCase, what: &str) -> Line {
    // A limit is looked at before each call, so that the last one may go over it.
    labelled("at worst").plain(what).facts(Style::Plain, at_worst(worst)).plain(", and one model call more")
}

pub(super) fn texts(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}
