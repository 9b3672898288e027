//! The body of an answer, portion by portion, into pieces: events where the server streams, one document where it does
//! not. Pure, so that every way of cutting a body into portions can be tried.

use crate::answer::Piece;
use crate::dialect::Dialect;
use crate::wire::anthropic::AnthropicDecoder;
use crate::wire::openai::OpenAiDecoder;
use crate::wire::responses::ResponsesDecoder;
use crate::wire::sse::Parser;
use crate::wire::{Decoder, Trouble};

/// All the bytes of one answer; a stream says a word in two hundred of them.
const LONGEST_BODY: usize = 64 << 20;

#[derive(Debug, Default)]
pub struct Reader<D> {
    decoder: D,
    mode: Mode,
    size: usize,
}

#[derive(Debug, Default)]
enum Mode {
    /// Nothing but white space so far.
    #[default]
    Unknown,
    Events(Parser),
    Whole(Vec<u8>),
}

impl<D: Decoder> Reader<D> {
    pub fn take(&mut self, portion: &[u8], pieces: &mut Vec<Piece>) -> Result<(), Trouble> {
        self.size += portion.len();
        if self.size > LONGEST_BODY {
            return Err(Trouble::TooLong { limit: LONGEST_BODY });
        }
        if let Mode::Unknown = self.mode {
            self.mode = recognise(portion)?;
        }
        match &mut self.mode {
            Mode::Unknown => Ok(()),
            Mode::Events(parser) => parser.feed(portion, &mut |event| self.decoder.event(event, pieces)),
            Mode::Whole(body) => {
                body.extend_from_slice(portion);
                Ok(())
            }
        }
    }

    /// The body has ended.
    pub fn end(&mut self, pieces: &mut Vec<Piece>) -> Result<(), Trouble> {
        match std::mem::take(&mut self.mode) {
            Mode::Unknown => Err(Trouble::Garbled("there is nothing in it".into())),
            Mode::Whole(body) => self.decoder.whole(&body, pieces),
            // A last event that was cut off is no news: without its end the answer is cut, and with it, complete.
            Mode::Events(mut parser) => parser.finish(&mut |event| {
                let _ = self.decoder.event(event, pieces);
                Ok(())
            }),
        }
    }
}

/// Whatever the language, which only who passes an answer on has to ask.
pub fn reader_of(dialect: Dialect) -> Box<dyn Hear> {
    match dialect {
        Dialect::Chat => Box::new(Reader::<OpenAiDecoder>::default()),
        Dialect::Responses => Box::new(Reader::<ResponsesDecoder>::default()),
        Dialect::Messages => Box::new(Reader::<AnthropicDecoder>::default()),
    }
}

/// Reads in some language.
pub trait Hear: Send {
    fn take(&mut self, portion: &[u8], pieces: &mut Vec<Piece>) -> Result<(), Trouble>;
    fn end(&mut self, pieces: &mut Vec<Piece>) -> Result<(), Trouble>;
}

impl<D: Decoder> Hear for Reader<D> {
    fn take(&mut self, portion: &[u8], pieces: &mut Vec<Piece>) -> Result<(), Trouble> {
        Self::take(self, portion, pieces)
    }

    fn end(&mut self, pieces: &mut Vec<Piece>) -> Result<(), Trouble> {
        Self::end(self, pieces)
    }
}

/// By its first character, because content types are not to be relied on.
fn recognise(portion: &[u8]) -> Result<Mode, Trouble> {
    match portion.iter().find(|byte| !byte.is_ascii_whitespace()) {
        None => Ok(Mode::Unknown),
        Some(b'{' | b'[') => Ok(Mode::Whole(Vec::new())),
        // A comment, a byte-order mark, or one of the fields: data, event, id, retry.
        Some(b':' | 0xEF | b'd' | b'e' | b'i' | b'r') => Ok(Mode::Events(Parser::default())),
        Some(b'<') => Err(Trouble::NotAnAnswer("it sends a web page")),
        Some(_) => Err(Trouble::NotAnAnswer("it sends neither events nor JSON")),
    }
}

#[cfg(test)]
mod tests {
    use windlass_domain::{Delta, StopReason, Usage};

    use super::*;
    use crate::answer::{Answer, Assembler};
    use crate::wire::Wire;
    use crate::wire::anthropic::AnthropicWire;
    use crate::wire::openai::OpenAiWire;
    use crate::wire::responses::ResponsesWire;

    /// What a watcher and the caller get from a body that arrives in these portions; an error as its text.
    fn hear<W: Wire>(portions: &[&[u8]]) -> (String, Result<Answer, String>) {
        let mut reader = Reader::<W::Decoder>::default();
        let mut pieces = Vec::new();
        let read = portions
            .iter()
            .try_for_each(|portion| reader.take(portion, &mut pieces))
            .and_then(|()| if pieces.contains(&Piece::Done) { Ok(()) } else { reader.end(&mut pieces) });
        let mut seen = String::new();
        let mut assembler = Assembler::default();
        let mut watch = |delta| match delta {
            Delta::Text(text) => seen.push_str(&text),
            Delta::Reasoning(text) => seen.push_str(&format!("<{text}>")),
            other => panic!("{other:?}"),
        };
        for piece in pieces {
            assembler.take(piece, &mut watch).expect("short");
        }
        let answer = match read {
            Err(trouble) => Err(format!("{trouble:?}")),
            Ok(()) => assembler.finish(4, &std::collections::BTreeSet::new()).map_err(|failure| format!("{failure:?}")),
        };
        (seen, answer)
    }

    /// The same in one portion, in two cut anywhere, and byte by byte with lines that end in any way.
    fn hear_in_every_portion<W: Wire>(body: &str) -> (String, Result<Answer, String>) {
        let whole = hear::<W>(&[body.as_bytes()]);
        for split in 0..=body.len() {
            let (before, after) = body.as_bytes().split_at(split);
            assert_eq!(hear::<W>(&[before, after]), whole, "split at {split}");
        }
        for line_end in ["\n", "\r\n", "\r"] {
            let body = body.replace('\n', line_end);
            assert_eq!(hear::<W>(&body.as_bytes().chunks(1).collect::<Vec<_>>()), whole, "{line_end:?}");
        }
        whole
    }

    fn heard<W: Wire>(body: &str) -> (String, Answer) {
        let (seen, answer) = hear_in_every_portion::<W>(body);
        (seen, answer.unwrap_or_else(|error| panic!("{error}")))
    }

    fn calls(answer: &Answer) -> Vec<(&str, &str, &str)> {
        answer.calls.iter().map(|call| (call.call_id.0.as_str(), call.tool.as_str(), call.arguments.get())).collect()
    }

    /// What is to be sent back: after how many parts, and what.
    fn thoughts(answer: &Answer) -> Vec<(usize, &str)> {
        answer.reasoning.iter().map(|thought| (thought.after, thought.content.get())).collect()
    }

    fn usage(input: u64, output: u64, cached_input: u64, cache_write: u64) -> Usage {
        Usage { input, output, cached_input, cache_write }
    }

    macro_rules! fixture {
        ($name:literal) => {
            include_str!(concat!("../../tests/fixtures/", $name))
        };
    }

    #[test]
    fn openai_text() {
        let (seen, answer) = heard::<OpenAiWire>(fixture!("openai/text.sse"));
        assert_eq!((seen.as_str(), answer.text.as_str()), ("Hello, wörld 🌍!", "Hello, wörld 🌍!"));
        assert_eq!((answer.stop, answer.usage), (StopReason::EndTurn, Some(usage(1117, 46, 1024, 0))));
        assert_eq!(answer.request_id.as_deref(), Some("chatcmpl-Cx1"));
    }

    #[test]
    fn openai_parallel_calls_in_interleaved_pieces() {
        let (_, answer) = heard::<OpenAiWire>(fixture!("openai/parallel_calls.sse"));
        let expected = [
            ("call_a", "read", r#"{"path":"a \"quoted\" name.txt"}"#),
            ("call_b", "grep", r#"{"pattern": "fn main"}"#),
            ("call_c", "update_plan", "{}"),
        ];
        assert_eq!(calls(&answer), expected);
        assert_eq!(answer.stop, StopReason::ToolCalls);
    }

    #[test]
    fn openai_imitators() {
        let (seen, answer) = heard::<OpenAiWire>(fixture!("openai/imitator.sse"));
        assert_eq!(seen, "<Let me ><think.>Looking.");
        assert_eq!(answer.reasoning[0].content.get(), r#"{"reasoning_content":"Let me think."}"#);
        let expected = [
            ("w00004000", "bash", r#"{"command":"ls"}"#),
            ("same", "read", r#"{"path":"x"}"#),
            ("w00004002", "read", "\"{\\\"path\\\": \""),
        ];
        assert_eq!(calls(&answer), expected);
        assert_eq!((answer.stop, answer.usage), (StopReason::ToolCalls, Some(usage(20, 9, 8, 4))));
    }

    #[test]
    fn openai_without_streaming() {
        let (seen, answer) = heard::<OpenAiWire>(fixture!("openai/whole.json"));
        assert_eq!(seen, "One moment.");
        assert_eq!(
            calls(&answer),
            [("call_1", "bash", r#"{"command":"true"}"#), ("call_2", "read", r#"{"path":"b"}"#)]
        );
        assert_eq!((answer.stop, answer.usage), (StopReason::ToolCalls, Some(usage(82, 17, 0, 0))));
    }

    #[test]
    fn openai_that_breaks_off() {
        let body = fixture!("openai/text.sse");
        let cut = body.split("data: {\"id\":\"chatcmpl-Cx1\",\"choices\":[]").next().expect("the beginning");
        assert_ne!(cut.len(), body.len());
        let (seen, answer) = hear_in_every_portion::<OpenAiWire>(cut);
        assert_eq!(seen, "Hello, wörld 🌍!");
        assert!(answer.expect_err("it is cut").contains("cut in the middle"));
    }

    #[test]
    fn openai_error_in_the_stream() {
        let (seen, answer) = hear_in_every_portion::<OpenAiWire>(fixture!("openai/error.sse"));
        assert_eq!(seen, "Wor");
        assert!(answer.expect_err("an error").contains("upstream connection lost"));
    }

    #[test]
    fn anthropic_text_and_calls() {
        let (seen, answer) = heard::<AnthropicWire>(fixture!("anthropic/calls.sse"));
        assert_eq!(seen, "<Two files.>I'll read both – née ✓.");
        let expected = [("toolu_01", "read", r#"{"path": "a.txt"}"#), ("toolu_02", "update_plan", "{}")];
        assert_eq!(calls(&answer), expected);
        assert_eq!(thoughts(&answer), [(0, r#"{"type":"thinking","thinking":"Two files.","signature":"EqQB"}"#)]);
        assert_eq!((answer.stop, answer.usage), (StopReason::ToolCalls, Some(usage(472 + 2048 + 300, 89, 2048, 300))));
        assert_eq!(answer.request_id.as_deref(), Some("msg_01"));
    }

    #[test]
    fn anthropic_without_streaming() {
        let (seen, answer) = heard::<AnthropicWire>(fixture!("anthropic/whole.json"));
        assert_eq!(seen, "Done");
        assert_eq!(calls(&answer), [("toolu_9", "bash", r#"{"command": "ls"}"#)]);
        assert_eq!((answer.stop, answer.usage), (StopReason::ToolCalls, Some(usage(31, 12, 0, 0))));
    }

    #[test]
    fn anthropic_thoughts_are_kept_where_they_stood() {
        let (seen, answer) = heard::<AnthropicWire>(fixture!("anthropic/thoughts.sse"));
        assert_eq!(seen, "<First.>I'll read it.<Then.>");
        let expected = [
            (0, r#"{"type":"thinking","thinking":"First.","signature":"sig+1="}"#),
            (0, r#"{"type":"redacted_thinking","data":"EmwKAhgBEgy3va"}"#),
            (1, r#"{"type":"thinking","thinking":"Then.","signature":"sig+2="}"#),
            (2, r#"{"type":"thinking","thinking":"","signature":"sig+3="}"#),
        ];
        assert_eq!(thoughts(&answer), expected);
        assert_eq!(calls(&answer).len(), 2);
        // What was thought is a part of the output, and counted once.
        assert_eq!(answer.usage, Some(usage(50, 400, 0, 0)));
        let unsigned = fixture!("anthropic/thoughts.sse")
            .replace("signature_delta", "citations_delta")
            .replace("\"signature\":\"sig", "\"citation\":\"sig");
        assert_eq!(heard::<AnthropicWire>(&unsigned).1.reasoning.len(), 1, "what nobody signed is not taken back");
    }

    #[test]
    fn anthropic_that_breaks_off() {
        let body = fixture!("anthropic/calls.sse");
        let cut = body.split("event: message_stop").next().expect("the beginning");
        let cut_early = body.split("event: message_delta").next().expect("the beginning");
        assert!(hear_in_every_portion::<AnthropicWire>(cut_early).1.is_err());
        // The reason and the bill have come: there is nothing left to lose.
        assert!(hear_in_every_portion::<AnthropicWire>(cut).1.is_ok());
    }

    #[test]
    fn anthropic_error_in_the_stream() {
        let (seen, answer) = hear_in_every_portion::<AnthropicWire>(fixture!("anthropic/overloaded.sse"));
        assert_eq!(seen, "Half an ");
        assert!(answer.expect_err("an error").contains("overloaded_error"));
    }

    #[test]
    fn responses_thoughts_text_and_calls() {
        let (seen, answer) = heard::<ResponsesWire>(fixture!("responses/calls.sse"));
        assert_eq!(seen, "<Two files.>I'll read both – née 🌍.");
        let expected =
            [("call_a", "read", r#"{"path":"a \"quoted\".txt"}"#), ("call_b", "grep", r#"{"pattern":"fn main"}"#)];
        assert_eq!(calls(&answer), expected);
        let item = r#"{"id":"rs_01","type":"reasoning","encrypted_content":"gAAAA-whole==","summary":[{"type":"summary_text","text":"Two files."}]}"#;
        assert_eq!(thoughts(&answer), [(0, item)]);
        assert_eq!((answer.stop, answer.usage), (StopReason::ToolCalls, Some(usage(1117, 346, 1024, 0))));
        assert_eq!(answer.request_id.as_deref(), Some("resp_01"));
    }

    #[test]
    fn responses_imitators() {
        let (seen, answer) = heard::<ResponsesWire>(fixture!("responses/imitator.sse"));
        assert_eq!(seen, "<Hm.>Looking.");
        assert_eq!(calls(&answer), [("call_5", "bash", r#"{"command":"ls"}"#)]);
        assert!(thoughts(&answer).is_empty(), "there is nothing that the server could read again");
        assert_eq!((answer.stop, answer.usage), (StopReason::ToolCalls, Some(usage(20, 9, 0, 0))));
    }

    #[test]
    fn responses_without_streaming() {
        let (seen, answer) = heard::<ResponsesWire>(fixture!("responses/whole.json"));
        assert_eq!(seen, "One moment.");
        assert_eq!(calls(&answer), [("call_1", "bash", r#"{"command":"true"}"#)]);
        assert_eq!((answer.stop, answer.usage), (StopReason::ToolCalls, Some(usage(82, 17, 0, 0))));
    }

    #[test]
    fn responses_that_end_too_early() {
        let (_, answer) = heard::<ResponsesWire>(fixture!("responses/incomplete.sse"));
        assert_eq!((answer.text.as_str(), answer.stop), ("Half a wo", StopReason::MaxTokens));
        let filtered = fixture!("responses/incomplete.sse").replace("max_output_tokens", "content_filter");
        assert_eq!(heard::<ResponsesWire>(&filtered).1.stop, StopReason::Refusal);
        let body = fixture!("responses/calls.sse");
        let cut = body.split("event: response.completed").next().expect("the beginning");
        assert!(hear_in_every_portion::<ResponsesWire>(cut).1.expect_err("it is cut").contains("cut in the middle"));
    }

    #[test]
    fn responses_errors_in_the_stream() {
        let (seen, answer) = hear_in_every_portion::<ResponsesWire>(fixture!("responses/failed.sse"));
        assert_eq!(seen, "Wor");
        assert!(answer.expect_err("an error").contains("context_length_exceeded"));
        let (_, answer) = hear_in_every_portion::<ResponsesWire>(fixture!("responses/error.sse"));
        assert!(answer.expect_err("an error").contains("server_error"));
    }

    #[test]
    fn responses_that_say_only_at_the_end_what_they_have_to_say() {
        let whole = fixture!("responses/whole.json").replace('\n', "");
        let body = format!("data: {{\"type\":\"response.completed\",\"response\":{whole}}}\n\n");
        let (seen, answer) = heard::<ResponsesWire>(&body);
        assert_eq!((seen.as_str(), calls(&answer).len()), ("One moment.", 1));
    }

    #[test]
    fn what_is_no_answer() {
        let check = |body: &str, expect: &str| {
            let portions = [body.as_bytes()];
            let hearers = [hear::<OpenAiWire>, hear::<AnthropicWire>, hear::<ResponsesWire>];
            for (_, answer) in hearers.map(|hear| hear(&portions)) {
                let error = answer.expect_err(body);
                assert!(error.contains(expect), "{body}: {error}");
            }
        };
        check("<html>", "web page");
        check("\n  OK", "neither events nor JSON");
        check("", "nothing in it");
        check("{\"status\":\"fine\"}", "without an answer");
        check("{\"error\":{\"message\":\"boom\"}}", "boom");
        check("{\"cho", "Garbled");
        check("data: {\"cho\n\n", "Garbled");
        check(": only comments\n\n", "cut in the middle");
    }
}
