//! What watchers see while it happens passes the redactor as it comes: a secret may arrive in pieces, so that each source
//! has a stream of its own, which holds back what may still become one.

use std::collections::BTreeMap;

use windlass_domain::{CallId, Delta};
use windlass_policy::{Redactor, Stream};

#[derive(Default)]
pub struct Shown {
    streams: BTreeMap<Source, Stream>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Text,
    Reasoning,
    Tool(CallId),
}

impl Shown {
    /// A new answer, with nothing left of what came before.
    pub fn begin_answer(&mut self) {
        self.streams.clear();
    }

    /// The delta as it may be shown; nothing while all of it is held back.
    pub fn redact(&mut self, delta: Delta, redactor: &Redactor) -> Option<Delta> {
        match delta {
            Delta::Text(text) => self.pass(Source::Text, &text, redactor).map(Delta::Text),
            Delta::Reasoning(text) => self.pass(Source::Reasoning, &text, redactor).map(Delta::Reasoning),
            Delta::ToolOutput { call_id, text } => {
                let text = self.pass(Source::Tool(call_id.clone()), &text, redactor)?;
                Some(Delta::ToolOutput { call_id, text })
            }
            Delta::Retrying { reason, delay_ms } => {
                // What was heard is said again from the beginning.
                self.begin_answer();
                Some(Delta::Retrying { reason: redactor.redact(&reason).into_owned(), delay_ms })
            }
        }
    }

    fn pass(&mut self, source: Source, text: &str, redactor: &Redactor) -> Option<String> {
        let mut certain = Vec::new();
        self.streams.entry(source).or_insert_with(|| redactor.stream()).push(text.as_bytes(), &mut certain);
        (!certain.is_empty()).then(|| String::from_utf8_lossy(&certain).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use windlass_domain::Secret;

    use super::*;

    const SECRET: &str = "hunter2hunter2secret";

    fn output(call: &str, text: &str) -> Delta {
        Delta::ToolOutput { call_id: CallId(call.into()), text: text.into() }
    }

    fn seen(deltas: impl IntoIterator<Item = Delta>) -> String {
        let redactor = Redactor::new([&Secret::new(SECRET)]);
        let mut shown = Shown::default();
        let text = |delta| match shown.redact(delta, &redactor) {
            Some(Delta::Text(text) | Delta::Reasoning(text) | Delta::ToolOutput { text, .. }) => text,
            Some(Delta::Retrying { reason, .. }) => reason,
            None => String::new(),
        };
        deltas.into_iter().map(text).collect()
    }

    #[test]
    fn a_secret_that_comes_in_pieces_is_never_shown() {
        for cut in 1..SECRET.len() {
            let (one, two) = SECRET.split_at(cut);
            let after = " and then a long tail that lets what was held back go on its way, whatever it was.";
            let told = seen([output("a", "it is "), output("a", one), output("a", two), output("a", after)]);
            assert!(told.starts_with("it is [REDACTED]") && !told.contains(SECRET), "cut at {cut}: {told}");
        }
    }

    #[test]
    fn pieces_of_two_sources_are_not_one_text() {
        let (one, two) = SECRET.split_at(9);
        let tail = "; nothing secret in here, only words that take some room so that all is let go at last";
        let told = seen([output("a", one), output("b", two), output("a", tail), output("b", tail)]);
        assert!(told.contains(one) && told.contains(two), "{told}");
    }

    #[test]
    fn a_reason_is_redacted_as_well() {
        let told = seen([Delta::Retrying { reason: format!("refused: {SECRET}"), delay_ms: 1 }]);
        assert_eq!(told, "refused: [REDACTED]");
    }
}
