//! What a command leads to. Total and pure: the same state, command and time give the same events, and nothing here
//! fails but by saying why.

use crate::budget::Left;
use crate::call::{CallOutcome, CallStatus, Effect, Finished};
use crate::execution::{
    Answer, CallDecision, CallPhase, DecisionOutcome, ExchangeClosed, ExchangeOpened, ExchangeWanted, ExecutionCommand,
    ExecutionEvent, ExecutionState, Forked, Header, Lifecycle, MOST_CHILDREN, ModelFailed, ModelRequested,
    ModelResponded, ModelSwitched, NoAnswer, ObservationRecorded, Observed, OpenCall, Purpose, Question, Rejected,
    StateChanged, SubagentFinished, SubagentSpawned, TakenOver, ToolStarted, decide_compaction,
};
use crate::message::{CallId, ToolCall};
use crate::pattern::{PatternStepped, Tracker};
use crate::question::Awaited;
use crate::reach::Reach;
use crate::taint::Taint;
use crate::time::Wall;

pub fn decide(state: &ExecutionState, command: ExecutionCommand, now: Wall) -> Result<ExecutionEvent, Rejected> {
    if state.lifecycle.is_over() {
        return Err(Rejected::Over);
    }
    if state.header.is_none() && !matches!(command, ExecutionCommand::Create(_)) {
        return Err(Rejected::NotCreated);
    }
    match command {
        ExecutionCommand::Create(header) => create(state, *header),
        ExecutionCommand::Fork(forked) => fork(state, forked),
        ExecutionCommand::Move { to, reason } => move_to(state, to, reason),
        ExecutionCommand::Accept(message) => nothing_open(state).map(|()| ExecutionEvent::MessageAccepted(message)),
        ExecutionCommand::Inject(received) => nothing_open(state).map(|()| ExecutionEvent::InjectionReceived(received)),
        ExecutionCommand::Ask(question) => ask(state, question, now),
        ExecutionCommand::Answer(answer) => hear_answer(state, answer),
        ExecutionCommand::GiveUp(no_answer) => give_up(state, no_answer),
        ExecutionCommand::CheckRisk(checked) => {
            open(state, &checked.call_id).map(|_| ExecutionEvent::RiskChecked(checked))
        }
        ExecutionCommand::Decide(decision) => decide_call(state, decision),
        ExecutionCommand::StartCall { call_id, effect, reach } => start(state, call_id, effect, reach),
        ExecutionCommand::FinishCall { outcome, taint } => finish(state, outcome, taint),
        ExecutionCommand::Keep(effect) => Ok(ExecutionEvent::OwnerEffect(effect)),
        ExecutionCommand::Spawn(child) => spawn(state, child),
        ExecutionCommand::Charge(child) => charge(state, *child),
        ExecutionCommand::Compact(step) => nothing_open(state).and_then(|()| decide_compaction(state, step)),
        ExecutionCommand::NoteRefusal(refused) => Ok(ExecutionEvent::EgressRefused(refused)),
        ExecutionCommand::Warn(detected) => nothing_open(state).map(|()| ExecutionEvent::DoomLoopDetected(detected)),
        ExecutionCommand::Step(stepped) => step(state, stepped),
        ExecutionCommand::Nudge(nudged) => nothing_open(state).map(|()| ExecutionEvent::PatternNudged(nudged)),
        ExecutionCommand::Note(noted) => foreign(state, "is started").map(|()| ExecutionEvent::RunnerNoted(noted)),
        ExecutionCommand::Observe { observed, taint } => observe(state, *observed, taint),
        ExecutionCommand::Propose(call) => propose(state, call),
        ExecutionCommand::OpenExchange { wanted, left } => open_exchange(state, wanted, left, now),
        ExecutionCommand::CloseExchange(closed) => close_exchange(state, closed),
        ExecutionCommand::NoteDelivery(delivery) => {
            let is_heard = state.has_switched_by(delivery.message_id);
            let may = if is_heard { Ok(()) } else { foreign(state, "is given messages") };
            may.map(|()| ExecutionEvent::MessageDelivery(delivery))
        }
        ExecutionCommand::SwitchModel { message_id, to } => nothing_open(state).map(|()| {
            let from = state.model().to_owned();
            ExecutionEvent::ModelSwitched(ModelSwitched { message_id, from, to })
        }),
    }
}

/// From where the pattern stands, and never beyond what it may.
fn step(state: &ExecutionState, stepped: PatternStepped) -> Result<ExecutionEvent, Rejected> {
    nothing_open(state)?;
    let tracker = state.tracker.as_ref();
    let is_there = tracker.and_then(Tracker::current).is_some_and(|step| step.name == stepped.from);
    let is_next = tracker.is_some_and(|tracker| {
        let most = tracker.pattern().max_steps;
        stepped.transition <= most && (stepped.transition > tracker.transitions() || stepped.to.is_none())
    });
    match is_there && is_next {
        true => Ok(ExecutionEvent::PatternStepped(stepped)),
        false => Err(Rejected::NotThere(stepped.from)),
    }
}

fn foreign(state: &ExecutionState, what: &'static str) -> Result<(), Rejected> {
    if state.is_foreign() { Ok(()) } else { Err(Rejected::NotForeign(what)) }
}

/// Told twice, it counts once: programs repeat a conversation that they go on with, and clients a call that they are unsure of.
fn observe(state: &ExecutionState, observed: Observed, taint: Taint) -> Result<ExecutionEvent, Rejected> {
    foreign(state, "is observed")?;
    let Observed { event_id, source, observation } = observed;
    if state.foreign.has_seen(&event_id) {
        return Err(Rejected::ToldBefore);
    }
    let (decision, reason) = observation.decided();
    let reason = reason.to_owned();
    let recorded = ObservationRecorded { event_id, source, observation, decision, reason, taint };
    Ok(ExecutionEvent::ObservationRecorded(Box::new(recorded)))
}

fn propose(state: &ExecutionState, call: ToolCall) -> Result<ExecutionEvent, Rejected> {
    foreign(state, "proposes calls")?;
    if state.lifecycle != Lifecycle::Running {
        return Err(Rejected::NotRunning);
    }
    if state.has_used(&call.call_id) {
        return Err(Rejected::CallIdTaken(call.call_id));
    }
    Ok(ExecutionEvent::CallProposed(call))
}

/// The answer is paid for before it comes: what it may cost is set aside, so that however many ask at once, they spend no more
/// than there is. Where others are being answered, most of what is set aside for them comes back: it is waited for. Where nobody
/// is, a shorter answer will do.
fn open_exchange(
    state: &ExecutionState,
    wanted: ExchangeWanted,
    of_family: Option<Left>,
    now: Wall,
) -> Result<ExecutionEvent, Rejected> {
    foreign(state, "asks models through us")?;
    if state.lifecycle != Lifecycle::Running {
        return Err(Rejected::NotRunning);
    }
    let limits = &state.header.as_ref().ok_or(Rejected::NotCreated)?.limits;
    if let Some(exhausted) = limits.exhausted(&state.spent_by(now)) {
        return Err(exhausted.into());
    }
    let ExchangeWanted { exchange, model, asking } = wanted;
    if state.foreign.exchanges.contains_key(&exchange) {
        return Err(Rejected::NoSuchExchange(exchange));
    }
    let own = limits.left(&state.committed_by(now));
    let reserved_output = match of_family.map_or(own, |left| own.or_less(left)).answer(&asking) {
        Ok(output) if output == asking.output => output,
        _ if !state.foreign.exchanges.is_empty() => return Err(Rejected::SetAside),
        shortened => shortened?,
    };
    Ok(ExecutionEvent::ExchangeOpened(ExchangeOpened {
        exchange,
        model,
        estimated_input: asking.input,
        estimated_cost: asking.input_cost,
        reserved_output,
        reserved_cost: asking.cost_of_answer(reserved_output),
    }))
}

fn close_exchange(state: &ExecutionState, closed: ExchangeClosed) -> Result<ExecutionEvent, Rejected> {
    match state.foreign.exchanges.contains_key(&closed.exchange) {
        true => Ok(ExecutionEvent::ExchangeClosed(closed)),
        false => Err(Rejected::NoSuchExchange(closed.exchange)),
    }
}

fn create(state: &ExecutionState, header: Header) -> Result<ExecutionEvent, Rejected> {
    match state.header {
        Some(_) => Err(Rejected::AlreadyCreated),
        None => Ok(ExecutionEvent::Header(header)),
    }
}

/// Before anything else: what is said later is said in that conversation.
fn fork(state: &ExecutionState, forked: Box<Forked>) -> Result<ExecutionEvent, Rejected> {
    let is_fresh = state.lifecycle == Lifecycle::Created && state.transcript.is_empty() && state.forked.is_none();
    match (is_fresh, &forked.taken_over, state.is_foreign()) {
        (false, ..) => Err(Rejected::BegunAlready),
        (true, TakenOver::Session(_), false) => Err(Rejected::NotForeign("keeps a conversation of its own")),
        (true, ..) => Ok(ExecutionEvent::Forked(forked)),
    }
}

fn move_to(state: &ExecutionState, to: Lifecycle, reason: String) -> Result<ExecutionEvent, Rejected> {
    let from = state.lifecycle;
    if !from.may_become(to) {
        return Err(Rejected::NoSuchMove { from, to });
    }
    if to == Lifecycle::Completed {
        nothing_open(state)?;
        // What a program asked leave for and never did has to have been answered.
        if let Some(open) = state.open_calls.first() {
            return Err(Rejected::Unfinished(open.call.call_id.clone()));
        }
    }
    Ok(ExecutionEvent::StateChanged(StateChanged { from, to, reason }))
}

/// Between a request and its answer, and between a call and its result, nothing else is said: providers refuse it, and
/// words that arrive under an answer would never be answered. A program that keeps its own conversation sees to that itself.
fn nothing_open(state: &ExecutionState) -> Result<(), Rejected> {
    if state.is_foreign() {
        return Ok(());
    }
    match (&state.open_request, state.open_calls.as_slice()) {
        (Some(_), _) => Err(Rejected::NotYet("an answer is awaited")),
        (None, [_, ..]) => Err(Rejected::NotYet("a call has no result")),
        (None, []) => Ok(()),
    }
}

fn ask(state: &ExecutionState, question: Question, now: Wall) -> Result<ExecutionEvent, Rejected> {
    let Question { purpose, context, estimated_input, estimated_cost } = question;
    if state.lifecycle != Lifecycle::Running {
        return Err(Rejected::NotRunning);
    }
    nothing_open(state)?;
    let limits = &state.header.as_ref().ok_or(Rejected::NotRunning)?.limits;
    if let Some(exhausted) = limits.exhausted(&state.spent_by(now)) {
        return Err(exhausted.into());
    }
    let context = match state.context {
        // A summary is asked for in words of its own.
        _ if !purpose.is_turn() => None,
        None => Some(context),
        Some(known) if known == context => None,
        Some(_) => return Err(Rejected::ContextChanged(context.system)),
    };
    Ok(ExecutionEvent::ModelRequested(ModelRequested {
        iteration: state.spent.iterations + 1,
        purpose,
        prompt: state.prompt,
        messages: match purpose {
            Purpose::Turn => state.transcript.len(),
            Purpose::Summary { from, to } => to.saturating_sub(from),
        },
        context,
        estimated_input,
        estimated_cost,
    }))
}

fn hear_answer(state: &ExecutionState, answer: Answer) -> Result<ExecutionEvent, Rejected> {
    let ModelRequested { iteration, purpose, .. } = *state.open_request.as_ref().ok_or(Rejected::NothingAsked)?;
    let Answer { text, calls, reasoning, stop, usage, lost, cost, retries, duration_ms } = answer;
    // Nobody is offered tools for a summary, and nobody goes on from one.
    let (calls, reasoning) = if purpose.is_turn() { (calls, reasoning) } else { Default::default() };
    check_call_ids(state, &calls)?;
    let response =
        ModelResponded { iteration, purpose, text, calls, reasoning, stop, usage, lost, cost, retries, duration_ms };
    Ok(ExecutionEvent::ModelResponded(response))
}

fn give_up(state: &ExecutionState, no_answer: NoAnswer) -> Result<ExecutionEvent, Rejected> {
    let ModelRequested { iteration, purpose, .. } = *state.open_request.as_ref().ok_or(Rejected::NothingAsked)?;
    let NoAnswer { reason, usage, cost, told } = no_answer;
    let told = told.filter(|_| purpose.is_turn());
    Ok(ExecutionEvent::ModelFailed(ModelFailed { iteration, reason, usage, cost, told }))
}

fn check_call_ids(state: &ExecutionState, calls: &[ToolCall]) -> Result<(), Rejected> {
    let repeated = calls.iter().enumerate().find(|(index, call)| {
        state.has_used(&call.call_id) || calls[..*index].iter().any(|earlier| earlier.call_id == call.call_id)
    });
    match repeated {
        Some((_, call)) => Err(Rejected::CallIdTaken(call.call_id.clone())),
        None => Ok(()),
    }
}

fn open<'a>(state: &'a ExecutionState, call_id: &CallId) -> Result<&'a OpenCall, Rejected> {
    state.open_call(call_id).ok_or_else(|| Rejected::NoSuchCall(call_id.clone()))
}

/// A call is rewritten at most once, asked about before it is started, and approved by the card that was put for it.
fn decide_call(state: &ExecutionState, decision: CallDecision) -> Result<ExecutionEvent, Rejected> {
    let CallDecision { call_id, outcome } = &decision;
    let phase = &open(state, call_id)?.phase;
    match (outcome, phase) {
        (DecisionOutcome::Rewritten { .. }, CallPhase::Asked)
        | (DecisionOutcome::Waiting { .. }, CallPhase::Asked | CallPhase::Rewritten)
        | (
            DecisionOutcome::Question { .. } | DecisionOutcome::Monitoring { .. },
            CallPhase::Asked | CallPhase::Rewritten | CallPhase::Approved(_),
        ) => {}
        (DecisionOutcome::Approved { card_id }, CallPhase::Waiting(Awaited::Card(card))) if card_id == card => {}
        (DecisionOutcome::Approved { card_id }, _) => return Err(Rejected::OtherCard(call_id.clone(), *card_id)),
        (
            DecisionOutcome::Rewritten { .. }
            | DecisionOutcome::Waiting { .. }
            | DecisionOutcome::Question { .. }
            | DecisionOutcome::Monitoring { .. },
            _,
        ) => return Err(Rejected::TooLate(call_id.clone())),
    }
    Ok(ExecutionEvent::DecisionRecorded(decision))
}

fn start(state: &ExecutionState, call_id: CallId, effect: Effect, reach: Reach) -> Result<ExecutionEvent, Rejected> {
    if state.lifecycle != Lifecycle::Running {
        return Err(Rejected::NotRunning);
    }
    let open = open(state, &call_id)?;
    match &open.phase {
        CallPhase::Waiting(_) => return Err(Rejected::Unanswered(call_id)),
        CallPhase::Started { effect: Effect::Once, .. } => return Err(Rejected::OnlyOnce(call_id)),
        CallPhase::Started { effect: started, .. } if *started != effect => return Err(Rejected::AnotherCall(call_id)),
        CallPhase::Asked | CallPhase::Rewritten | CallPhase::Approved(_) | CallPhase::Started { .. } => {}
    }
    let tool = open.call.tool.clone();
    Ok(ExecutionEvent::ToolStarted(ToolStarted { call_id, tool, effect, reach }))
}

/// One agent for a call that was given leave to have one.
fn spawn(state: &ExecutionState, child: SubagentSpawned) -> Result<ExecutionEvent, Rejected> {
    if open(state, &child.call_id)?.started() != Some(&Effect::Child) {
        return Err(Rejected::NeverStarted(child.call_id));
    }
    if state.children.iter().any(|known| known.call_id == child.call_id) {
        return Err(Rejected::OnlyOnce(child.call_id));
    }
    if state.children.len() >= MOST_CHILDREN {
        return Err(Rejected::TooManyChildren);
    }
    Ok(ExecutionEvent::SubagentSpawned(child))
}

fn charge(state: &ExecutionState, child: SubagentFinished) -> Result<ExecutionEvent, Rejected> {
    match state.children.iter().find(|known| known.execution_id == child.execution_id) {
        Some(known) if known.ended.is_some() => Err(Rejected::AlreadyCharged(child.execution_id)),
        _ => Ok(ExecutionEvent::SubagentFinished(child)),
    }
}

fn finish(state: &ExecutionState, outcome: CallOutcome, taint: Taint) -> Result<ExecutionEvent, Rejected> {
    let CallOutcome { call_id, status, content, full_output, images, duration_ms } = outcome;
    let open = open(state, &call_id)?;
    let is_answered = matches!(open.phase, CallPhase::Waiting(Awaited::Question(_) | Awaited::Monitor(_)));
    if status == CallStatus::Ok && open.started().is_none() && !is_answered {
        return Err(Rejected::NeverStarted(call_id));
    }
    let tool = open.call.tool.clone();
    let finished = Finished { call_id, tool, status, content, full_output, images, taint, duration_ms };
    Ok(ExecutionEvent::ToolFinished(finished))
}
