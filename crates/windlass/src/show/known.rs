//! A line about what is known of a task before anybody works on it: how much, and who said so; never what.

use windlass_domain::known::{ContextGathered, ContextSource};

use super::line::Line;
use super::style::Style;

pub fn known(gathered: &ContextGathered) -> Line {
    let ContextGathered { from, context } = gathered;
    let from = match from {
        ContextSource::Memory => "of earlier tasks here",
        ContextSource::Service => "from the context service",
    };
    let counted = [
        counted(context.memories.len(), "memory", "memories"),
        counted(context.preferences.len(), "preference", "preferences"),
        counted(context.attachments.len(), "attachment", "attachments"),
    ];
    let counted = counted.into_iter().flatten().collect::<Vec<_>>().join(", ");
    Line::marked(Style::Dim, "▸ ").dim(format!("is told {counted} {from}"))
}

fn counted(number: usize, one: &str, many: &str) -> Option<String> {
    match number {
        0 => None,
        1 => Some(format!("1 {one}")),
        number => Some(format!("{number} {many}")),
    }
}
