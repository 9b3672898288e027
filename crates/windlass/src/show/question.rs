//! An agent's question for a person: its words, behind the bar that marks an agent's, and the options by number.

use windlass_domain::{Wall, millis};
use windlass_engine::OpenQuestion;

use super::line::{Line, first_line, quoted};
use super::narrate::duration;
use super::style::Style;

pub fn question(open: &OpenQuestion, now: Wall) -> Vec<Line> {
    let OpenQuestion { asked, at } = open;
    let facts = [format!("task {}", asked.task_id.short()), format!("asked {} ago", duration(millis(now.since(*at))))];
    let head = Line::new().add(Style::Bold, format!("question {}", asked.request_id.short()));
    let mut lines = vec![head.gap().facts(Style::Dim, facts)];
    lines.extend(quoted(&asked.asked.question));
    if let Some(context) = &asked.asked.context {
        lines.push(Line::new().dim("  why"));
        lines.extend(quoted(context).map(|line| line.behind(Style::Plain, "  ")));
    }
    let numbered = asked.asked.options.iter().zip(1..);
    lines.extend(
        numbered
            .map(|(option, number)| Line::marked(Style::Accent, &format!("{number:>4}  ")).plain(first_line(option))),
    );
    lines
}

/// In a line, for a question that is not its turn.
pub fn question_in_short(open: &OpenQuestion) -> Line {
    let asked = &open.asked;
    Line::new()
        .plain(format!("question {}  ", asked.request_id.short()))
        .giving_way(Style::Plain, first_line(&asked.asked.question))
        .gap()
        .facts(Style::Dim, [format!("task {}", asked.task_id.short())])
}
