//! Doing what `step` says. Every step is a record; a process that dies between two is followed by one that folds them and asks
//! `step` again. A summary that was paid for and lost is paid for again, as any answer is.

use windlass_domain::execution::{
    Cleared, Compaction, CompactionCleared, CompactionFlushed, CompactionFlushing, CompactionReason, CompactionSkipped,
    Cycle, Extent, Purpose, Question, RunnerCommand,
};
use windlass_domain::tool_name::SAVE_MEMO;
use windlass_domain::{Delta, Message};
use windlass_llm::{Chat, Opening};

use super::diagnose::diagnosis;
use super::reference::clearable;
use super::segment::Segment;
use super::step::Step;
use super::words::{Bounds, FLUSH, question, rewritten, skipped, system};
use crate::ask::{Heard, answer_of};
use crate::session::{Ended, Session, ended};

/// Picks a rehearsal's track.
const SUMMARISER: &str = "summariser";

impl Session<'_> {
    pub(crate) async fn compact(&mut self, step: Step, tokens: u64) -> Result<(), Ended> {
        match step {
            Step::Start(reason) => self.start_compaction(reason, tokens).await,
            Step::Clear(extent) => self.clear(extent).await,
            Step::Flush => self.take(Compaction::Flush(CompactionFlushing { message: FLUSH.trim().to_owned() })),
            Step::AskAgent => self.ask().await,
            Step::EndFlush => self.end_flush(),
            Step::Summarise(segment) => self.summarise(segment).await,
            Step::Skip(segment) => {
                let note = skipped(&self.work.host.state(), &segment);
                self.take(Compaction::Skip(CompactionSkipped { to: segment.to, note }))
            }
            Step::Finish => self.finish(tokens),
            Step::Fail => {
                let reason = diagnosis(&self.work.host.state(), &self.context, &self.room(), tokens);
                self.take(Compaction::Fail { tokens_after: tokens, reason })
            }
        }
    }

    /// Recorded at once, so that whoever watches knows what takes its time.
    pub(crate) async fn start_compaction(&mut self, reason: CompactionReason, tokens_before: u64) -> Result<(), Ended> {
        let start = RunnerCommand::Compact(Compaction::Start { reason, tokens_before });
        self.work.host.record(vec![start]).await.map(drop).map_err(ended)
    }

    /// About how many tokens the conversation would take if the compaction ended now.
    pub(crate) fn tokens(&mut self) -> u64 {
        self.listen();
        let room = self.room();
        // An estimate tells whether to begin; whether there is an end in sight is counted where the estimate alone says that there is none.
        match self.tokens_near(room.trigger) {
            tokens if tokens > room.available => self.tokens_near(room.available),
            tokens => tokens,
        }
    }

    fn tokens_near(&self, near: u64) -> u64 {
        match &self.work.host.state().compactions.open {
            Some(cycle) if !cycle.summaries.is_empty() => self.weigh(cycle, near),
            _ => self.chat.tokens_near(near),
        }
    }

    fn weigh(&self, cycle: &Cycle, near: u64) -> u64 {
        let state = self.work.host.state();
        let rewritten = rewritten(&state, cycle, &self.bounds());
        let mut chat = self.open_chat();
        rewritten.applied_to(&state.transcript).iter().for_each(|message| chat.push(message));
        chat.tokens_near(near)
    }

    fn bounds(&self) -> Bounds {
        let summary_tokens = self.settings().compaction.max_summary_tokens;
        Bounds { summary_tokens, error_tokens: self.room().for_errors() }
    }

    fn take(&self, step: Compaction) -> Result<(), Ended> {
        self.work.host.stage(vec![RunnerCommand::Compact(step)]).map_err(ended)
    }

    async fn clear(&mut self, extent: Extent) -> Result<(), Ended> {
        let preserved = self.settings().compaction.preserve_recent_turns;
        let mut results = Vec::new();
        for found in clearable(&self.work.host.state(), preserved, extent) {
            let saved_to = match found.needs_a_file() {
                true => self.work.tools.save_output(self.work.execution, &found.call_id, found.content.clone()).await,
                false => None,
            };
            // What nobody could read again is not left out while it is only old.
            if found.needs_a_file() && saved_to.is_none() && extent == Extent::Old {
                continue;
            }
            let reference = found.reference(saved_to.as_ref().map(|file| file.shown.as_str()));
            let saved_to = saved_to.map(|file| file.path);
            results.push(Cleared { call_id: found.call_id, reference, saved_to });
        }
        self.take(Compaction::Clear(CompactionCleared { extent, results }))
    }

    pub(crate) fn end_flush(&self) -> Result<(), Ended> {
        let state = self.work.host.state();
        let from = state.compactions.flushing().map_or(0, |flush| flush.from);
        let is_saved = |message: &Message| matches!(message, Message::Tool(result) if result.tool == SAVE_MEMO && !result.is_error);
        let files_written = state.transcript.iter().skip(from).filter(|message| is_saved(message)).count();
        let files_written = u32::try_from(files_written).unwrap_or(u32::MAX);
        self.take(Compaction::EndFlush(CompactionFlushed { files_written }))
    }

    fn finish(&self, tokens_after: u64) -> Result<(), Ended> {
        let state = self.work.host.state();
        let summarised = state.compactions.open.as_ref().filter(|cycle| !cycle.summaries.is_empty());
        let rewritten = summarised.map(|cycle| rewritten(&state, cycle, &self.bounds()));
        self.take(Compaction::Finish { tokens_after, rewritten })
    }

    /// On a conversation of its own, without tools. What comes of it, if anything, is the fold's to count.
    async fn summarise(&mut self, segment: Segment) -> Result<(), Ended> {
        let (asked, answered) = {
            let state = self.work.host.state();
            (question(&state, &segment), state.compactions.answers)
        };
        let mut chat = self.open_summariser();
        chat.push(&Message::user(asked));
        let ask = RunnerCommand::Ask(Question {
            purpose: Purpose::Summary { from: segment.from, to: segment.to },
            context: self.context.named,
            estimated_input: chat.tokens(),
            estimated_cost: chat.cost_to_read().unwrap_or_default(),
        });
        self.work.host.record(vec![ask]).await.map_err(ended)?;
        // Nobody watches a summary being written; that it takes longer is worth knowing.
        let host = self.work.host.clone();
        let mut watch = |delta| {
            if matches!(delta, Delta::Retrying { .. }) {
                host.emit(delta);
            }
        };
        let begun = self.work.runtime.now();
        match self.work.hear(chat.as_mut(), answered, &mut watch).await? {
            Heard::Answer(response) => {
                let answer = answer_of(*response, self.work.runtime.now() - begun);
                self.work.host.stage(vec![RunnerCommand::Answer(answer)]).map_err(ended)
            }
            // Less may do better; and what cannot be had at all is done without.
            Heard::Nothing(error) => self.work.give_up(&error),
        }
    }

    fn open_summariser(&self) -> Box<dyn Chat> {
        let most = self.settings().compaction.max_summary_tokens;
        self.runner.provider.open(Opening {
            model: &self.model_now(),
            temperature: self.settings().temperature,
            max_output_tokens: self.settings().max_output_tokens,
            system: &system(most),
            tools: &[],
            answer_schema: None,
            agent: SUMMARISER,
            role: self.launch.role,
        })
    }
}
