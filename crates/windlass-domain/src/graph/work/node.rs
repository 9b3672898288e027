//! What is known of one atom, and of one group of choices.

use std::collections::BTreeSet;

use super::{GroupAt, Need, NodeAt};
use crate::id::TaskId;
use crate::plan::{AtomId, Item};
use crate::port::TreeId;

#[derive(Debug, Clone)]
pub struct Node {
    /// As it was agreed to; what it holds are atoms of their own.
    pub item: Item,
    pub standing: Standing,
    pub left: Left,
    /// The group that it is a choice of, and what holds it.
    pub(super) group: Option<GroupAt>,
    pub(super) holder: Option<NodeAt>,
    pub(super) parts: Vec<NodeAt>,
    pub(super) part_groups: Vec<GroupAt>,
    pub(super) after: Vec<Need>,
    pub(super) waited_by: Vec<NodeAt>,
    /// How many of `after` are not done; true only while it waits.
    pub(super) open_after: usize,
    /// How many of its parts, and groups of parts, are not done.
    pub(super) open_parts: usize,
    /// How often something of the kind was split above it.
    pub(super) depth: u32,
    /// It was reopened, and the attempt that it then starts is paid for.
    pub(super) is_prepaid: bool,
    /// The attempts of the run that is on, which were counted when they began.
    pub(super) counted: u32,
    /// What its own checks said last, and the tree that they were made on.
    pub joined: Option<(TreeId, bool)>,
    /// Whether somebody who looked says that it can be done, and the choice that they look at it for.
    pub probed: Option<bool>,
    pub(super) probed_for: Option<NodeAt>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// For others, or for the choice around it to be tried.
    Waiting,
    Ready,
    /// Somebody works on it.
    Running(TaskId),
    /// Somebody looks whether it can be done.
    Probing(TaskId),
    /// Somebody looks for smaller parts of it.
    Splitting(TaskId),
    /// It holds others, which are worked on.
    Open,
    /// They are all done; its own checks are to pass.
    Joining,
    Resolved,
    /// It failed, and what is tried next is not its own to try.
    Stuck,
    Dropped,
}

impl Standing {
    pub const fn run(self) -> Option<TaskId> {
        match self {
            Self::Running(run) | Self::Probing(run) | Self::Splitting(run) => Some(run),
            _ => None,
        }
    }
}

/// What one atom may still use. Only a switch, or a person, gives any of it back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Left {
    pub splits: u32,
    /// For smaller parts.
    pub searches: u32,
    pub attempts: u32,
    pub consults: u32,
    pub probes: u32,
    pub interruptions: u32,
}

#[derive(Debug, Clone)]
pub struct Group {
    pub id: AtomId,
    /// All at once, and the first to be done is the one.
    pub speculative: bool,
    pub(super) holder: NodeAt,
    pub(super) choices: Vec<NodeAt>,
    pub(super) selected: Option<NodeAt>,
    pub(super) failed: BTreeSet<NodeAt>,
    pub(super) is_resolved: bool,
    pub(super) was_switched: bool,
    pub(super) waited_by: Vec<NodeAt>,
}

impl Group {
    /// The choice that is the one, or would be next.
    pub(super) fn current(&self) -> Option<NodeAt> {
        self.selected.or_else(|| self.open_choices().next())
    }

    pub(super) fn open_choices(&self) -> impl Iterator<Item = NodeAt> {
        self.choices.iter().copied().filter(|choice| !self.failed.contains(choice))
    }

    /// Whether `choice` is tried now.
    pub(super) fn tries(&self, choice: NodeAt) -> bool {
        match self.selected {
            None if self.speculative => !self.failed.contains(&choice),
            _ => self.current() == Some(choice),
        }
    }
}

impl Node {
    pub const fn id(&self) -> &AtomId {
        &self.item.id
    }

    pub const fn is_leaf(&self) -> bool {
        self.parts.is_empty() && self.part_groups.is_empty()
    }

    pub fn is_resolved(&self) -> bool {
        self.standing == Standing::Resolved
    }

    /// Whether there is an attempt to begin with.
    pub const fn may_begin(&self) -> bool {
        self.is_prepaid || self.left.attempts > 0
    }

    /// Whether the attempt that it begins with was paid for when it was reopened.
    pub const fn is_paid(&self) -> bool {
        self.is_prepaid
    }

    pub(super) fn is_live(&self) -> bool {
        self.standing != Standing::Dropped
    }
}
