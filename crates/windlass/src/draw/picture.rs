//! What there is to see of a work graph: its atoms as a tree of parts and choices, how each stands, and what it comes after. Made from the
//! state alone; how it is drawn is for others.

use std::collections::BTreeMap;

use serde::Serialize;
use windlass_domain::TaskId;
use windlass_domain::graph::{AtomProgress, Chronicle, Node, Standing, Work};
use windlass_domain::plan::{AtomId, Item, Plan};

use crate::show::Style;
use crate::stands::Stands;

#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    pub root: Atom,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Atom {
    pub id: AtomId,
    pub title: String,
    pub mark: Mark,
    /// Atoms and groups that have to be done before it.
    pub after: Vec<AtomId>,
    /// Those of them that are not.
    pub waits_for: Vec<AtomId>,
    pub attempts: Option<Attempts>,
    /// What is remarkable about how it stands.
    pub note: Option<String>,
    pub parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    Atom(Atom),
    Group(Group),
}

/// Choices, of which one is enough.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    pub id: AtomId,
    /// All at once, and the first to be done is the one.
    pub is_race: bool,
    pub taken: Option<AtomId>,
    pub is_done: bool,
    pub choices: Vec<Atom>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Attempts {
    pub used: u32,
    pub of: u32,
}

/// How an atom stands, as far as a glance tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    Done,
    /// Somebody is at it.
    Working,
    /// Whoever was at it asks a person.
    Asks,
    /// It was begun, and nobody is at it: a person stopped it, it is paused, or whoever was is gone.
    Stopped,
    Paused,
    Interrupted,
    /// It was begun or is to be, and nobody is at it yet.
    Queued,
    /// Its parts are done, and its own checks are made.
    Checking,
    /// Its parts are worked on.
    Open,
    /// It can begin.
    Next,
    Waiting,
    /// It is another way than the one that is tried.
    Aside,
    Failed,
    GivenUp,
}

impl Mark {
    pub const ALL: [Self; 14] = [
        Self::Done,
        Self::Working,
        Self::Asks,
        Self::Stopped,
        Self::Paused,
        Self::Interrupted,
        Self::Queued,
        Self::Checking,
        Self::Open,
        Self::Next,
        Self::Waiting,
        Self::Aside,
        Self::Failed,
        Self::GivenUp,
    ];

    /// One column, and told from the others without colour.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Done => "✔",
            Self::Working => "▶",
            Self::Asks => "?",
            Self::Stopped | Self::Paused | Self::Interrupted => "‖",
            Self::Queued => "»",
            Self::Checking => "≟",
            Self::Open => "◐",
            Self::Next => "▷",
            Self::Waiting => "○",
            Self::Aside => "◌",
            Self::Failed => "✘",
            Self::GivenUp => "⊘",
        }
    }

    /// What drawings call it, where it has a look of its own.
    pub const fn class(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Working | Self::Checking => "work",
            Self::Asks | Self::Stopped | Self::Paused | Self::Interrupted => "held",
            Self::Open => "open",
            Self::Next | Self::Queued => "next",
            Self::Waiting => "wait",
            Self::Aside => "aside",
            Self::Failed => "fail",
            Self::GivenUp => "gone",
        }
    }

    pub const fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Working => "at work",
            Self::Asks => "waits for you",
            Self::Stopped => "stopped",
            Self::Paused => "paused",
            Self::Interrupted => "interrupted",
            Self::Queued => "queued",
            Self::Checking => "checked",
            Self::Open => "in parts",
            Self::Next => "next",
            Self::Waiting => "waits",
            Self::Aside => "another way",
            Self::Failed => "failed",
            Self::GivenUp => "given up",
        }
    }

    pub const fn style(self) -> Style {
        match self {
            Self::Done => Style::Good,
            Self::Working | Self::Checking => Style::Accent,
            Self::Asks | Self::Stopped | Self::Paused | Self::Interrupted => Style::Warn,
            Self::Open => Style::Plain,
            Self::Next | Self::Queued => Style::Bold,
            Self::Waiting | Self::Aside | Self::GivenUp => Style::Dim,
            Self::Failed => Style::Bad,
        }
    }

    /// Of an atom whose run stands so.
    pub const fn of_run(stands: Stands) -> Self {
        match stands {
            Stands::Running => Self::Working,
            Stands::Waiting(_) => Self::Asks,
            Stands::Stopped => Self::Stopped,
            Stands::Paused => Self::Paused,
            Stands::Interrupted => Self::Interrupted,
            Stands::Queued | Stands::Answered | Stands::Agreed => Self::Queued,
            // It has ended, and the whole has not heard of it or ended with it.
            Stands::Verified | Stands::Completed | Stands::Failed | Stands::Cancelled => Self::GivenUp,
        }
    }
}

impl Picture {
    /// Nothing, where there is no plan yet. `present` says how those stand who work for it.
    pub fn of(chronicle: &Chronicle, present: &BTreeMap<TaskId, Stands>) -> Option<Self> {
        let Plan(root) = chronicle.graph.work.plan()?;
        let selected = chronicle.graph.work.memory().selected;
        let painter = Painter { chronicle, present, selected };
        Some(Self { root: painter.atom(&root) })
    }

    /// All atoms, what holds others before its parts.
    pub fn atoms(&self) -> Vec<&Atom> {
        let mut atoms = Vec::new();
        self.root.collect(&mut atoms);
        atoms
    }

    /// The marks of those that somebody works on.
    pub fn marks(&self) -> Vec<Mark> {
        let atoms = self.atoms();
        let has = |mark: &Mark| atoms.iter().any(|atom| atom.parts.is_empty() && atom.mark == *mark);
        Mark::ALL.into_iter().filter(has).collect()
    }
}

impl Atom {
    fn collect<'a>(&'a self, to: &mut Vec<&'a Self>) {
        to.push(self);
        for part in &self.parts {
            part.atoms().iter().for_each(|atom| atom.collect(to));
        }
    }

    /// It and everything in it, groups included.
    pub fn names(&self) -> Vec<&AtomId> {
        let parts = self.parts.iter().flat_map(Part::names);
        std::iter::once(&self.id).chain(parts).collect()
    }

    /// How many there are in it that somebody works on.
    pub fn leaves(&self) -> usize {
        let below = self.parts.iter().flat_map(Part::atoms).map(Self::leaves).sum::<usize>();
        if self.parts.is_empty() { 1 } else { below }
    }
}

impl Part {
    pub fn atoms(&self) -> &[Atom] {
        match self {
            Self::Atom(atom) => std::slice::from_ref(atom),
            Self::Group(group) => &group.choices,
        }
    }

    pub fn id(&self) -> &AtomId {
        match self {
            Self::Atom(atom) => &atom.id,
            Self::Group(group) => &group.id,
        }
    }

    pub fn names(&self) -> Vec<&AtomId> {
        let inside = self.atoms().iter().flat_map(Atom::names);
        match self {
            Self::Atom(_) => inside.collect(),
            Self::Group(group) => std::iter::once(&group.id).chain(inside).collect(),
        }
    }

    /// What anything in it comes after.
    pub fn after(&self) -> Vec<&AtomId> {
        fn of(atom: &Atom) -> Vec<&AtomId> {
            atom.after.iter().chain(atom.parts.iter().flat_map(Part::after)).collect()
        }
        self.atoms().iter().flat_map(of).collect()
    }

    pub fn is_done(&self) -> bool {
        match self {
            Self::Atom(atom) => atom.mark == Mark::Done,
            Self::Group(group) => group.is_done,
        }
    }
}

struct Painter<'a> {
    chronicle: &'a Chronicle,
    present: &'a BTreeMap<TaskId, Stands>,
    selected: Vec<(AtomId, AtomId)>,
}

impl Painter<'_> {
    fn atom(&self, item: &Item) -> Atom {
        let work = &self.chronicle.graph.work;
        let node = work.find(&item.id);
        let mut after: Vec<AtomId> = item.depends_on.iter().map(|name| meant(work, &item.id, name)).collect();
        after.dedup();
        let mark = node.map_or(Mark::Waiting, |node| self.mark(node));
        let is_open = matches!(mark, Mark::Waiting | Mark::Next | Mark::Aside);
        let waits_for = after.iter().filter(|name| is_open && !is_done(work, name)).cloned().collect();
        Atom {
            id: item.id.clone(),
            title: item.title.clone(),
            mark,
            waits_for,
            after,
            attempts: node.and_then(attempts),
            note: node.and_then(|node| self.note(node)),
            parts: self.parts(&item.tasks),
        }
    }

    /// In the order of the document; a group stands where its first choice does.
    fn parts(&self, items: &[Item]) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        for item in items {
            let atom = self.atom(item);
            let Some(name) = &item.any_of else {
                parts.push(Part::Atom(atom));
                continue;
            };
            let known = parts.iter_mut().find_map(|part| match part {
                Part::Group(group) if group.id == *name => Some(group),
                _ => None,
            });
            match known {
                Some(group) => group.choices.push(atom),
                None => parts.push(Part::Group(self.group(name, atom))),
            }
        }
        parts
    }

    fn group(&self, name: &AtomId, first: Atom) -> Group {
        let work = &self.chronicle.graph.work;
        let taken = self.selected.iter().find(|(group, _)| group == name).map(|(_, choice)| choice.clone());
        Group {
            id: name.clone(),
            is_race: work.group(name).is_some_and(|group| group.speculative),
            taken,
            is_done: is_done(work, name),
            choices: vec![first],
        }
    }

    fn mark(&self, node: &Node) -> Mark {
        let work = &self.chronicle.graph.work;
        match node.standing {
            Standing::Resolved => Mark::Done,
            Standing::Running(run) | Standing::Probing(run) | Standing::Splitting(run) => {
                Mark::of_run(self.present.get(&run).copied().unwrap_or(Stands::Queued))
            }
            Standing::Joining if work.unmet().any(|unmet| unmet.id() == node.id()) => Mark::Failed,
            Standing::Joining => Mark::Checking,
            Standing::Open => Mark::Open,
            Standing::Stuck => Mark::Failed,
            Standing::Dropped => Mark::GivenUp,
            Standing::Ready | Standing::Waiting if !work.is_needed(node.id()) => Mark::Aside,
            Standing::Ready => Mark::Next,
            Standing::Waiting => Mark::Waiting,
        }
    }

    fn note(&self, node: &Node) -> Option<String> {
        let progress = self.chronicle.graph.progress(node.id());
        match node.standing {
            Standing::Probing(_) => Some("to see whether it can be done".to_owned()),
            Standing::Splitting(_) => Some("to find smaller parts".to_owned()),
            Standing::Stuck => {
                let failure = progress.and_then(AtomProgress::failure).map(|error| error.message.clone());
                let findings = progress.and_then(|progress| progress.findings.as_ref());
                let findings = findings.filter(|report| !report.feasible).map(|report| report.findings.clone());
                failure.or(findings)
            }
            Standing::Dropped => {
                let given_up = self.chronicle.given_up.iter().rev().find(|given_up| given_up.choice == *node.id());
                given_up.map(|given_up| given_up.because.clone())
            }
            Standing::Joining if self.mark(node) == Mark::Failed => {
                Some("its checks fail on the work of all of its parts".to_owned())
            }
            _ => None,
        }
    }
}

fn attempts(node: &Node) -> Option<Attempts> {
    let of = node.item.budget.max_attempts;
    let used = of.saturating_sub(node.left.attempts);
    (node.is_leaf() && used > 0).then_some(Attempts { used, of })
}

/// What an edge to `name` means to who waits: for a choice that it is not in, the whole group.
pub fn meant(work: &Work, waits: &AtomId, name: &AtomId) -> AtomId {
    if work.group(name).is_some() {
        return name.clone();
    }
    let around_both: Vec<&AtomId> = work.line(waits).into_iter().map(|item| &item.id).collect();
    let other_choice =
        work.line(name).into_iter().find(|item| item.any_of.is_some() && !around_both.contains(&&item.id));
    other_choice.and_then(|item| item.any_of.clone()).unwrap_or_else(|| name.clone())
}

/// An atom, or one of a group of choices.
pub fn is_done(work: &Work, name: &AtomId) -> bool {
    let is_meant = |node: &&Node| node.id() == name || node.item.any_of.as_ref() == Some(name);
    work.nodes().iter().filter(is_meant).any(Node::is_resolved)
}
