//! Lines about where a conversation comes from, and whom it is held with.

use windlass_domain::execution::{ForkedFrom, ModelSwitched};

use super::line::Line;
use super::style::Style;

pub fn forked(from: &ForkedFrom) -> Line {
    let facts = [format!("turn {}", from.turn), format!("task {}", from.task_id.short())];
    Line::marked(Style::Accent, "⑂ ")
        .plain(format!("forked from execution {}", from.execution_id.short()))
        .point(Style::Dim)
        .facts(Style::Dim, facts)
}

/// What is still being worked on elsewhere.
pub fn left_out(turn: u32) -> Line {
    Line::new().dim(format!("its turn {turn} is still being worked on, and is not taken over"))
}

pub fn switched(switched: &ModelSwitched) -> Line {
    Line::marked(Style::Accent, "▸ ")
        .plain(format!("asks {} from here on", switched.to))
        .point(Style::Dim)
        .dim(format!("instead of {}", switched.from))
}
