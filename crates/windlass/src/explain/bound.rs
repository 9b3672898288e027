//! What was promised at most, and what has been used of it: since a person agreed to what holds now, be it by an approval or by a change
//! on the way. Both are told in the same figures, wherever they are told.

use serde_json::{Value, json};
use windlass_domain::approval::WorstCase;
use windlass_domain::graph::{Bill, Chronicle};
use windlass_engine::worst_case;

use crate::show::{Line, Style, at_worst, figures};

#[derive(Debug, Clone)]
pub struct Bound {
    promised: WorstCase,
    attempts: u32,
    used: Bill,
    /// It was changed on the way: what was used before that was promised by another bound.
    is_changed: bool,
}

impl Bound {
    /// Nothing, before there is a plan. `unbilled`: what those have used who work for it and have sent no bill.
    pub fn of(chronicle: &Chronicle, unbilled: &[Bill]) -> Option<Self> {
        let promised = worst_case(&chronicle.graph, chronicle.passes_before)?;
        let (attempts, mut used) = chronicle.used();
        unbilled.iter().for_each(|bill| used.add(*bill));
        let is_changed = !chronicle.graph.corrections.is_empty();
        Some(Self { promised, attempts, used, is_changed })
    }

    fn used(&self) -> [String; 4] {
        let Bill { usage, cost, unpriced } = self.used;
        figures(self.attempts, usage.total_tokens, (!unpriced).then_some(cost), usage.duration_ms)
    }

    const fn since(&self) -> Option<&'static str> {
        if self.is_changed { Some("since your last change") } else { None }
    }

    pub fn in_lines(&self) -> Vec<Line> {
        let used = Line::marked(Style::Dim, "used     ").facts(Style::Plain, self.used());
        vec![
            Line::marked(Style::Dim, "at most  ").facts(Style::Plain, at_worst(&self.promised)),
            match self.since() {
                Some(since) => used.gap().dim(since),
                None => used,
            },
        ]
    }

    pub fn in_a_sentence(&self) -> String {
        let [attempts, tokens, cost, time] = at_worst(&self.promised);
        let [used_attempts, used_tokens, used_cost, used_time] = self.used();
        let since = self.since().map(|since| format!(" {since}")).unwrap_or_default();
        format!(
            "of at most {attempts}, {tokens}, {cost} and {time} it used {used_attempts}, {used_tokens}, {used_cost} and {used_time}{since}"
        )
    }

    pub const fn promised(&self) -> WorstCase {
        self.promised
    }

    pub fn used_as_json(&self) -> Value {
        let Bill { usage, cost, unpriced } = self.used;
        json!({
            "attempts": self.attempts,
            "tokens": usage.total_tokens,
            "cost_usd": (!unpriced).then_some(cost),
            "wall_time_seconds": usage.duration_ms.div_ceil(1_000),
        })
    }
}
