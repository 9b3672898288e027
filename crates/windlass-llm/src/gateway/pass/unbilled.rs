//! Takes the bill out again of a streamed chat completion whose agent has not asked for one: it comes in a chunk without
//! choices, which a client that does not expect it stumbles over.

use bytes::Bytes;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::wire::{Event, Parser, Trouble};

#[derive(Debug, Default)]
pub struct Unbilled {
    parser: Parser,
}

#[derive(Deserialize)]
struct Chunk {
    choices: Option<Vec<IgnoredAny>>,
    usage: Option<IgnoredAny>,
}

impl Unbilled {
    pub fn pass(&mut self, portion: &[u8]) -> Result<Bytes, Trouble> {
        let mut out = Vec::with_capacity(portion.len());
        self.parser.feed(portion, &mut |event| write(&event, &mut out))?;
        if out.is_empty() {
            // A comment, or half an event: a sign of life in any case.
            out.extend_from_slice(b":\n\n");
        }
        Ok(out.into())
    }

    pub fn rest(&mut self) -> Result<Bytes, Trouble> {
        let mut out = Vec::new();
        self.parser.finish(&mut |event| write(&event, &mut out))?;
        Ok(out.into())
    }
}

fn write(event: &Event<'_>, out: &mut Vec<u8>) -> Result<(), Trouble> {
    let chunk = serde_json::from_slice::<Chunk>(event.data).ok();
    if chunk.is_some_and(|chunk| chunk.usage.is_some() && chunk.choices.is_some_and(|choices| choices.is_empty())) {
        return Ok(());
    }
    if !event.name.is_empty() {
        out.extend_from_slice(format!("event: {}\n", event.name).as_bytes());
    }
    for line in event.data.split(|byte| *byte == b'\n') {
        out.extend_from_slice(b"data: ");
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    out.push(b'\n');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_bill_is_missing_however_the_stream_is_cut() {
        let words = "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}],\"usage\":null}\n\n";
        let with_words = "data: {\"choices\":[{\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1}}\n\n";
        let bill = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7}}\r\n\r\n";
        let done = "data: [DONE]\n\n";
        let body = [words, ": ping\n\n", with_words, bill, done].concat();
        for split in 0..=body.len() {
            let mut unbilled = Unbilled::default();
            let mut heard = Vec::new();
            for portion in [&body.as_bytes()[..split], &body.as_bytes()[split..]] {
                heard.extend_from_slice(&unbilled.pass(portion).expect("short"));
            }
            heard.extend_from_slice(&unbilled.rest().expect("short"));
            let heard = String::from_utf8(heard).expect("text").replace(":\n\n", "");
            assert_eq!(heard, [words, with_words, done].concat(), "split at {split}");
        }
    }
}
