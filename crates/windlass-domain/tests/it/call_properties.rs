//! What holds for the calls of every run: who waits does not begin, what runs is what was last decided, and the labels of
//! the workspace's files are those of whatever may have changed them. Each oracle reads the journal alone.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};

use windlass_domain::approval::CardId;
use windlass_domain::execution::{CallDecision, CallPhase, DecisionOutcome, ExecutionEvent, ExecutionState};
use windlass_domain::{Awaited, CallId, Effect, ExecutionId, Labels, Reach, Taint, spill_path};

use crate::notation::Story;
use crate::runs::{AWKWARD, Clock, Run, runs};

/// Whom the calls of a journal wait for, record by record.
#[derive(Default)]
struct Asked(BTreeMap<CallId, CardId>);

impl Asked {
    fn hear(&mut self, event: &ExecutionEvent) {
        match event {
            ExecutionEvent::DecisionRecorded(CallDecision { call_id, outcome }) => match outcome {
                DecisionOutcome::Waiting { card_id } => {
                    self.0.insert(call_id.clone(), *card_id);
                }
                DecisionOutcome::Approved { .. } => {
                    self.0.remove(call_id);
                }
                DecisionOutcome::Rewritten { .. }
                | DecisionOutcome::Question { .. }
                | DecisionOutcome::Monitoring { .. } => {}
            },
            ExecutionEvent::ToolFinished(finished) => {
                self.0.remove(&finished.call_id);
            }
            _ => {}
        }
    }

    fn cards(&self) -> Vec<CardId> {
        let mut cards: Vec<_> = self.0.values().copied().collect();
        cards.sort();
        cards
    }
}

fn cards(state: &ExecutionState) -> Vec<CardId> {
    let mut cards: Vec<_> = state.cards().collect();
    cards.sort();
    cards
}

/// The labels, worked out from every change there was instead of folded.
#[derive(Default)]
struct Changes {
    execution: Option<ExecutionId>,
    begun: BTreeMap<CallId, (Effect, Reach)>,
    heard: Option<Taint>,
    at_first: Labels,
    /// Where, or anywhere, and by whom.
    made: Vec<(Option<String>, Taint)>,
}

impl Changes {
    fn hear(&mut self, event: &ExecutionEvent) {
        match event {
            ExecutionEvent::Header(header) => {
                self.execution = Some(header.execution_id);
                self.at_first = header.labels.clone();
            }
            ExecutionEvent::MessageAccepted(message) => self.heard = self.heard.max(Some(message.taint)),
            ExecutionEvent::Forked(forked) => self.heard = self.heard.max(Some(forked.from.taint)),
            ExecutionEvent::InjectionReceived(received) => self.heard = self.heard.max(Some(received.taint)),
            ExecutionEvent::ToolStarted(started) => {
                self.begun.insert(started.call_id.clone(), (started.effect.clone(), started.reach.clone()));
            }
            ExecutionEvent::ToolFinished(finished) => {
                self.heard = self.heard.max(Some(finished.taint));
                let is_spilled = finished.full_output.is_some() && self.begun.contains_key(&finished.call_id);
                let execution = self.execution.filter(|_| is_spilled);
                let spilled = execution.map(|execution| Some(spill_path(execution, &finished.call_id)));
                self.made.extend(spilled.map(|place| (place, self.heard.unwrap_or(Taint::Owner))));
                self.finish(&finished.call_id);
            }
            ExecutionEvent::CompactionCleared(cleared) => {
                let saved = cleared.results.iter().map(|result| result.saved_to.clone());
                self.made.extend(saved.map(|place| (place, self.heard.unwrap_or(Taint::Owner))));
            }
            _ => {}
        }
    }

    fn finish(&mut self, call_id: &CallId) {
        let place = match self.begun.get(call_id) {
            Some((Effect::Probe(probe), _)) => Some(probe.path.clone()),
            Some((Effect::Once, Reach::Program | Reach::NetworkProgram | Reach::Outside(_))) => None,
            _ => return,
        };
        self.made.push((place, self.heard.unwrap_or(Taint::Owner)));
    }

    fn under(&self, path: &str) -> Taint {
        let is_in = |one: &str, other: &str| other.is_empty() || one == other || one.starts_with(&format!("{other}/"));
        let concerns = |place: &Option<String>| match place {
            None => true,
            Some(file) => is_in(file, path) || is_in(path, file),
        };
        let by = self.made.iter().filter(|(place, _)| concerns(place)).map(|(_, by)| *by);
        by.fold(self.at_first.under(path), Taint::max)
    }
}

/// Every path that a random run may name, and one that none does.
fn paths(run: &Run) -> Vec<String> {
    let named = run.journal.iter().filter_map(|(event, _)| match event {
        ExecutionEvent::ToolStarted(started) => match &started.effect {
            Effect::Probe(probe) => Some(probe.path.clone()),
            Effect::Read | Effect::Child | Effect::Once => None,
        },
        _ => None,
    });
    named.chain(AWKWARD.iter().map(|path| (*path).to_owned())).chain(["elsewhere".to_owned()]).collect()
}

proptest! {
    #[test]
    fn a_call_that_waits_never_starts(run in runs(Clock::SometimesSetBack)) {
        let mut asked = Asked::default();
        for (event, _) in &run.journal {
            if let ExecutionEvent::ToolStarted(started) = event {
                prop_assert!(!asked.0.contains_key(&started.call_id), "{} began unanswered", started.call_id);
            }
            asked.hear(event);
        }
    }

    #[test]
    fn the_cards_are_those_of_the_calls_that_wait(run in runs(Clock::SometimesSetBack)) {
        let mut asked = Asked::default();
        for ((event, _), after) in run.journal.iter().zip(&run.states[1..]) {
            asked.hear(event);
            prop_assert_eq!(cards(after), asked.cards());
            let waiting = after.open_calls.iter().filter(|open| matches!(open.phase, CallPhase::Waiting(Awaited::Card(_))));
            prop_assert_eq!(waiting.count(), asked.0.len());
        }
    }

    #[test]
    fn a_yes_answers_the_card_that_was_put(run in runs(Clock::SometimesSetBack)) {
        let mut asked = Asked::default();
        for (event, _) in &run.journal {
            if let ExecutionEvent::DecisionRecorded(CallDecision { call_id, outcome }) = event
                && let DecisionOutcome::Approved { card_id } = outcome
            {
                prop_assert_eq!(asked.0.get(call_id), Some(card_id));
            }
            asked.hear(event);
        }
    }

    /// A person sees what will run, and so does whoever recovers: after a gate has spoken nothing else changes a call.
    #[test]
    fn a_call_is_rewritten_once_and_before_anybody_is_asked(run in runs(Clock::SometimesSetBack)) {
        let mut settled: BTreeMap<&CallId, String> = BTreeMap::new();
        for ((event, _), after) in run.journal.iter().zip(&run.states[1..]) {
            if let ExecutionEvent::DecisionRecorded(CallDecision { call_id, outcome }) = event {
                let open = after.open_call(call_id).expect("it was decided about");
                if let DecisionOutcome::Rewritten { arguments, .. } = outcome {
                    prop_assert!(!settled.contains_key(call_id), "{call_id} was changed too late");
                    prop_assert_eq!(open.call.arguments.get(), arguments.get());
                }
                settled.insert(call_id, open.call.arguments.get().to_owned());
            }
            for open in &after.open_calls {
                if let Some(arguments) = settled.get(&open.call.call_id) {
                    prop_assert_eq!(open.call.arguments.get(), arguments);
                }
            }
        }
    }

    #[test]
    fn labels_are_those_of_whatever_may_have_changed_a_file_and_never_fall(run in runs(Clock::Steady)) {
        let mut changes = Changes::default();
        let paths = paths(&run);
        for ((event, _), pair) in run.journal.iter().zip(run.states.windows(2)) {
            changes.hear(event);
            for path in &paths {
                let (before, after) = (pair[0].labels.under(path), pair[1].labels.under(path));
                prop_assert_eq!(after, changes.under(path), "{:?} after {}", path, event.kind());
                prop_assert!(after >= before, "{path:?} fell after {}", event.kind());
            }
        }
    }
}

/// The properties above are worth something only if calls come to every phase, and files to a label.
#[test]
fn random_runs_bring_calls_to_every_phase_and_files_to_labels() {
    let mut runner = TestRunner::new_with_rng(Config::default(), TestRunner::deterministic().rng().clone());
    let strategy = runs(Clock::SometimesSetBack);
    let mut reached: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..300 {
        let run = strategy.new_tree(&mut runner).expect("a run").current();
        for state in &run.states {
            for open in &state.open_calls {
                *reached.entry(phase(&open.phase)).or_default() += 1;
            }
            let everywhere = state.labels.under("elsewhere") > Taint::Auth;
            let somewhere = !everywhere && state.labels.whole() > Taint::Auth;
            *reached.entry("labelled everywhere").or_default() += usize::from(everywhere);
            *reached.entry("labelled somewhere").or_default() += usize::from(somewhere);
        }
    }
    assert!(reached.len() == 7 && reached.values().all(|times| *times > 20), "{reached:?}");
}

const fn phase(phase: &CallPhase) -> &'static str {
    match phase {
        CallPhase::Asked => "asked",
        CallPhase::Rewritten => "rewritten",
        CallPhase::Waiting(_) => "waiting",
        CallPhase::Approved(_) => "approved",
        CallPhase::Started { .. } => "started",
    }
}

/// What a person is asked for is an approval, and not any input.
#[test]
fn attention_says_whether_an_approval_is_waited_for() {
    use windlass_domain::execution::Attention::{NeedsApproval, NeedsInput, None};
    let check = |words: &str, expected| assert_eq!(Story::told(words).state.attention(), expected, "{words}");
    check("create launching running ask call:a wait:a=1", None);
    check("create launching running ask call:a wait:a=1 awaiting_input", NeedsApproval);
    check("create launching running ask call:a wait:a=1 awaiting_input approve:a=1", NeedsInput);
    check("create launching running ask call:a awaiting_input", NeedsInput);
}
