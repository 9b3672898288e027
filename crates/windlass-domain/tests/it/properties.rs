//! What holds for every run, however commands and clock fall. Each property is told by an oracle that reads the journal
//! alone, so that the fold cannot vouch for itself.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};

use windlass_domain::execution::{ExecutionEvent, ExecutionState, InjectionType, Lifecycle, Purpose, decide};
use windlass_domain::{CallId, Effect, Message, Spent, Taint, Wall};

use crate::runs::{Clock, Run, carried, runs};

fn shown(state: &ExecutionState) -> String {
    format!("{state:#?}")
}

/// As a restart would read it: from what was written, and nothing else.
fn read_back(journal: &[(ExecutionEvent, Wall)]) -> Vec<(ExecutionEvent, Wall)> {
    let stored = journal.iter().map(|(event, at)| (event.encode(), *at));
    stored
        .map(|(stored, at)| {
            let event = ExecutionEvent::decode(stored.kind, stored.version, stored.data.get()).expect("readable");
            (event, at)
        })
        .collect()
}

fn fold(journal: &[(ExecutionEvent, Wall)]) -> ExecutionState {
    let mut state = ExecutionState::default();
    for (event, at) in journal {
        state.apply(event, *at);
    }
    state
}

proptest! {
    #[test]
    fn replaying_what_was_written_gives_the_live_state_at_every_record(run in runs(Clock::SometimesSetBack)) {
        let mut replayed = ExecutionState::default();
        prop_assert_eq!(shown(&replayed), shown(&run.states[0]));
        for ((event, at), live) in read_back(&run.journal).iter().zip(&run.states[1..]) {
            replayed.apply(event, *at);
            prop_assert_eq!(shown(&replayed), shown(live));
        }
    }

    /// A crash after any record: what is folded from the prefix decides the rest of the run as the live state did.
    #[test]
    fn any_prefix_recovers_and_goes_on_as_if_nothing_had_happened(
        run in runs(Clock::SometimesSetBack),
        cut in any::<Index>(),
    ) {
        let cut = cut.index(run.states.len());
        let mut live = ExecutionState::default();
        let mut recorded = 0;
        let mut recovered = None;
        for (step, now) in &run.steps {
            if recorded == cut && recovered.is_none() {
                recovered = Some(fold(&read_back(&run.journal[..cut])));
            }
            let expected = decide(&live, step.command(&live, &run.limits), *now);
            if let Some(recovered) = &mut recovered {
                let found = decide(recovered, step.command(recovered, &run.limits), *now);
                prop_assert_eq!(format!("{found:?}"), format!("{expected:?}"));
                if let Ok(event) = &found {
                    recovered.apply(event, *now);
                }
            }
            if let Ok(event) = &expected {
                live.apply(event, *now);
                recorded += 1;
            }
        }
        prop_assert_eq!(shown(&live), shown(run.states.last().expect("the first")));
        if let Some(recovered) = recovered {
            prop_assert_eq!(shown(&recovered), shown(&live));
        }
    }

    #[test]
    fn every_call_has_exactly_one_result_before_the_next_request(run in runs(Clock::Steady)) {
        let mut asked: BTreeSet<CallId> = BTreeSet::new();
        let mut open: BTreeSet<CallId> = BTreeSet::new();
        let mut awaited = false;
        for (event, _) in &run.journal {
            match event {
                ExecutionEvent::ModelRequested(_) => {
                    prop_assert!(open.is_empty(), "asked while {:?} have no result", open);
                    prop_assert!(!awaited, "asked while an answer was awaited");
                    awaited = true;
                }
                ExecutionEvent::ModelResponded(response) => {
                    prop_assert!(awaited, "an answer to no request");
                    awaited = false;
                    for call in &response.calls {
                        prop_assert!(asked.insert(call.call_id.clone()), "{} was used before", call.call_id);
                        open.insert(call.call_id.clone());
                    }
                }
                ExecutionEvent::ToolFinished(finished) => {
                    prop_assert!(open.remove(&finished.call_id), "{} had a result already", finished.call_id);
                }
                ExecutionEvent::ModelFailed(_) => {
                    prop_assert!(awaited, "no request was given up");
                    awaited = false;
                }
                ExecutionEvent::StateChanged(change) if change.to != Lifecycle::Running => awaited = false,
                _ => {}
            }
        }
    }

    #[test]
    fn what_a_program_carries_is_replayed_just_as_exactly(run in carried(Clock::SometimesSetBack)) {
        for (length, live) in run.states.iter().enumerate() {
            prop_assert_eq!(shown(&fold(&read_back(&run.journal[..length]))), shown(live));
        }
    }

    #[test]
    fn nothing_that_a_program_tells_counts_twice_and_its_bill_never_falls(run in carried(Clock::SometimesSetBack)) {
        let told = run.journal.iter().filter_map(|(event, _)| match event {
            ExecutionEvent::ObservationRecorded(recorded) => Some(recorded.event_id.clone()),
            _ => None,
        });
        let told: Vec<String> = told.collect();
        prop_assert_eq!(told.iter().collect::<BTreeSet<_>>().len(), told.len());
        for pair in run.states.windows(2) {
            prop_assert!(at_least(&pair[1].spent, &pair[0].spent));
        }
    }

    #[test]
    fn what_is_spent_never_falls_and_is_what_the_journal_says(run in runs(Clock::SometimesSetBack)) {
        for pair in run.states.windows(2) {
            prop_assert!(at_least(&pair[1].spent, &pair[0].spent), "{:?} after {:?}", pair[1].spent, pair[0].spent);
        }
        let mut iterations = 0;
        let mut metered = 0;
        let mut nanos = 0;
        let mut estimate = None;
        for (event, _) in &run.journal {
            match event {
                ExecutionEvent::ModelRequested(request) => {
                    iterations += 1;
                    prop_assert_eq!(request.iteration, iterations);
                    estimate = Some((request.estimated_input, request.estimated_cost.as_nanos()));
                }
                ExecutionEvent::ModelResponded(response) => {
                    prop_assert_eq!(response.iteration, iterations);
                    estimate = None;
                    metered += response.usage.total() + response.lost.total();
                    nanos += response.cost.unwrap_or_default().as_nanos();
                }
                ExecutionEvent::ModelFailed(failed) => {
                    prop_assert_eq!(failed.iteration, iterations);
                    estimate = None;
                    metered += failed.usage.total();
                    nanos += failed.cost.as_nanos();
                }
                ExecutionEvent::SubagentFinished(child) => {
                    metered += child.usage.total();
                    nanos += child.cost.as_nanos();
                }
                ExecutionEvent::StateChanged(change) if change.to != Lifecycle::Running => {
                    let (lost_tokens, lost_nanos) = estimate.take().unwrap_or_default();
                    metered += lost_tokens;
                    nanos += lost_nanos;
                }
                _ => {}
            }
        }
        let spent = run.states.last().expect("the first").spent;
        prop_assert_eq!((spent.iterations, spent.usage.total(), spent.cost.as_nanos()), (iterations, metered, nanos));
    }

    /// Before each request there was something left of every limit: overspend is at most the one call in flight.
    #[test]
    fn nothing_is_asked_once_a_limit_is_reached(run in runs(Clock::Steady)) {
        for ((event, at), before) in run.journal.iter().zip(&run.states) {
            if let ExecutionEvent::ModelRequested(_) = event {
                let spent = before.spent_by(*at);
                prop_assert!(spent.iterations < run.limits.max_iterations);
                prop_assert!(spent.active_ms < run.limits.timeout_ms);
                prop_assert!(spent.usage.total() < run.limits.max_tokens);
                prop_assert!(spent.cost < run.limits.max_cost_usd);
            }
        }
    }

    #[test]
    fn taint_is_the_join_of_all_that_was_heard_and_never_falls(run in runs(Clock::Steady)) {
        let mut heard = Taint::Owner;
        for ((event, _), after) in run.journal.iter().zip(&run.states[1..]) {
            match event {
                ExecutionEvent::MessageAccepted(message) => heard = heard.max(message.taint),
                ExecutionEvent::Forked(forked) => heard = heard.max(forked.from.taint),
                ExecutionEvent::InjectionReceived(received) => heard = heard.max(received.taint),
                ExecutionEvent::ToolFinished(finished) => heard = heard.max(finished.taint),
                _ => {}
            }
            prop_assert_eq!(after.taint, heard);
        }
    }

    #[test]
    fn an_end_is_the_last_record(run in runs(Clock::SometimesSetBack)) {
        let end = run.journal.iter().position(|(event, _)| {
            matches!(event, ExecutionEvent::StateChanged(change) if change.to.is_over())
        });
        if let Some(end) = end {
            prop_assert_eq!(end + 1, run.journal.len());
        }
        prop_assert_eq!(run.states.last().expect("the first").lifecycle.is_over(), end.is_some());
    }

    #[test]
    fn every_move_follows_an_arrow_from_where_the_last_one_led(run in runs(Clock::SometimesSetBack)) {
        let mut stands = Lifecycle::Created;
        for (event, _) in &run.journal {
            if let ExecutionEvent::StateChanged(change) = event {
                prop_assert_eq!(change.from, stands);
                prop_assert!(change.from.may_become(change.to));
                stands = change.to;
            }
        }
    }

    #[test]
    fn what_was_started_as_once_is_never_started_again(run in runs(Clock::SometimesSetBack)) {
        let mut started: BTreeMap<&CallId, &Effect> = BTreeMap::new();
        for (event, _) in &run.journal {
            if let ExecutionEvent::ToolStarted(start) = event {
                let earlier = started.insert(&start.call_id, &start.effect);
                prop_assert!(earlier != Some(&Effect::Once), "{} was started twice", start.call_id);
            }
        }
    }

    #[test]
    fn nothing_begins_while_the_execution_does_not_run(run in runs(Clock::SometimesSetBack)) {
        for ((event, _), before) in run.journal.iter().zip(&run.states) {
            if matches!(event, ExecutionEvent::ModelRequested(_) | ExecutionEvent::ToolStarted(_)) {
                prop_assert_eq!(before.lifecycle, Lifecycle::Running);
            }
        }
    }

    /// Summed here over the spans between `running` and what ended it. How much of a span that ended in a crash counts is
    /// not said: the journal cannot know when the process died.
    #[test]
    fn active_time_is_time_spent_running_and_no_other(run in runs(Clock::Steady)) {
        let (least, most) = active(&run.journal);
        let spent = run.states.last().expect("the first").spent_by(last_at(&run)).active_ms;
        prop_assert!((least..=most).contains(&spent), "{spent} is not within {least}..={most}");
    }

    /// With the clock set back at will nothing underflows, and nobody is charged for more time than the clock went forward.
    #[test]
    fn a_clock_set_back_takes_nothing_away_and_adds_nothing(run in runs(Clock::SometimesSetBack)) {
        let forward: u64 = run.journal.windows(2)
            .map(|pair| pair[1].1.as_millis().saturating_sub(pair[0].1.as_millis()))
            .fold(0, u64::saturating_add);
        let end = run.states.last().expect("the first");
        prop_assert!(end.spent.active_ms <= forward, "{} of {forward}", end.spent.active_ms);
        for now in [Wall::default(), last_at(&run)] {
            prop_assert!(end.spent_by(now).active_ms >= end.spent.active_ms);
        }
    }

    /// A request names exactly the conversation that stands before it.
    #[test]
    fn a_request_names_the_transcript_it_was_made_of(run in runs(Clock::Steady)) {
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        for ((event, _), before) in run.journal.iter().zip(&run.states) {
            if let ExecutionEvent::ModelRequested(request) = event {
                if let Purpose::Turn = request.purpose {
                    prop_assert_eq!(request.messages, before.transcript.len());
                }
                prop_assert_eq!(request.prompt, before.prompt);
                let transcript = format!("{:?}", before.transcript);
                let name = request.prompt.to_string();
                prop_assert_eq!(names.entry(name).or_insert_with(|| transcript.clone()), &transcript);
            }
        }
    }

    #[test]
    fn between_compactions_the_transcript_only_grows_and_holds_every_call_and_result(run in runs(Clock::Steady)) {
        for ((event, _), pair) in run.journal.iter().zip(run.states.windows(2)) {
            if !event.kind().starts_with("compaction.") {
                prop_assert_eq!(&pair[1].transcript[..pair[0].transcript.len()], &pair[0].transcript[..]);
            }
        }
        let results = |state: &ExecutionState| {
            let tools = state.transcript.iter().filter(|message| matches!(***message, Message::Tool(_)));
            u32::try_from(tools.count()).expect("few")
        };
        let end = run.states.last().expect("the first");
        if end.compactions.rewrites == 0 {
            prop_assert_eq!(results(end), end.tool_calls);
        }
    }

    /// However a conversation is shortened, every result in it follows its call, and every call has its result or is open.
    #[test]
    fn no_compaction_parts_a_call_from_its_result(run in runs(Clock::Steady)) {
        for state in &run.states {
            let mut open: BTreeSet<&CallId> = BTreeSet::new();
            for message in &state.transcript {
                match message.as_ref() {
                    Message::Assistant { calls, .. } => {
                        prop_assert!(open.is_empty(), "{open:?} have no result");
                        open.extend(calls.iter().map(|call| &call.call_id));
                    }
                    Message::Tool(result) => prop_assert!(open.remove(&result.call_id), "{} had no call", result.call_id),
                    Message::User { .. } => prop_assert!(open.is_empty(), "{open:?} have no result"),
                }
            }
            prop_assert!(open.iter().all(|id| state.open_call(id).is_some()));
        }
    }

    /// Every word of a person, in the order they came, is in the conversation after any number of compactions.
    #[test]
    fn no_compaction_loses_what_a_person_said(run in runs(Clock::Steady)) {
        let mut said: Vec<String> = Vec::new();
        let mut is_first = true;
        for ((event, _), after) in run.journal.iter().zip(&run.states[1..]) {
            match event {
                // The first message is the task, which every conversation opens with.
                ExecutionEvent::MessageAccepted(message) if !is_first => said.push(message.content.clone()),
                ExecutionEvent::InjectionReceived(received) => match received.injection.injection_type {
                    InjectionType::UserMessage | InjectionType::HitlResponse => {
                        said.push(received.injection.content.clone());
                    }
                    InjectionType::ExternalEvent | InjectionType::SystemControl => {}
                },
                _ => {}
            }
            is_first &= after.transcript.is_empty();
            let texts = after.transcript.iter().filter_map(|message| match message.as_ref() {
                Message::User { text, .. } => Some(text.as_str()),
                _ => None,
            });
            let whole: String = texts.collect::<Vec<_>>().join("\n");
            let mut rest = whole.as_str();
            for words in &said {
                let Some(at) = rest.find(words.as_str()) else { panic!("{words:?} is lost, or out of order") };
                rest = &rest[at + words.len()..];
            }
        }
    }

    /// The name of a conversation is that of its messages, however it came about.
    #[test]
    fn a_shortened_conversation_is_named_anew(run in runs(Clock::Steady)) {
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        for state in &run.states {
            let transcript = format!("{:?}", state.transcript);
            let name = names.entry(transcript).or_insert_with(|| state.prompt.to_string());
            prop_assert_eq!(&*name, &state.prompt.to_string());
        }
    }
}

fn at_least(after: &Spent, before: &Spent) -> bool {
    after.iterations >= before.iterations
        && after.active_ms >= before.active_ms
        && after.usage.input >= before.usage.input
        && after.usage.output >= before.usage.output
        && after.usage.cached_input >= before.usage.cached_input
        && after.usage.cache_write >= before.usage.cache_write
        && after.cost >= before.cost
}

fn last_at(run: &Run) -> Wall {
    run.journal.last().map_or(Wall::default(), |(_, at)| *at)
}

/// The least and the most active time that this journal can mean, its last record being now.
fn active(journal: &[(ExecutionEvent, Wall)]) -> (u64, u64) {
    let (mut least, mut most) = (0, 0);
    let mut since: Option<Wall> = None;
    for (event, at) in journal {
        let ExecutionEvent::StateChanged(change) = event else {
            continue;
        };
        if change.to == Lifecycle::Running {
            since = Some(*at);
        } else if let Some(since) = since.take() {
            let span = at.as_millis() - since.as_millis();
            most += span;
            least += if change.to == Lifecycle::Lost { 0 } else { span };
        }
    }
    if let (Some(since), Some((_, now))) = (since, journal.last()) {
        let span = now.as_millis() - since.as_millis();
        (least, most) = (least + span, most + span);
    }
    (least, most)
}

/// What only a program that carries an execution brings about.
const OF_PROGRAMS: [&str; 6] =
    ["runner.noted", "observation.recorded", "call.proposed", "exchange.opened", "exchange.closed", "message.delivery"];

/// The properties above are worth something only if the runs go everywhere.
#[test]
fn random_runs_reach_every_kind_of_record_and_every_state() {
    let mut runner = TestRunner::new_with_rng(Config::default(), TestRunner::deterministic().rng().clone());
    let strategy = runs(Clock::SometimesSetBack);
    let (mut kinds, mut states) = (BTreeSet::new(), BTreeSet::new());
    let (mut refused, mut longest, mut set_back, mut run_again) = (0, 0, 0, 0);
    for _ in 0..300 {
        let run = strategy.new_tree(&mut runner).expect("a run").current();
        kinds.extend(run.journal.iter().map(|(event, _)| event.kind()));
        states.extend(run.states.iter().map(|state| state.lifecycle));
        refused += run.refused;
        longest = longest.max(run.journal.len());
        set_back += run.journal.windows(2).filter(|pair| pair[1].1 < pair[0].1).count();
        let starts = run.journal.iter().filter_map(|(event, _)| match event {
            ExecutionEvent::ToolStarted(started) => Some(&started.call_id),
            _ => None,
        });
        run_again += starts.clone().count() - starts.collect::<BTreeSet<_>>().len();
    }
    let (carried, native): (BTreeSet<_>, BTreeSet<_>) =
        ExecutionEvent::KINDS.iter().copied().partition(|kind| OF_PROGRAMS.contains(kind));
    assert_eq!(kinds, native);
    let strategy = crate::runs::carried(Clock::SometimesSetBack);
    let mut told = BTreeSet::new();
    for _ in 0..100 {
        let run = strategy.new_tree(&mut runner).expect("a run").current();
        told.extend(run.journal.iter().map(|(event, _)| event.kind()));
    }
    assert!(carried.is_subset(&told), "{told:?}");
    assert_eq!(states, Lifecycle::ALL.into_iter().collect());
    assert!(
        refused > 1_000 && longest > 50 && set_back > 100 && run_again > 10,
        "{refused} refused, {longest} longest, {set_back} set back, {run_again} run again"
    );
}
