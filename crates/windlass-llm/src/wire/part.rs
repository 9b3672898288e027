//! An answer taken apart again: what was thought, said and called, in the order in which it came.

use windlass_domain::{Dialect, Reasoning, ToolCall};

/// One part of an answer.
#[derive(Debug, Clone, Copy)]
pub enum Part<'m> {
    /// In the wire's own form.
    Thought(&'m str),
    Text(&'m str),
    Call(&'m ToolCall),
}

/// The parts of an answer on this wire. What was thought on another stays there; without calls there is always text.
pub fn parts<'m>(wire: Dialect, text: &'m str, calls: &'m [ToolCall], reasoning: &'m [Reasoning]) -> Vec<Part<'m>> {
    let text = (!text.is_empty() || calls.is_empty()).then_some(Part::Text(text));
    let spoken = text.into_iter().chain(calls.iter().map(Part::Call)).collect::<Vec<_>>();
    let mut thoughts = reasoning.iter().filter(|thought| thought.wire == wire).peekable();
    let mut parts = Vec::with_capacity(spoken.len() + reasoning.len());
    let last = spoken.len() - 1;
    for (place, part) in spoken.into_iter().enumerate() {
        // A thought that came after everything else stands before the last part: providers take none at the end.
        while let Some(thought) = thoughts.next_if(|thought| thought.after <= place || place == last) {
            parts.push(Part::Thought(thought.content.get()));
        }
        parts.push(part);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_stand_where_they_came_and_nowhere_else() {
        let calls = ["a", "b"].map(|id| ToolCall::new(id, "read", "{}"));
        let thought = |wire, after: usize| Reasoning {
            wire,
            after,
            content: serde_json::value::to_raw_value(&after).expect("a number"),
        };
        let shown = |text: &str, calls: &[ToolCall], places: &[usize]| {
            let mut reasoning = places.iter().map(|after| thought(Dialect::Anthropic, *after)).collect::<Vec<_>>();
            reasoning.insert(0, thought(Dialect::OpenAi, 0));
            let show = |part: Part<'_>| match part {
                Part::Thought(json) => json.to_owned(),
                Part::Text(text) => format!("'{text}'"),
                Part::Call(call) => call.call_id.0.clone(),
            };
            parts(Dialect::Anthropic, text, calls, &reasoning).into_iter().map(show).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown("hi", &calls, &[]), "'hi' a b");
        assert_eq!(shown("hi", &calls, &[0, 0, 1, 2]), "0 0 'hi' 1 a 2 b");
        assert_eq!(shown("", &calls, &[0, 1, 9]), "0 a 1 9 b");
        assert_eq!(shown("", &[], &[0, 7]), "0 7 ''");
    }
}
