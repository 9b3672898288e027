//! The state of an execution: a fold over its journal, and nothing besides. `apply` cannot fail; an event that was
//! committed happened.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::budget::Spent;
use crate::call::{CallStatus, Effect, Finished};
use crate::digest::Digest;
use crate::execution::{
    Activity, AgentInjection, Attention, CallDecision, Carrier, Child, CompactionCleared, Compactions, ContextRef,
    Conversation, DecisionOutcome, Essentials, ExchangeClosed, ExchangeOutcome, ExecutionEvent, Foreign, Forked,
    ForkedFrom, Habits, Header, InjectionReceived, InjectionType, Lifecycle, MessageAccepted, MessageKind, ModelFailed,
    ModelRequested, ModelResponded, ModelSwitched, OwnerEffect, Purpose, StateChanged, SubagentFinished, TakenOver,
    ToolStarted, without_sealed_thoughts,
};
use crate::id::{CardId, MessageId};
use crate::image::Image;
use crate::labels::Labels;
use crate::message::{CallId, Message, StopReason, ToolCall, ToolResult};
use crate::pattern::Tracker;
use crate::question::Awaited;
use crate::reach::Reach;
use crate::result::Deliverable;
use crate::spill::{former_spill_path, spill_path};
use crate::taint::Taint;
use crate::time::{Wall, millis};
use crate::tool_name::LAUNCH_AGENT;
use crate::usage::{Usage, Usd};

/// How much of a call's arguments an account of it repeats.
const MOST_ARGUMENT_CHARS: usize = 300;

#[derive(Debug, Clone)]
pub struct ExecutionState {
    pub header: Option<Arc<Header>>,
    pub lifecycle: Lifecycle,
    /// The conversation after the system prompt, in order. Shared, because watchers keep old states.
    pub transcript: Vec<Arc<Message>>,
    /// Names `transcript`: chained message by message.
    pub prompt: Digest,
    pub context: Option<ContextRef>,
    /// A request whose answer is not there yet.
    pub open_request: Option<ModelRequested>,
    /// Calls of the newest answer that have no result yet, in the order they were asked for.
    pub open_calls: Vec<OpenCall>,
    pub last_stop: Option<StopReason>,
    /// What the provider metered for the newest answer, and how much of the transcript that covers.
    pub metered: Option<(usize, Usage)>,
    pub deliverables: Vec<Deliverable>,
    /// The agents it spawned, in order.
    pub children: Vec<Child>,
    /// Why it ended, once it has.
    pub end: Option<String>,
    /// Calls of which nobody knows whether they took effect, in words for whoever comes after.
    pub interrupted: Vec<String>,
    pub spent: Spent,
    /// Whether an answer's price was not known, so that what was spent is more than is counted.
    pub unpriced: bool,
    pub answers: u32,
    /// In a row, each told to the model.
    pub unusable_answers: u32,
    pub tool_calls: u32,
    pub taint: Taint,
    /// Of the workspace's files, for this execution.
    pub labels: Labels,
    pub compactions: Compactions,
    pub essentials: Essentials,
    pub habits: Habits,
    /// Where it stands in its pattern, where it has one that leads.
    pub tracker: Option<Tracker>,
    /// How often its last word was handed back to be put into the right form.
    pub repairs: u32,
    /// Of one that another program carries.
    pub foreign: Foreign,
    /// Whose conversation it goes on with, if it does.
    pub forked: Option<Arc<ForkedFrom>>,
    /// How often a model had answered in that conversation.
    answers_before: u32,
    /// It has been told what is wanted of it.
    is_opened: bool,
    /// The newest change of the model that is asked.
    switched: Option<Arc<ModelSwitched>>,
    /// The calls whose words the user has seen.
    told: BTreeSet<CallId>,
    used_call_ids: BTreeSet<CallId>,
    started_at: Option<Wall>,
    last_at: Wall,
}

/// A call without a result: as the model asked for it, or as a gate rewrote it.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenCall {
    pub call: ToolCall,
    pub phase: CallPhase,
}

/// How far a call has come.
#[derive(Debug, Clone, PartialEq)]
pub enum CallPhase {
    Asked,
    /// A gate changed what it is given, which happens once.
    Rewritten,
    /// A person is asked.
    Waiting(Awaited),
    /// A person said yes. What runs must be what they saw.
    Approved(CardId),
    /// The host gave leave.
    Started {
        effect: Effect,
        reach: Reach,
    },
}

impl OpenCall {
    pub const fn new(call: ToolCall) -> Self {
        Self { call, phase: CallPhase::Asked }
    }

    pub const fn started(&self) -> Option<&Effect> {
        match &self.phase {
            CallPhase::Started { effect, .. } => Some(effect),
            CallPhase::Asked | CallPhase::Rewritten | CallPhase::Waiting(_) | CallPhase::Approved(_) => None,
        }
    }

    /// What a person has to say first.
    pub const fn waits_for(&self) -> Option<Awaited> {
        match self.phase {
            CallPhase::Waiting(awaited) => Some(awaited),
            _ => None,
        }
    }
}

impl Default for ExecutionState {
    fn default() -> Self {
        Self {
            header: None,
            lifecycle: Lifecycle::Created,
            transcript: Vec::new(),
            prompt: Digest::of(b""),
            context: None,
            open_request: None,
            open_calls: Vec::new(),
            last_stop: None,
            metered: None,
            deliverables: Vec::new(),
            children: Vec::new(),
            end: None,
            interrupted: Vec::new(),
            spent: Spent::default(),
            unpriced: false,
            answers: 0,
            unusable_answers: 0,
            tool_calls: 0,
            taint: Taint::Owner,
            labels: Labels::default(),
            compactions: Compactions::default(),
            essentials: Essentials::default(),
            habits: Habits::default(),
            tracker: None,
            repairs: 0,
            foreign: Foreign::default(),
            forked: None,
            answers_before: 0,
            is_opened: false,
            switched: None,
            told: BTreeSet::new(),
            used_call_ids: BTreeSet::new(),
            started_at: None,
            last_at: Wall::default(),
        }
    }
}

impl ExecutionState {
    pub fn apply(&mut self, event: &ExecutionEvent, at: Wall) {
        self.count_time(event, at);
        self.last_at = at;
        match event {
            ExecutionEvent::Header(header) => {
                self.labels = header.labels.clone();
                self.tracker = header.pattern.clone().and_then(Tracker::new);
                self.header = Some(Arc::new(header.clone()));
            }
            ExecutionEvent::Forked(forked) => self.take_over(forked),
            ExecutionEvent::MessageAccepted(message) => self.hear_message(message),
            ExecutionEvent::StateChanged(change) => self.change(change, at),
            ExecutionEvent::ModelRequested(request) => self.ask(request),
            ExecutionEvent::ModelResponded(response) => self.answer(response),
            ExecutionEvent::ModelFailed(failed) => self.miss_answer(failed),
            // What was found out and said is for people; what follows from it has records of its own.
            ExecutionEvent::RiskChecked(_) | ExecutionEvent::EgressRefused(_) => {}
            ExecutionEvent::DecisionRecorded(decision) => self.hear_decision(decision),
            ExecutionEvent::ToolStarted(started) => self.start_call(started),
            ExecutionEvent::ToolFinished(finished) => self.finish_call(finished),
            ExecutionEvent::InjectionReceived(received) => self.hear_injection(received),
            ExecutionEvent::SubagentSpawned(child) => self.children.push(Child {
                execution_id: child.execution_id,
                call_id: child.call_id.clone(),
                label: child.label.clone(),
                ended: None,
                sub_agents: 0,
                writes: None,
            }),
            ExecutionEvent::SubagentFinished(child) => self.charge(child),
            ExecutionEvent::OwnerEffect(OwnerEffect::Delivered { deliverable, .. }) => {
                self.essentials.touch(&deliverable.filepath);
                self.deliver(deliverable.clone());
            }
            ExecutionEvent::OwnerEffect(OwnerEffect::Told { call_id, .. }) => {
                self.told.insert(call_id.clone());
            }
            ExecutionEvent::DoomLoopDetected(detected) => {
                self.habits.told(detected);
                self.hear(Message::user(detected.message.clone()));
            }
            ExecutionEvent::PatternStepped(stepped) => {
                self.tracker.iter_mut().for_each(|tracker| tracker.step(stepped));
                self.hear_runtime(&stepped.message);
            }
            ExecutionEvent::PatternNudged(nudged) => {
                self.tracker.iter_mut().for_each(|tracker| tracker.nudge(nudged));
                self.hear_runtime(&nudged.message);
            }
            ExecutionEvent::RunnerNoted(noted) => self.foreign.launched(noted),
            ExecutionEvent::ObservationRecorded(recorded) => {
                self.taint = self.taint.join(recorded.taint);
                self.foreign.observe(recorded);
            }
            ExecutionEvent::CallProposed(call) => {
                self.used_call_ids.insert(call.call_id.clone());
                self.open_calls.push(OpenCall::new(call.clone()));
            }
            ExecutionEvent::ExchangeOpened(opened) => {
                self.spent.iterations += 1;
                self.foreign.open(opened);
            }
            ExecutionEvent::ExchangeClosed(closed) => self.close_exchange(closed),
            // It is none for the program to hear.
            ExecutionEvent::MessageDelivery(delivery) if self.has_switched_by(delivery.message_id) => {}
            ExecutionEvent::MessageDelivery(delivery) => self.foreign.deliver(delivery),
            ExecutionEvent::ModelSwitched(switched) => self.switch_model(switched),
            ExecutionEvent::CompactionStarted(_)
            | ExecutionEvent::CompactionCleared(_)
            | ExecutionEvent::CompactionFlushing(_)
            | ExecutionEvent::CompactionFlushed(_)
            | ExecutionEvent::CompactionSkipped(_)
            | ExecutionEvent::CompactionFinished(_)
            | ExecutionEvent::CompactionFailed(_) => self.compact(event),
        }
    }

    /// What has been used up to `now`: the time that runs and the question that is open included.
    pub fn spent_by(&self, now: Wall) -> Spent {
        let running = if self.lifecycle == Lifecycle::Running { millis_between(self.last_at, now) } else { 0 };
        let mut spent = Spent { active_ms: self.spent.active_ms.saturating_add(running), ..self.spent };
        if let Some(request) = &self.open_request {
            spent.charge_lost(request.estimated_input, request.estimated_cost);
        }
        for open in self.foreign.exchanges.values() {
            spent.charge_lost(open.estimated_input, open.estimated_cost);
        }
        spent
    }

    /// The same, with the answers that are awaited as long as they may become.
    pub fn committed_by(&self, now: Wall) -> Spent {
        let mut spent = self.spent_by(now);
        for open in self.foreign.exchanges.values() {
            spent.usage.output = spent.usage.output.saturating_add(open.reserved_output);
            spent.cost += open.reserved_cost;
        }
        spent
    }

    /// Whether it has been told what is wanted of it. One that goes on with a conversation has heard other things before.
    pub const fn is_opened(&self) -> bool {
        self.is_opened
    }

    /// How many answers its conversation holds, those of whom it was taken over from included.
    pub const fn conversed(&self) -> u32 {
        self.answers_before.saturating_add(self.answers)
    }

    /// Whom it asks.
    pub fn model(&self) -> &str {
        let begun_with = self.header.as_ref().map_or("", |header| header.model.as_str());
        self.switched_to().unwrap_or(begun_with)
    }

    /// The same, where that is not the one it was begun with.
    pub fn switched_to(&self) -> Option<&str> {
        self.switched.as_ref().map(|switched| switched.to.as_str())
    }

    /// Whether this message made it ask another model.
    pub fn has_switched_by(&self, message_id: MessageId) -> bool {
        self.switched.as_ref().is_some_and(|switched| switched.message_id == message_id)
    }

    /// Calls without a result, in words.
    pub fn unended(&self) -> Vec<String> {
        self.open_calls
            .iter()
            .filter(|open| open.call.tool != LAUNCH_AGENT)
            .map(|open| short_call(&open.call))
            .collect()
    }

    /// Whether another program keeps its conversation.
    pub fn is_foreign(&self) -> bool {
        self.header.as_ref().is_some_and(|header| header.carrier == Carrier::Foreign)
    }

    pub fn started_at(&self) -> Option<Wall> {
        self.started_at
    }

    /// The time of the newest record.
    pub const fn last_at(&self) -> Wall {
        self.last_at
    }

    /// Whether an answer of a model is awaited, by itself or by its program.
    pub fn is_asking(&self) -> bool {
        self.open_request.is_some() || !self.foreign.exchanges.is_empty()
    }

    pub fn activity(&self) -> Activity {
        match (self.lifecycle, self.is_asking()) {
            (Lifecycle::Running, true) => Activity::AwaitingAgentResponse,
            (Lifecycle::Running | Lifecycle::Launching, false) => Activity::Working,
            _ => Activity::Idle,
        }
    }

    pub fn attention(&self) -> Attention {
        match self.lifecycle {
            Lifecycle::AwaitingInput if self.cards().next().is_some() => Attention::NeedsApproval,
            Lifecycle::AwaitingInput if self.foreign.is_blocked() => Attention::Blocked,
            Lifecycle::AwaitingInput => Attention::NeedsInput,
            Lifecycle::Lost => Attention::Blocked,
            _ => Attention::None,
        }
    }

    /// How far it is: where its pattern stands, or what its agent says of it.
    pub fn progress(&self) -> Option<&str> {
        let step = self.tracker.as_ref().and_then(Tracker::current).map(|step| step.name.as_str());
        step.or(self.foreign.progress.as_deref())
    }

    /// The cards that calls wait for.
    pub fn cards(&self) -> impl Iterator<Item = CardId> {
        self.awaited().filter_map(Awaited::card)
    }

    /// The cards and questions that calls wait for.
    pub fn awaited(&self) -> impl Iterator<Item = Awaited> {
        self.open_calls.iter().filter_map(OpenCall::waits_for)
    }

    pub fn open_call(&self, call_id: &CallId) -> Option<&OpenCall> {
        self.open_calls.iter().find(|open| open.call.call_id == *call_id)
    }

    pub fn has_used(&self, call_id: &CallId) -> bool {
        self.used_call_ids.contains(call_id)
    }

    /// Whether the user has seen what this call is to tell them.
    pub fn has_told(&self, call_id: &CallId) -> bool {
        self.told.contains(call_id)
    }

    pub fn used_call_ids(&self) -> impl ExactSizeIterator<Item = &CallId> {
        self.used_call_ids.iter()
    }

    /// Record by record, so that a clock set back costs one step and no more. How long a lost process lived after its last
    /// record nobody knows, so none of that counts: hours in which nobody was there are not the agent's.
    fn count_time(&mut self, event: &ExecutionEvent, at: Wall) {
        let lost = matches!(event, ExecutionEvent::StateChanged(change) if change.to == Lifecycle::Lost);
        if self.lifecycle == Lifecycle::Running && !lost {
            self.spent.active_ms = self.spent.active_ms.saturating_add(millis_between(self.last_at, at));
        }
    }

    fn take_over(&mut self, forked: &Forked) {
        self.taint = self.taint.join(forked.from.taint);
        self.forked = Some(Arc::new(forked.from.clone()));
        match &forked.taken_over {
            TakenOver::Session(session) => self.foreign.forks = Some(session.clone()),
            TakenOver::Conversation(conversation) => {
                let Conversation { messages, answers, summary, essentials } = conversation.joined();
                self.used_call_ids = conversation.call_ids();
                self.transcript = messages;
                self.prompt = named(&self.transcript);
                self.answers_before = answers;
                self.compactions.summary = summary;
                self.essentials = essentials;
            }
        }
    }

    /// The conversation is told to the new one from its beginning, and counted anew.
    fn switch_model(&mut self, switched: &ModelSwitched) {
        self.switched = Some(Arc::new(switched.clone()));
        without_sealed_thoughts(&mut self.transcript);
        self.prompt = named(&self.transcript);
        self.compactions.rewrites += 1;
        self.compactions.overflowed_at = None;
        self.metered = None;
    }

    fn hear_message(&mut self, message: &MessageAccepted) {
        // It is not said to the agent.
        if message.kind == MessageKind::Model {
            return;
        }
        self.is_opened = true;
        self.taint = self.taint.join(message.taint);
        let opens_the_conversation = self.transcript.is_empty();
        self.hear(Message::User { text: message.content.clone(), images: message.images.clone() });
        if !opens_the_conversation {
            self.heed_newest(None);
        }
    }

    fn hear_injection(&mut self, received: &InjectionReceived) {
        self.taint = self.taint.join(received.taint);
        let words = injected(&received.injection);
        if self.is_foreign() {
            self.foreign.tell(Some(received.message_id), received.injection.kind(), words.clone());
        }
        self.hear(Message::user(words));
        match received.injection.injection_type {
            InjectionType::UserMessage => self.heed_newest(None),
            InjectionType::HitlResponse => {
                let answered = received.injection.answers();
                let question = answered.and_then(|request| self.essentials.answer_question(request));
                self.heed_newest(question);
            }
            // Whatever is outside cannot fill a conversation with what may never be left out.
            InjectionType::ExternalEvent => self.habits.heard_somebody(),
            InjectionType::SystemControl if received.injection.is_repair() => self.repairs += 1,
            // Who is told to look again does the same again.
            InjectionType::SystemControl if received.injection.is_check() => self.habits.heard_somebody(),
            InjectionType::SystemControl => {}
        }
    }

    /// The newest message is a person's: word for word, for as long as this execution lasts.
    fn heed_newest(&mut self, answers: Option<String>) {
        self.habits.heard_somebody();
        if let Some(message) = self.transcript.last() {
            self.essentials.hear(Arc::clone(message), answers);
        }
    }

    fn compact(&mut self, event: &ExecutionEvent) {
        let before = self.compactions.rewrites;
        match event {
            ExecutionEvent::CompactionStarted(started) => self.compactions.start(started),
            ExecutionEvent::CompactionCleared(cleared) => {
                self.label_saved(cleared);
                self.essentials.clear(cleared);
                self.compactions.clear(cleared, &mut self.transcript);
            }
            ExecutionEvent::CompactionFlushing(flushing) => {
                self.compactions.begin_flush(self.transcript.len());
                self.hear(Message::user(flushing.message.clone()));
            }
            ExecutionEvent::CompactionFlushed(_) => self.compactions.end_flush(&mut self.transcript),
            ExecutionEvent::CompactionSkipped(skipped) => self.compactions.skip(skipped),
            ExecutionEvent::CompactionFinished(finished) => self.compactions.finish(finished, &mut self.transcript),
            ExecutionEvent::CompactionFailed(failed) => self.compactions.fail(&failed.reason),
            _ => {}
        }
        if self.compactions.rewrites != before {
            self.prompt = named(&self.transcript);
            // It was about another conversation.
            self.metered = None;
        }
    }

    /// A file that holds a result is as trustworthy as this execution is by now.
    fn label_saved(&mut self, cleared: &CompactionCleared) {
        for path in cleared.results.iter().filter_map(|result| result.saved_to.as_ref()) {
            self.labels.changed(path, self.taint);
        }
    }

    fn miss_answer(&mut self, failed: &ModelFailed) {
        let request = self.open_request.take();
        self.spent.usage += failed.usage;
        self.spent.cost += failed.cost;
        match request.map(|request| request.purpose).unwrap_or_default() {
            Purpose::Turn => self.compactions.miss_turn(),
            Purpose::Summary { .. } => self.compactions.miss_summary(),
        }
        if let Some(told) = &failed.told {
            self.unusable_answers += 1;
            self.hear(Message::user(told.clone()));
        }
    }

    fn hear_runtime(&mut self, words: &str) {
        if !words.is_empty() {
            self.hear(Message::user(words));
        }
    }

    fn hear(&mut self, message: Message) -> Arc<Message> {
        self.prompt = chain(&self.prompt, &message);
        let message = Arc::new(message);
        self.transcript.push(Arc::clone(&message));
        message
    }

    fn change(&mut self, change: &StateChanged, at: Wall) {
        self.lifecycle = change.to;
        if change.to.is_over() {
            self.end = Some(change.reason.clone());
        }
        if change.to == Lifecycle::Running {
            self.started_at.get_or_insert(at);
            return;
        }
        // Whatever was asked is asked again by whoever goes on; what it may have cost stays spent.
        if let Some(request) = self.open_request.take() {
            self.spent.charge_lost(request.estimated_input, request.estimated_cost);
        }
        for open in std::mem::take(&mut self.foreign.exchanges).into_values() {
            self.spent.charge_lost(open.estimated_input, open.estimated_cost);
        }
    }

    fn ask(&mut self, request: &ModelRequested) {
        self.spent.iterations += 1;
        if let Some(context) = request.context {
            self.context = Some(context);
        }
        self.open_request = Some(request.clone());
    }

    fn answer(&mut self, response: &ModelResponded) {
        self.open_request = None;
        self.spent.usage += response.usage;
        self.spent.usage += response.lost;
        self.spent.cost += response.cost.unwrap_or_default();
        self.unpriced |= response.cost.is_none();
        if let Purpose::Summary { to, .. } = response.purpose {
            self.compactions.hear_summary(&response.text, to);
            return;
        }
        self.answers += 1;
        self.unusable_answers = 0;
        self.compactions.hear_turn(&response.calls);
        self.habits.answered(response);
        self.last_stop = Some(response.stop.clone());
        self.used_call_ids.extend(response.calls.iter().map(|call| call.call_id.clone()));
        self.open_calls = response.calls.iter().cloned().map(OpenCall::new).collect();
        let ModelResponded { text, calls, reasoning, .. } = response.clone();
        self.hear(Message::Assistant { text, calls, reasoning });
        self.metered = Some((self.transcript.len(), response.usage));
    }

    fn close_exchange(&mut self, closed: &ExchangeClosed) {
        self.foreign.exchanges.remove(&closed.exchange);
        self.spent.usage += closed.usage;
        self.spent.cost += closed.cost.unwrap_or_default();
        if closed.outcome == ExchangeOutcome::Answered {
            self.unpriced |= closed.cost.is_none();
            self.answers += 1;
        }
    }

    fn hear_decision(&mut self, decision: &CallDecision) {
        self.tell_program_of_approval(decision);
        self.with_call(&decision.call_id, |open| match &decision.outcome {
            DecisionOutcome::Rewritten { arguments, .. } => {
                open.call.arguments.clone_from(arguments);
                open.phase = CallPhase::Rewritten;
            }
            DecisionOutcome::Waiting { card_id } => open.phase = CallPhase::Waiting(Awaited::Card(*card_id)),
            DecisionOutcome::Question { request_id } => {
                open.phase = CallPhase::Waiting(Awaited::Question(*request_id));
            }
            DecisionOutcome::Monitoring { task_id } => open.phase = CallPhase::Waiting(Awaited::Monitor(*task_id)),
            DecisionOutcome::Approved { card_id } => open.phase = CallPhase::Approved(*card_id),
        });
    }

    /// The program was stopped so that a person could be asked; what they said is told when it goes on.
    fn tell_program_of_approval(&mut self, decision: &CallDecision) {
        let DecisionOutcome::Approved { .. } = decision.outcome else { return };
        let asked = self.open_call(&decision.call_id).map(|open| short_call(&open.call));
        if let (true, Some(asked)) = (self.is_foreign(), asked) {
            self.foreign.tell(
                None,
                MessageKind::Resume,
                format!("A person approved {asked}. Make this call now, exactly so."),
            );
        }
    }

    fn tell_program_of_end(&mut self, finished: &Finished) {
        let Some(open) = self.open_call(&finished.call_id) else { return };
        let is_waited_for = matches!(open.phase, CallPhase::Waiting(_));
        let is_cut_off = finished.status == CallStatus::Interrupted;
        if self.is_foreign() && (is_waited_for || is_cut_off) {
            let told = format!("{}: {}", short_call(&open.call), finished.content);
            self.foreign.tell(None, MessageKind::Resume, told);
        }
    }

    fn start_call(&mut self, started: &ToolStarted) {
        let ToolStarted { call_id, effect, reach, tool } = started;
        self.foreign.has_something_to_lose |= tool != LAUNCH_AGENT;
        let phase = CallPhase::Started { effect: effect.clone(), reach: reach.clone() };
        self.with_call(call_id, |open| open.phase = phase);
    }

    fn with_call(&mut self, call_id: &CallId, change: impl FnOnce(&mut OpenCall)) {
        if let Some(open) = self.open_calls.iter_mut().find(|open| open.call.call_id == *call_id) {
            change(open);
        }
    }

    fn finish_call(&mut self, finished: &Finished) {
        if let (CallStatus::Interrupted, Some(open)) = (finished.status, self.open_call(&finished.call_id)) {
            self.interrupted.push(short_call(&open.call));
        }
        self.tell_program_of_end(finished);
        self.taint = self.taint.join(finished.taint);
        self.label(finished);
        self.habits.finished(finished);
        self.tool_calls += 1;
        let result = self.hear(Message::Tool(ToolResult {
            call_id: finished.call_id.clone(),
            tool: finished.tool.clone(),
            content: finished.content.clone(),
            is_error: finished.status.is_error(),
            images: finished.images.clone(),
        }));
        let call = self.open_calls.iter().find(|open| open.call.call_id == finished.call_id);
        self.essentials.finish(finished, call, &result);
        let arguments = call.map_or("", |open| open.call.arguments.get());
        self.tracker.iter_mut().for_each(|tracker| tracker.observe(finished, arguments));
        self.open_calls.retain(|open| open.call.call_id != finished.call_id);
    }

    /// Whatever a call may have changed is as trustworthy as this execution is by now.
    fn label(&mut self, finished: &Finished) {
        let Some(OpenCall { phase: CallPhase::Started { effect, reach }, .. }) = self.open_call(&finished.call_id)
        else {
            return;
        };
        match (effect, reach.can_change_any_file()) {
            (Effect::Probe(probe), _) => {
                let path = probe.path.clone();
                self.labels.changed(&path, self.taint);
            }
            (Effect::Once, true) => self.labels.may_all_have_changed(self.taint),
            // What a child changed is told by the child's own end.
            (Effect::Once, false) | (Effect::Read | Effect::Child, _) => {}
        }
        // What was too long to be shown is a file now, whatever the call itself may change.
        if finished.full_output.is_some() {
            self.label_spilled(&finished.call_id);
        }
    }

    /// In a journal of before, the file has its former name.
    fn label_spilled(&mut self, call_id: &CallId) {
        let now = self.header.as_ref().map(|header| spill_path(header.execution_id, call_id));
        for path in now.into_iter().chain([former_spill_path(call_id)]) {
            self.labels.changed(&path, self.taint);
        }
    }

    fn charge(&mut self, child: &SubagentFinished) {
        self.spent.usage += child.usage;
        self.spent.cost += child.cost;
        let Some(left) = &child.left else { return };
        self.labels.join(&left.labels);
        if let Some(path) = &left.wrote {
            self.labels.changed(path, left.taint);
        }
        self.unpriced |= left.unpriced;
        self.interrupted.extend(left.interrupted.iter().cloned());
        left.deliverables.iter().for_each(|deliverable| self.deliver(deliverable.clone()));
        if let Some(known) = self.children.iter_mut().find(|known| known.execution_id == child.execution_id) {
            known.ended = Some(left.taint);
            known.sub_agents = left.sub_agents;
            known.writes.clone_from(&left.writes);
        }
    }

    /// How many agents were spawned here, by it or by those.
    pub fn sub_agents(&self) -> u32 {
        let of_children = self.children.iter().map(|child| child.sub_agents).fold(0, u32::saturating_add);
        u32::try_from(self.children.len()).unwrap_or(u32::MAX).saturating_add(of_children)
    }

    /// The child that a call has spawned.
    pub fn child_of(&self, call_id: &CallId) -> Option<&Child> {
        self.children.iter().find(|child| child.call_id == *call_id)
    }

    /// Publishing a file again replaces what was said of it.
    fn deliver(&mut self, deliverable: Deliverable) {
        self.deliverables.retain(|known| known.filepath != deliverable.filepath);
        self.deliverables.push(deliverable);
    }
}

impl Spent {
    /// Of an answer that never came, only the question is known.
    fn charge_lost(&mut self, estimated_input: u64, estimated_cost: Usd) {
        self.usage.input = self.usage.input.saturating_add(estimated_input);
        self.cost += estimated_cost;
    }
}

/// A call in an account of it.
fn short_call(call: &ToolCall) -> String {
    let arguments: String = call.arguments.get().chars().take(MOST_ARGUMENT_CHARS).collect();
    format!("`{}` with {arguments}", call.tool)
}

fn millis_between(earlier: Wall, later: Wall) -> u64 {
    millis(later.since(earlier))
}

/// The words of seed 000 §3.3 come from whoever injects; here only the kind is made plain to the model.
fn injected(injection: &AgentInjection) -> String {
    let from = match injection.injection_type {
        InjectionType::UserMessage | InjectionType::HitlResponse => return injection.content.clone(),
        InjectionType::ExternalEvent => "external event",
        InjectionType::SystemControl => "system",
    };
    format!("[{from}] {}", injection.content)
}

fn named(transcript: &[Arc<Message>]) -> Digest {
    transcript.iter().fold(Digest::of(b""), |prompt, message| chain(&prompt, message))
}

fn chain(prompt: &Digest, message: &Message) -> Digest {
    match message {
        Message::User { text, images } => pictured(prompt.chain(b"user\0").chain(text.as_bytes()), images),
        Message::Tool(result) => {
            let kind: &[u8] = if result.is_error { b"tool error\0" } else { b"tool\0" };
            let said = prompt.chain(kind).chain(result.call_id.0.as_bytes()).chain(result.content.as_bytes());
            pictured(said, &result.images)
        }
        Message::Assistant { text, calls, reasoning } => {
            let call_count = u64::try_from(calls.len()).unwrap_or(u64::MAX).to_be_bytes();
            let said = prompt.chain(b"assistant\0").chain(text.as_bytes()).chain(&call_count);
            let called = calls.iter().fold(said, |digest, call| {
                digest
                    .chain(call.call_id.0.as_bytes())
                    .chain(call.tool.as_bytes())
                    .chain(call.arguments.get().as_bytes())
            });
            reasoning
                .iter()
                .fold(called, |digest, thought| digest.chain(b"reasoning\0").chain(thought.content.get().as_bytes()))
        }
    }
}

/// Without pictures, which journals of before have not, it stays what it was.
fn pictured(said: Digest, images: &[Image]) -> Digest {
    images.iter().fold(said, |digest, image| digest.chain(b"image\0").chain(image.digest.as_bytes()))
}
