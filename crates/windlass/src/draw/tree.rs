//! A work graph for a terminal: a tree in which all of what hangs on whole lines has to be done, and one of what hangs on broken ones.
//! What is done is folded into a line, unless all is asked for.

use std::collections::BTreeSet;

use windlass_domain::plan::AtomId;

use super::picture::{Atom, Group, Mark, Part, Picture};
use crate::show::{Line, Style, counted, headline, width_of};

/// Siblings that are done, from which on they share a line.
const MANY: usize = 3;
/// Names longer than this are not waited for.
const WIDEST: usize = 18;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folding {
    Folded,
    All,
}

pub fn tree(picture: &Picture, folding: Folding) -> Vec<Line> {
    let Picture { root } = picture;
    let mut drawing = Drawing { folding, lines: Vec::new(), marks: BTreeSet::new(), has_choices: false };
    match root.parts.is_empty() {
        true => drawing.atom(root, &Place::top(), 0),
        false => {
            drawing.lines.extend(root.note.as_ref().map(|note| Line::marked(Style::Bad, "✘ ").plain(headline(note))));
            drawing.parts(&root.parts, &Place::top());
        }
    }
    let legend = drawing.legend();
    drawing.lines.push(legend);
    drawing.lines
}

/// What stands left of a line, and of those that continue or follow below it.
#[derive(Debug, Clone, Default)]
struct Place {
    first: String,
    next: String,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    All,
    One,
}

impl Place {
    fn top() -> Self {
        Self::default()
    }

    fn below(&self, kind: Kind, is_last: bool) -> Self {
        let (first, next) = match (kind, is_last) {
            (Kind::All, false) => ("├─ ", "│  "),
            (Kind::All, true) => ("└─ ", "   "),
            (Kind::One, false) => ("├╌ ", "╎  "),
            (Kind::One, true) => ("└╌ ", "   "),
        };
        Self { first: format!("{}{first}", self.next), next: format!("{}{next}", self.next) }
    }

    fn line(&self) -> Line {
        Line::new().hung(Style::Dim, &self.first, &self.next)
    }
}

struct Drawing {
    folding: Folding,
    lines: Vec<Line>,
    /// What is to be explained.
    marks: BTreeSet<Mark>,
    has_choices: bool,
}

impl Drawing {
    fn parts(&mut self, parts: &[Part], place: &Place) {
        let width = widest(parts.iter().map(|part| part.id().as_str()));
        let mut at = 0;
        while at < parts.len() {
            let done = parts[at..].iter().take_while(|part| part.is_done()).count();
            let folded = if self.folding == Folding::Folded && done >= MANY { done } else { 1 };
            let here = place.below(Kind::All, at + folded == parts.len());
            match &parts[at] {
                _ if folded > 1 => self.folded(&parts[at..at + folded], &here),
                Part::Atom(atom) => self.atom(atom, &here, width),
                Part::Group(group) => self.group(group, &here, width),
            }
            at += folded;
        }
    }

    fn folded(&mut self, parts: &[Part], place: &Place) {
        let names: Vec<&str> = parts.iter().map(|part| part.id().as_str()).collect();
        self.marks.insert(Mark::Done);
        let line = place.line().add(Mark::Done.style(), format!("{} {} done", Mark::Done.sign(), parts.len()));
        self.lines.push(line.plain("  ").giving_way(Style::Dim, names.join(", ")));
    }

    fn atom(&mut self, atom: &Atom, place: &Place, width: usize) {
        self.marks.insert(atom.mark);
        let is_closed = matches!(atom.mark, Mark::Done | Mark::GivenUp | Mark::Aside);
        let is_folded = self.folding == Folding::Folded && is_closed;
        self.lines.push(with_facts(named(place, atom, width), &facts(atom, is_folded), atom.note.as_deref()));
        if !is_folded {
            self.parts(&atom.parts, place);
        }
    }

    fn group(&mut self, group: &Group, place: &Place, width: usize) {
        let line = place.line();
        let name = format!("{:<width$}", group.id.as_str());
        let line = match group.is_done {
            true => line.add(Mark::Done.style(), format!("{} ", Mark::Done.sign())).plain(name),
            false => line.add(Style::Warn, "◇ ").add(Style::Bold, name),
        };
        let how_many = if group.is_race { "any of these, all at once" } else { "one of these, in this order" };
        let is_folded = self.folding == Folding::Folded && group.is_done;
        let line = match (&group.taken, is_folded) {
            (Some(taken), true) => {
                let choices = counted(group.choices.len() as u64, "choice");
                line.plain("  ").giving_way(Style::Dim, format!("by {taken}, of {choices}"))
            }
            (Some(taken), false) => line.plain("  ").giving_way(Style::Dim, format!("{how_many}: {taken} is taken")),
            (None, _) => line.plain("  ").giving_way(Style::Dim, how_many),
        };
        self.lines.push(line);
        if is_folded {
            self.marks.insert(Mark::Done);
            return;
        }
        self.has_choices = true;
        let width = widest(group.choices.iter().map(|choice| choice.id.as_str()));
        for (at, choice) in group.choices.iter().enumerate() {
            self.atom(choice, &place.below(Kind::One, at + 1 == group.choices.len()), width);
        }
    }

    /// Of the marks that occur, and of lines where there are choices.
    fn legend(&self) -> Line {
        let mut line = Line::new();
        for (at, mark) in self.marks.iter().enumerate() {
            let between = if at == 0 { "" } else { "  " };
            line = line.plain(between).add(mark.style(), mark.sign()).dim(format!(" {}", mark.word()));
        }
        if self.has_choices { line.gap().dim("├─ all of these  ├╌ one of these") } else { line }
    }
}

fn widest<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    names.map(width_of).max().unwrap_or_default().min(WIDEST)
}

fn named(place: &Place, atom: &Atom, width: usize) -> Line {
    let name_style = match atom.mark {
        Mark::GivenUp | Mark::Aside => Style::Dim,
        Mark::Working | Mark::Asks | Mark::Failed | Mark::Next => Style::Bold,
        _ => Style::Plain,
    };
    let line = place.line().add(atom.mark.style(), format!("{} ", atom.mark.sign()));
    let line = line.add(name_style, format!("{:<width$}", atom.id.as_str()));
    let title_style = if name_style == Style::Dim { Style::Dim } else { Style::Plain };
    // Many are called by their title alone.
    if atom.title == atom.id.as_str() { line } else { line.plain("  ").giving_way(title_style, headline(&atom.title)) }
}

fn with_facts(line: Line, facts: &[String], note: Option<&str>) -> Line {
    let line = if facts.is_empty() { line } else { line.gap().facts(Style::Dim, facts) };
    match note {
        Some(note) if facts.is_empty() => line.gap().giving_way(Style::Dim, headline(note)),
        Some(note) => line.point(Style::Dim).giving_way(Style::Dim, headline(note)),
        None => line,
    }
}

fn facts(atom: &Atom, is_folded: bool) -> Vec<String> {
    let parts = (!atom.parts.is_empty()).then(|| match is_folded {
        true => counted(atom.leaves() as u64, "part"),
        false => "all of these".to_owned(),
    });
    let attempts = atom.attempts.map(|attempts| match atom.mark {
        Mark::Done => counted(attempts.used.into(), "attempt"),
        _ => format!("{} of {} used", attempts.used, counted(attempts.of.into(), "attempt")),
    });
    let names: Vec<&str> = atom.waits_for.iter().map(AtomId::as_str).collect();
    let waits = (!names.is_empty()).then(|| format!("after {}", names.join(", ")));
    [parts, attempts, waits].into_iter().flatten().collect()
}
