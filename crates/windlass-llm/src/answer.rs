//! An answer in the making. Every wire, and the rehearsal, cuts what it hears into `Piece`s; `Assembler` puts them together
//! in one way, whatever the provider: call ids made unique, arguments made valid, stop reasons made consistent.

use std::collections::BTreeSet;

use windlass_domain::{Delta, Reasoning, StopReason, ToolCall, Usage};

use crate::chat::Metering;
use crate::error::{Failure, Unusable};
use crate::text::presentable;
use crate::tokens;

/// Text, reasoning and arguments of one answer together.
const LONGEST_ANSWER: usize = 8 << 20;
/// Gateways hide state in ids, so they may be long, but not for ever: every later request repeats them.
const LONGEST_ID: usize = 4096;
const MOST_CALLS: usize = 512;

#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    RequestId(String),
    Text(String),
    /// Thoughts to watch.
    Reasoning(String),
    /// Thoughts to keep, because the provider wants them back. Where they stand is not said yet.
    Thought(Reasoning),
    Call(CallPiece),
    /// Running totals: what is not zero replaces a smaller figure from before.
    Usage(Usage),
    Stop(StopReason),
    /// The provider has said that this was all.
    Done,
}

/// A part of a call. Parts belong together by `slot`; what a part does not say is empty.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CallPiece {
    pub slot: u64,
    pub id: String,
    pub tool: String,
    pub arguments: String,
}

#[derive(Debug, Default)]
pub struct Assembler {
    text: String,
    calls: Vec<CallPiece>,
    reasoning: Vec<Reasoning>,
    /// About how many tokens the thoughts are that were only to be watched.
    watched: u64,
    size: usize,
    usage: Option<Usage>,
    stop: Option<StopReason>,
    request_id: Option<String>,
    done: bool,
}

#[derive(Debug, PartialEq)]
pub struct Answer {
    pub text: String,
    pub calls: Vec<ToolCall>,
    pub reasoning: Vec<Reasoning>,
    pub stop: StopReason,
    pub usage: Option<Usage>,
    pub request_id: Option<String>,
}

impl Assembler {
    /// Takes a piece in and tells the watcher what there is to see of it.
    pub fn take(&mut self, piece: Piece, watch: &mut (dyn FnMut(Delta) + Send)) -> Result<(), Failure> {
        match piece {
            Piece::RequestId(id) if self.request_id.is_none() && !id.is_empty() => {
                self.request_id = Some(presentable(&id, None));
            }
            Piece::RequestId(_) => {}
            Piece::Text(text) => {
                self.grow(text.len())?;
                self.text.push_str(&text);
                watch(Delta::Text(text));
            }
            Piece::Reasoning(text) => {
                self.grow(text.len())?;
                self.watched += tokens::estimate(&text);
                watch(Delta::Reasoning(text));
            }
            Piece::Thought(thought) => {
                self.grow(thought.content.get().len())?;
                let after = usize::from(!self.text.is_empty()) + self.calls.len();
                self.reasoning.push(Reasoning { after, ..thought });
            }
            Piece::Call(part) => self.take_call(part)?,
            Piece::Usage(usage) => self.usage = Some(larger(self.usage.unwrap_or_default(), usage)),
            Piece::Stop(stop) => self.stop = Some(stop),
            Piece::Done => self.done = true,
        }
        Ok(())
    }

    fn take_call(&mut self, part: CallPiece) -> Result<(), Failure> {
        self.grow(part.id.len() + part.tool.len() + part.arguments.len())?;
        let too_many = self.calls.len() == MOST_CALLS;
        match self.calls.iter_mut().rev().find(|call| call.slot == part.slot) {
            Some(call) if !begins_another(call, &part) => {
                call.arguments.push_str(&part.arguments);
                if call.id.is_empty() {
                    call.id = part.id;
                }
                if call.tool.is_empty() {
                    call.tool = part.tool;
                }
            }
            _ if too_many => return Err(Unusable::TooManyCalls { limit: MOST_CALLS }.into()),
            _ => self.calls.push(part),
        }
        Ok(())
    }

    fn grow(&mut self, by: usize) -> Result<(), Failure> {
        self.size += by;
        if self.size > LONGEST_ANSWER {
            return Err(Unusable::TooLong { limit: LONGEST_ANSWER }.into());
        }
        Ok(())
    }

    pub const fn is_done(&self) -> bool {
        self.done
    }

    /// What this try has used by now, if anything: metered, or else guessed from what was heard.
    pub fn spent(&self, prompt_estimate: u64) -> Usage {
        let heard = self.size > 0 || self.usage.is_some() || self.stop.is_some();
        let metered = self.usage.unwrap_or_default();
        let guessed = Usage { input: prompt_estimate, output: self.estimated_output(), ..Usage::default() };
        match (heard, metered.input > 0) {
            (false, _) => Usage::default(),
            (true, true) => Usage { output: metered.output.max(guessed.output), ..metered },
            (true, false) => guessed,
        }
    }

    pub fn estimated_output(&self) -> u64 {
        let calls = self.calls.iter().map(|call| tokens::estimate(&call.tool) + tokens::estimate(&call.arguments));
        let kept = self.reasoning.iter().map(|thought| tokens::estimate(thought.content.get())).sum::<u64>();
        // What is watched is often what is kept, in other words.
        tokens::estimate(&self.text) + calls.sum::<u64>() + self.watched.max(kept)
    }

    /// The answer, when it is whole. A stream that just ends may have lost anything; but where the reason for stopping and
    /// the bill have both come, there is nothing left to lose, and servers exist that say no more than that.
    pub fn finish(self, answered: u32, used: &BTreeSet<String>) -> Result<Answer, Failure> {
        let complete = self.done || (self.stop.is_some() && self.usage.is_some());
        if !complete {
            return Err(Failure::transient("the connection was cut in the middle of the answer"));
        }
        let calls = with_ids(self.calls, answered, used);
        // Local servers say `stop` whatever they did, and some say `tool_calls` when they did nothing.
        let stop = match (self.stop, calls.is_empty()) {
            (Some(StopReason::EndTurn) | None, false) => StopReason::ToolCalls,
            (Some(StopReason::ToolCalls) | None, true) => StopReason::EndTurn,
            (Some(stop), _) => stop,
        };
        let Self { text, reasoning, usage, request_id, .. } = self;
        Ok(Answer { text, calls, reasoning, stop, usage, request_id })
    }
}

/// No prompt and no answer is free of tokens: a zero is a figure that the server has left out.
pub fn bill(told: Usage, prompt: u64, estimated_output: u64) -> (Usage, Metering) {
    if told.input > 0 && (told.output > 0 || estimated_output == 0) {
        return (told, Metering::Provider);
    }
    let input = if told.input > 0 { told.input } else { prompt };
    let output = if told.output > 0 { told.output } else { estimated_output };
    (Usage { input, output, ..told }, Metering::Estimated)
}

/// Some servers give every call the same index, each under a new id and with a name.
fn begins_another(call: &CallPiece, part: &CallPiece) -> bool {
    !part.id.is_empty() && !part.tool.is_empty() && !call.id.is_empty() && part.id != call.id
}

fn larger(before: Usage, now: Usage) -> Usage {
    Usage {
        input: before.input.max(now.input),
        output: before.output.max(now.output),
        cached_input: before.cached_input.max(now.cached_input),
        cache_write: before.cache_write.max(now.cache_write),
    }
}

/// The provider's own ids where they serve, because gateways recognise them; ours where one is missing, used already or
/// unusable.
fn with_ids(parts: Vec<CallPiece>, answered: u32, used: &BTreeSet<String>) -> Vec<ToolCall> {
    let mut taken = BTreeSet::new();
    let call = |(index, part): (usize, CallPiece)| {
        let is_taken = |id: &str| used.contains(id) || taken.contains(id);
        let usable = !part.id.is_empty() && part.id.len() <= LONGEST_ID && !part.id.contains(char::is_control);
        let id = if usable && !is_taken(&part.id) { part.id } else { free_id(answered, index, is_taken) };
        taken.insert(id.clone());
        let arguments = if part.arguments.trim().is_empty() { "{}" } else { &part.arguments };
        ToolCall::new(id, part.tool, arguments)
    };
    parts.into_iter().enumerate().map(call).collect()
}

fn free_id(answered: u32, index: usize, is_taken: impl Fn(&str) -> bool) -> String {
    let plain = call_id(answered, index);
    let lettered = ('a'..='z').map(|letter| format!("{plain}{letter}"));
    std::iter::once(plain.clone())
        .chain(lettered)
        .find(|id| !is_taken(id))
        .unwrap_or_else(|| format!("{plain}-{}", u64::MAX))
}

/// Nine letters and digits, which even the strictest provider takes.
pub fn call_id(answered: u32, index: usize) -> String {
    format!("w{answered:05}{index:03}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(slot: u64, id: &str, tool: &str, arguments: &str) -> Piece {
        Piece::Call(CallPiece { slot, id: id.into(), tool: tool.into(), arguments: arguments.into() })
    }

    fn assemble(pieces: Vec<Piece>, used: &[&str]) -> Result<Answer, Failure> {
        let mut assembler = Assembler::default();
        for piece in pieces {
            assembler.take(piece, &mut |_| {})?;
        }
        assembler.finish(3, &used.iter().map(|id| (*id).to_owned()).collect())
    }

    fn calls(pieces: Vec<Piece>, used: &[&str]) -> Vec<(String, String, String)> {
        let pieces = pieces.into_iter().chain([Piece::Done]).collect();
        let answer = assemble(pieces, used).expect("it is whole");
        let call = |call: ToolCall| (call.call_id.0, call.tool, call.arguments.get().to_owned());
        answer.calls.into_iter().map(call).collect()
    }

    fn call(id: &str, tool: &str, arguments: &str) -> (String, String, String) {
        (id.into(), tool.into(), arguments.into())
    }

    #[test]
    fn interleaved_parts_find_their_call() {
        let pieces = vec![
            part(0, "a", "read", ""),
            part(1, "b", "grep", "{\"p\""),
            part(0, "", "", "{\"f\":"),
            part(1, "", "", ":1}"),
            part(0, "a", "read", "2}"),
        ];
        assert_eq!(calls(pieces, &[]), [call("a", "read", "{\"f\":2}"), call("b", "grep", "{\"p\":1}")]);
    }

    #[test]
    fn one_index_for_all_calls_still_makes_several() {
        let pieces = vec![part(0, "a", "read", "{}"), part(0, "b", "read", "{\"x\":1}")];
        assert_eq!(calls(pieces, &[]), [call("a", "read", "{}"), call("b", "read", "{\"x\":1}")]);
    }

    #[test]
    fn ids_are_kept_when_unique_and_made_when_not() {
        let pieces =
            vec![part(0, "old", "t", ""), part(1, "", "t", ""), part(2, "new", "t", ""), part(3, "new", "t", "")];
        let ids = calls(pieces, &["old", "w00003001"]).into_iter().map(|call| call.0).collect::<Vec<_>>();
        assert_eq!(ids, ["w00003000", "w00003001a", "new", "w00003003"]);
    }

    #[test]
    fn no_arguments_are_an_empty_object_and_broken_ones_a_string() {
        let pieces = vec![part(0, "a", "t", "  \n"), part(1, "b", "t", "{\"x\": tru "), part(2, "c", "t", " {} \n")];
        let expected = [call("a", "t", "{}"), call("b", "t", "\"{\\\"x\\\": tru \""), call("c", "t", "{}")];
        assert_eq!(calls(pieces, &[]), expected);
    }

    #[test]
    fn a_stream_that_just_ends_is_cut_unless_nothing_can_be_missing() {
        let text = || Piece::Text("hi".into());
        let usage = || Piece::Usage(Usage { input: 1, output: 1, ..Usage::default() });
        let stop = || Piece::Stop(StopReason::EndTurn);
        assert!(assemble(vec![text()], &[]).is_err());
        assert!(assemble(vec![text(), stop()], &[]).is_err());
        assert!(assemble(vec![text(), usage()], &[]).is_err());
        assert!(assemble(vec![text(), stop(), usage()], &[]).is_ok());
        assert!(assemble(vec![text(), Piece::Done], &[]).is_ok());
    }

    #[test]
    fn the_stop_reason_agrees_with_the_calls() {
        let stop = |pieces: Vec<Piece>| {
            assemble(pieces.into_iter().chain([Piece::Done]).collect(), &[]).expect("it is whole").stop
        };
        let says = |reason| Piece::Stop(reason);
        assert_eq!(stop(vec![part(0, "a", "t", ""), says(StopReason::EndTurn)]), StopReason::ToolCalls);
        assert_eq!(stop(vec![part(0, "a", "t", ""), says(StopReason::MaxTokens)]), StopReason::MaxTokens);
        assert_eq!(stop(vec![part(0, "a", "t", "")]), StopReason::ToolCalls);
        assert_eq!(stop(vec![says(StopReason::ToolCalls)]), StopReason::EndTurn);
        assert_eq!(stop(vec![]), StopReason::EndTurn);
        assert_eq!(stop(vec![says(StopReason::Refusal)]), StopReason::Refusal);
    }

    #[test]
    fn an_endless_answer_is_refused() {
        let mut assembler = Assembler::default();
        let chunk = "x".repeat(1 << 20);
        let result = (0..9).try_for_each(|_| assembler.take(Piece::Text(chunk.clone()), &mut |_| {}));
        assert!(matches!(result, Err(Failure::Unusable(Unusable::TooLong { .. }))));
    }

    #[test]
    fn a_try_that_failed_halfway_has_still_cost_something() {
        let mut assembler = Assembler::default();
        assert_eq!(assembler.spent(100), Usage::default());
        assembler.take(Piece::Text("some words".into()), &mut |_| {}).expect("short");
        assert_eq!(assembler.spent(100), Usage { input: 100, output: 3, ..Usage::default() });
        let metered = Usage { input: 70, cached_input: 50, ..Usage::default() };
        assembler.take(Piece::Usage(metered), &mut |_| {}).expect("short");
        assert_eq!(assembler.spent(100), Usage { output: 3, ..metered });
    }
}
