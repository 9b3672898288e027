//! The story of a plan: who writes it, what a person said to it, and what becomes of its items. What an item's own task tells stands
//! behind the item's name, as whatever a spawned agent does stands behind its label.

use windlass_domain::graph::{
    AtomEnded, AtomOutcome, ChoiceSwitched, GraphApplied, GraphEvent, JoinChecked, PlanAnswer, PlanProposed,
    PlannerStarted, ProbeReport, ReviewAnswered, SplitEnded,
};
use windlass_domain::plan::{AtomId, Item, Plan};
use windlass_domain::task::{Part, TaskEvent, TaskStatus};
use windlass_domain::{Usd, Wall};
use windlass_engine::{PAUSED, PAUSED_WITH_PLAN};

use super::line::{Line, first_line};
use super::narrate::{check, check_in_a_line, counted, money};
use super::style::Style;

/// Names longer than this are not waited for.
const WIDEST: usize = 16;

/// What is known of a plan that is told.
#[derive(Debug, Default)]
pub struct Planned {
    titles: Vec<(AtomId, String)>,
    /// Of the names before the lines.
    width: usize,
    /// It is agreed on, and begins on the word of whoever says so: nobody is asked.
    is_aligned: bool,
    length: Telling,
}

/// How much is told of checks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Telling {
    #[default]
    Whole,
    /// A line for each.
    Short,
}

impl Planned {
    /// A line of somebody who works for the plan. What is empty says nothing there.
    pub fn behind(&self, name: &str, lines: Vec<Line>) -> Vec<Line> {
        let before = format!("  {name:<width$}  ", width = self.width);
        lines.into_iter().filter(|line| !line.is_empty()).map(|line| line.behind(Style::Dim, &before)).collect()
    }

    pub fn tell(&mut self, event: &GraphEvent) -> Vec<Line> {
        match event {
            GraphEvent::PlannerStarted(started) => vec![planner(started)],
            GraphEvent::PlanProposed(proposed) => self.proposed(proposed),
            GraphEvent::PlanAsked(_) if self.is_aligned => Vec::new(),
            GraphEvent::PlanAnswered(answered) if std::mem::take(&mut self.is_aligned) => match &answered.answer {
                PlanAnswer::Approved => vec![Line::marked(Style::Good, "✓ ").plain("begun, with your approval")],
                other => vec![answer(other)],
            },
            GraphEvent::PlanAsked(asked) => {
                let card = format!("needs approval: card {}", asked.card.short());
                vec![Line::marked(Style::Warn, "? ").plain("the plan").gap().dim(card)]
            }
            GraphEvent::PlanAnswered(answered) => vec![answer(&answered.answer)],
            GraphEvent::AtomStarted(started) => {
                let title = self.titles.iter().find(|(id, _)| *id == started.atom).map(|(_, title)| title.as_str());
                let begun = Line::marked(Style::Accent, "▸ ").add(Style::Bold, title.unwrap_or_default());
                self.behind(started.atom.as_str(), vec![begun])
            }
            GraphEvent::AtomEnded(ended) => self.behind(ended.atom.as_str(), item_ended(ended)),
            GraphEvent::ObjectiveAligned(agreed) => {
                self.is_aligned = true;
                vec![Line::marked(Style::Accent, "◆ ").plain("objective: ").add(Style::Bold, first_line(&agreed.goal))]
            }
            GraphEvent::ProbeStarted(started) => {
                let looks = Line::marked(Style::Accent, "▸ ").plain("somebody looks whether it can be done");
                self.behind(started.atom.as_str(), vec![looks])
            }
            GraphEvent::ProbeEnded(ended) => self.behind(ended.atom.as_str(), vec![found(&ended.report)]),
            GraphEvent::ChoiceSwitched(switched) => vec![given_up(switched)],
            GraphEvent::SplitStarted(started) => {
                let looks = Line::marked(Style::Accent, "▸ ").plain("the planner looks for smaller parts of it");
                self.behind(started.atom.as_str(), vec![looks])
            }
            GraphEvent::SplitEnded(ended) => self.split(ended),
            GraphEvent::Corrected(corrected) => {
                let head = Line::marked(Style::Accent, "↪ ").plain("redirected").point(Style::Dim);
                vec![head.plain(first_line(&corrected.description))]
            }
            GraphEvent::SinksReopened(reopened) => {
                let why = format!("{}: its checks fail on the work of all", reopened.holder);
                let again = |atom: &AtomId| {
                    let line = Line::marked(Style::Warn, "↩ ").plain("goes on").point(Style::Dim).dim(&why);
                    self.behind(atom.as_str(), vec![line])
                };
                reopened.sinks.iter().flat_map(again).collect()
            }
            GraphEvent::JoinChecked(JoinChecked { atom, results, .. }) => {
                let lines = match self.length {
                    Telling::Whole => results.iter().flat_map(check).collect(),
                    Telling::Short => results.iter().map(check_in_a_line).collect(),
                };
                self.behind(atom.as_str(), lines)
            }
            GraphEvent::Applied(applied) => applied_lines(applied),
            GraphEvent::Stopping(stopping) => {
                vec![Line::new().add(Style::Warn, "stopping").point(Style::Dim).dim(&stopping.reason)]
            }
            GraphEvent::ReviewAsked(asked) => {
                let card = format!("needs approval: card {}", asked.card.short());
                let why = first_line(&asked.why);
                vec![Line::marked(Style::Warn, "? ").plain("another plan").point(Style::Dim).dim(why).gap().dim(card)]
            }
            GraphEvent::ReviewAnswered(answered) => vec![reviewed(answered)],
            // What an item's own task tells.
            GraphEvent::AttemptStarted(_) | GraphEvent::ConsultStarted(_) | GraphEvent::AtomInterrupted(_) => {
                Vec::new()
            }
            GraphEvent::PlannerCharged(_)
            | GraphEvent::AtomObserved(_)
            | GraphEvent::HelpersDismissed(_)
            | GraphEvent::Bringing(_)
            | GraphEvent::Rebased(_)
            | GraphEvent::ChangeSought(_)
            | GraphEvent::Parked(_)
            | GraphEvent::Woken(_) => Vec::new(),
        }
    }

    fn split(&mut self, ended: &SplitEnded) -> Vec<Line> {
        self.titles.extend(ended.children.iter().map(|child| (child.id.clone(), child.title.clone())));
        let named: Vec<&str> = ended.children.iter().map(|child| child.id.as_str()).collect();
        let line = match named.is_empty() {
            true => Line::marked(Style::Bad, "✘ ")
                .plain("it has no smaller parts")
                .point(Style::Dim)
                .dim(first_line(&ended.reason)),
            false => Line::marked(Style::Good, "✔ ").plain("in smaller parts: ").plain(named.join(", ")),
        };
        self.behind(ended.atom.as_str(), vec![line])
    }

    fn proposed(&mut self, proposed: &PlanProposed) -> Vec<Line> {
        let Plan(root) = match &proposed.plan {
            Ok(plan) => plan,
            Err(error) => return no_plan(&error.message),
        };
        self.titles = root.all().into_iter().map(|item| (item.id.clone(), item.title.clone())).collect();
        let width = |item: &&Item| item.id.as_str().chars().count();
        self.width = root.all().iter().map(width).max().unwrap_or_default().min(WIDEST);
        let items = root.all().into_iter().filter(|item| item.tasks.is_empty()).count() as u64;
        let revision = (proposed.revision > 1).then(|| format!("revision {}", proposed.revision));
        let facts = std::iter::once(counted(items, "item")).chain(revision);
        let head = Line::marked(Style::Accent, "◆ ").plain("plan: ").add(Style::Bold, &root.title);
        vec![head.gap().facts(Style::Dim, facts)]
    }
}

/// The lines of those records that are wanted, a line for each check; the others are told nobody, and remembered.
pub fn graph_story<'a>(records: impl Iterator<Item = (Wall, &'a GraphEvent, bool)>) -> Vec<(Wall, Line)> {
    let mut planned = Planned { length: Telling::Short, ..Planned::default() };
    let told = records.flat_map(|(at, event, is_wanted)| {
        let lines = planned.tell(event);
        lines.into_iter().filter(move |_| is_wanted).map(move |line| (at, line))
    });
    told.collect()
}

fn applied_lines(applied: &GraphApplied) -> Vec<Line> {
    let done = match applied.changed {
        0 => Line::marked(Style::Good, "✔ ").plain("there was nothing to change in your folder"),
        changed => {
            let files = counted(changed, "file");
            Line::marked(Style::Good, "✔ ").plain(format!("your folder has the work: {files} changed"))
        }
    };
    let obeyed = (!applied.obeyed.is_empty()).then(|| {
        let named = applied.obeyed.iter().map(|path| first_line(path)).collect::<Vec<_>>().join(", ");
        Line::marked(Style::Warn, "! ")
            .plain("look at these first: other programs obey what stands in them: ")
            .plain(named)
    });
    std::iter::once(done).chain(obeyed).collect()
}

fn found(report: &ProbeReport) -> Line {
    let (style, mark) = if report.feasible { (Style::Good, "✔ ") } else { (Style::Bad, "✘ ") };
    let words = if report.feasible { "it can be done" } else { "it cannot be done" };
    Line::marked(style, mark).plain(words).point(Style::Dim).dim(first_line(&report.findings))
}

fn given_up(switched: &ChoiceSwitched) -> Line {
    let words = format!("{}: {} is given up for another way", switched.group, switched.failed);
    Line::marked(Style::Warn, "↩ ").plain(words).point(Style::Dim).dim(first_line(&switched.because))
}

/// Why there is none, whole: each line is another thing that is wrong.
fn no_plan(why: &str) -> Vec<Line> {
    let mut lines = why.lines().filter(|line| !line.trim().is_empty());
    let head = Line::marked(Style::Bad, "✘ ").plain(first_line(lines.next().unwrap_or_default()));
    std::iter::once(head).chain(lines.map(|line| Line::marked(Style::Dim, "    ").plain(first_line(line)))).collect()
}

/// Who a part is, before what it says.
pub fn name(part: &Part) -> String {
    match part {
        Part::Atom { atom, .. } => atom.to_string(),
        Part::Plan { .. } | Part::Guidance { .. } | Part::Split { .. } | Part::Correction {} => "planner".to_owned(),
        Part::Research { .. } => "research".to_owned(),
        Part::Probe { atom } => format!("{atom}?"),
    }
}

/// Whether a part's own record says what the plan's record beside it does not.
pub fn is_told_of_a_part(event: &TaskEvent) -> bool {
    match event {
        TaskEvent::Created(_) | TaskEvent::Finished(_) => false,
        // Whoever pauses the whole knows why all of it rests.
        TaskEvent::Changed(change) => {
            change.status == TaskStatus::Paused && ![PAUSED, PAUSED_WITH_PLAN].contains(&change.reason.as_str())
        }
        _ => true,
    }
}

fn planner(started: &PlannerStarted) -> Line {
    let words = if started.revision == 1 { "a planner writes the plan" } else { "a planner writes the plan anew" };
    let line = Line::marked(Style::Accent, "▸ ").plain(words);
    match &started.because {
        Some(because) => line.point(Style::Dim).giving_way(Style::Dim, first_line(because)),
        None => line,
    }
}

fn answer(answer: &PlanAnswer) -> Line {
    match answer {
        PlanAnswer::Approved => Line::marked(Style::Good, "✓ ").plain("the plan is approved"),
        PlanAnswer::Declined { reason } => {
            Line::marked(Style::Bad, "✘ ").plain("the plan is declined").point(Style::Dim).dim(first_line(reason))
        }
        PlanAnswer::EditRequested { note } => {
            Line::marked(Style::Warn, "✎ ").plain("the plan is sent back").point(Style::Dim).dim(first_line(note))
        }
    }
}

fn reviewed(answered: &ReviewAnswered) -> Line {
    let line = match answered.granted {
        true => Line::marked(Style::Good, "✓ ").plain("another plan may be written"),
        false => Line::marked(Style::Bad, "✘ ").plain("no other plan is wanted"),
    };
    if answered.note.is_empty() { line } else { line.point(Style::Dim).dim(first_line(&answered.note)) }
}

fn item_ended(ended: &AtomEnded) -> Vec<Line> {
    let cost: Option<Usd> = (!ended.unpriced).then_some(ended.cost);
    let facts = [counted(ended.attempts.into(), "attempt"), counted(ended.usage.total_tokens, "token"), money(cost)];
    let line = match &ended.outcome {
        AtomOutcome::Resolved { binding, .. } => {
            let said = Some(first_line(&binding.summary)).filter(|said| !said.is_empty());
            let said = said.unwrap_or_else(|| "done".to_owned());
            Line::marked(Style::Good, "✔ ").giving_way(Style::Plain, said)
        }
        called_off if called_off.is_called_off() => Line::marked(Style::Dim, "⊘ ").plain("called off"),
        AtomOutcome::Failed(error) => {
            Line::marked(Style::Bad, "✘ ").plain("failed").point(Style::Dim).plain(first_line(&error.message))
        }
    };
    let kept = ended.salvaged.iter().find_map(|salvage| salvage.git_ref.as_deref()).map(|reference| {
        // One name for all of them: they differ in the attempt's number alone.
        let all = reference.trim_end_matches(|letter: char| letter.is_ascii_digit());
        Line::marked(Style::Dim, "  ").dim(format!("what it left is kept in git as {all}*"))
    });
    std::iter::once(line.gap().facts(Style::Dim, facts)).chain(kept).collect()
}
