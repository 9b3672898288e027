//! What a proxy decided, done: in the commit that ends its turn, with the turn of what was said meanwhile. The proxy only names a
//! route; what may follow from it is decided here. Whoever has read what came from outside controls no task: that is the user's own.

use windlass_domain::coordinate::Names;
use windlass_domain::graph::{GraphAction, PlanProposed, Proposer, Remembered};
use windlass_domain::plan::{AtomId, InteractionMode, Plan};
use windlass_domain::queue::{MessageKind, Sender, Urgency};
use windlass_domain::role_output::{Route, RouteDecision};
use windlass_domain::session::{SessionAction, Speaker, TurnDone, TurnEnded, TurnStarted};
use windlass_domain::task::{Control, TaskAction, TaskCreated, TaskState, Wish};
use windlass_domain::{BaseCase, CommandId, Role, Taint, TaskId, TaskResult, TaskResultStatus};
use windlass_store::Error as StoreError;
use windlass_store::queue::Queue;

use super::journal::SessionJournal;
use crate::Error;
use crate::asked::{Asked, Asker};
use crate::attempt::TaskJournal;
use crate::coordinate::Place;
use crate::dispatch::{Errand, Letter};
use crate::engine::Engine;
use crate::graph::GraphJournal;
use crate::host::Rider;
use crate::questions::Message;

/// Why, where a user's own words say no more.
const ASKED: &str = "asked for in the conversation";
const NOBODY_YET: &str =
    "Nobody works on that task yet who could hear it. To have its plan changed: `windlass edit CARD --note`.";
/// Without the questions themselves, which are in the words of agents.
const WHICH: &str = "That task has asked several questions, and this does not say which it answers: `windlass inbox` shows them, and \
                     `windlass send TASK --question ID` answers one.";
/// Others may write to the same streams meanwhile; nobody does so for long.
const TRIES: usize = 16;

/// Seed 001 §2.3.
const TURN: Errand = Errand {
    queue: Queue::Proxy,
    from: (Sender::User, MessageKind::UserMessage),
    urgency: Urgency::NeedsAttention,
    late: None,
};
const BEGIN: Errand = Errand {
    queue: Queue::Runtime,
    from: (Sender::Runtime, MessageKind::SystemEvent),
    urgency: Urgency::NeedsAttention,
    late: None,
};

/// Adds what follows from the end of a turn to the commit that ends it.
pub async fn end_turn(
    engine: &Engine,
    state: &TaskState,
    created: &TaskCreated,
    result: &TaskResult,
    rider: &mut Rider,
) -> Result<(), Error> {
    let shared = &engine.shared;
    let mut journal = engine.session_journal(created.command.session_id).await?;
    let Some(turn) = journal.state.turn.clone().filter(|turn| turn.run == result.task_id) else { return Ok(()) };
    let (taint, _) = state.inherited();
    let decision = decided(result);
    let acting = Acting { engine, created, words: &turn.words, by: &turn.by, taint };
    let done = acting.act(&decision, &mut journal, rider).await?;
    let ended = TurnEnded { run: result.task_id, decision, done, taint };
    journal.ride(rider, [SessionAction::End(Box::new(ended))], &shared.redactor, taint, shared.wall())?;
    acting.next_turn(&mut journal, rider).await
}

/// As a rule for whoever writes the plan: what it says of each item is approved and held.
fn wants_to_be_asked(decision: &RouteDecision) -> Option<String> {
    let always = decision.interaction_mode == Some(InteractionMode::ConfirmAlways);
    always.then(|| {
        "The user wants to be asked before every change: give every task `interaction_mode: confirm_always`.".to_owned()
    })
}

fn decided(result: &TaskResult) -> RouteDecision {
    match (&result.final_message, &result.error_details) {
        (Some(said), _) if result.status == TaskResultStatus::Completed => RouteDecision::of(said),
        (_, Some(error)) => RouteDecision::direct(&format!("I could not think about that: {}", error.message)),
        _ => RouteDecision::direct("I could not think about that."),
    }
}

struct Acting<'a> {
    engine: &'a Engine,
    /// The turn's own, which others are made of.
    created: &'a TaskCreated,
    words: &'a str,
    by: &'a Speaker,
    taint: Taint,
}

impl Acting<'_> {
    async fn act(
        &self,
        decision: &RouteDecision,
        journal: &mut SessionJournal,
        rider: &mut Rider,
    ) -> Result<TurnDone, Error> {
        match decision.route {
            Route::Direct | Route::SmallTalk => Ok(TurnDone::Answered),
            Route::Planner => self.begin(None, decision, journal, rider).await,
            Route::NewTask => self.begin(Some(self.one_item(decision)), decision, journal, rider).await,
            Route::InjectIntoActive | Route::CancelTask | Route::PauseTask | Route::ResumeTask => {
                self.steer(decision, journal, rider).await
            }
        }
    }

    /// The user's words as a plan of one item, which is asked about like any other.
    fn one_item(&self, decision: &RouteDecision) -> Plan {
        let title: String = self.words.lines().next().unwrap_or_default().chars().take(200).collect();
        let id = AtomId::parse("request").expect("a plain word");
        let Plan(mut item) = Plan::of_one(id, title, self.words.to_owned());
        item.interaction_mode = decision.interaction_mode.unwrap_or(item.interaction_mode);
        Plan(item)
    }

    /// A task of the session: nothing of it is done before somebody has agreed to its plan.
    async fn begin(
        &self,
        plan: Option<Plan>,
        decision: &RouteDecision,
        journal: &mut SessionJournal,
        rider: &mut Rider,
    ) -> Result<TurnDone, Error> {
        let shared = &self.engine.shared;
        let now = shared.wall();
        let task = TaskId::new(now, shared.runtime.random());
        let place = match self.engine.take_place(rider, journal, task, Names::default()).await {
            Err(Error::TooManySessions(full)) => {
                return Ok(TurnDone::Not { why: format!("I cannot begin that: {full}.") });
            }
            place => place?,
        };
        let base = self.engine.capture(self.created.workspace.clone().into()).await?;
        let execution_config = self.created.command.execution_config.for_work();
        let mut constraints = self.created.command.constraints.clone();
        constraints.extend(wants_to_be_asked(decision).filter(|_| plan.is_none()));
        let created = TaskCreated {
            model: self.created.model.named(&execution_config.model),
            command: windlass_domain::task::TaskCommand {
                command_id: CommandId::new(now, shared.runtime.random()),
                task_id: task,
                goal: self.words.to_owned(),
                constraints,
                execution_config,
                ..self.created.command.clone()
            },
            agent_id: "executor".to_owned(),
            role: Role::Executor,
            base_case: BaseCase(Vec::new()),
            baseline: Some(base),
            planned: true,
            aligns: false,
            turn: None,
            ..self.created.clone()
        };
        self.take(created, BEGIN, place, rider)?;
        if let Some(plan) = plan {
            let by = Proposer::User;
            let proposed = PlanProposed {
                revision: 1,
                by,
                base,
                plan: Ok(plan),
                document: None,
                taint: self.taint,
                remembered: Remembered::default(),
            };
            let propose = [GraphAction::Propose(Box::new(proposed))];
            GraphJournal::new(task).ride(rider, propose, &shared.redactor, self.taint, now)?;
        }
        Ok(TurnDone::Began { task })
    }

    fn take(&self, created: TaskCreated, errand: Errand, place: Place, rider: &mut Rider) -> Result<(), Error> {
        let shared = &self.engine.shared;
        let task = created.command.task_id;
        let letter = Letter::to(&created, errand);
        let journal = TaskJournal::new(task);
        let create = TaskAction::Create(Box::new(created));
        let actions = std::iter::once(create).chain(place.rests()).collect();
        let decided = journal.decide(actions, &shared.redactor, self.taint, shared.wall());
        let decided = decided.map_err(|refused| Error::Broken { task, detail: refused.to_string() })?;
        rider.expect.push((journal.stream, journal.head));
        rider.events.extend(decided.rows);
        match place {
            Place::Begins => self.engine.post(rider, letter),
            Place::Waits { .. } => Ok(()),
        }
    }

    async fn steer(
        &self,
        decision: &RouteDecision,
        journal: &SessionJournal,
        rider: &mut Rider,
    ) -> Result<TurnDone, Error> {
        let not = |why: &str| Ok(TurnDone::Not { why: why.to_owned() });
        let named = decision.task_id.as_deref().unwrap_or_default().trim();
        let of_session = |task: &&TaskId| !named.is_empty() && task.to_string().starts_with(named);
        let mut meant = journal.state.tasks.iter().filter(of_session);
        let (Some(task), None) = (meant.next().copied(), meant.next()) else {
            return not("No task of this conversation is meant by that; `windlass status` lists them.");
        };
        if self.engine.task(task).await?.is_over() {
            return not("That task has ended.");
        }
        if self.taint > Taint::Auth && decision.route != Route::InjectIntoActive {
            return not(
                "I have read things from outside, so that this is yours to do: `windlass cancel TASK` ends it, `windlass \
                 resume TASK` goes on with it, and Ctrl-C where it runs pauses it.",
            );
        }
        let wish = || Wish { reason: ASKED.to_owned() };
        let asked = match decision.route {
            Route::CancelTask => Some(Asked::Cancel(ASKED)),
            Route::PauseTask => Some(Asked::Pause(ASKED)),
            Route::ResumeTask => Some(Asked::Resume(ASKED)),
            _ => None,
        };
        let Speaker { user_id, channel } = self.by.clone();
        let asker = Asker::Outside { by: user_id, channel };
        rider.events.extend(asked.and_then(|asked| self.engine.shared.asked(task, asked, &asker)));
        match decision.route {
            Route::CancelTask => self.tell(task, Control::Cancel(wish()), rider).await?,
            Route::PauseTask => self.tell(task, Control::Pause(wish()), rider).await?,
            Route::ResumeTask => self.engine.go_on_with(rider, task).await?,
            _ => return self.pass_on(task, rider).await,
        }
        Ok(TurnDone::Told { task })
    }

    /// The words answer the task's question, or are heard by whoever works on it. Where nobody hears them nothing is added, and the turn ends
    /// all the same.
    async fn pass_on(&self, task: TaskId, rider: &mut Rider) -> Result<TurnDone, Error> {
        let message = Message { text: self.words.to_owned(), question: None, by: self.by.user_id.clone() };
        let mut tries = 0;
        let why = loop {
            tries += 1;
            match self.engine.add_words(rider, task, &message, Taint::Auth).await {
                Ok(_) => return Ok(TurnDone::Told { task }),
                // Somebody else has answered, or begun to work on it, meanwhile.
                Err(Error::Store(StoreError::Conflict { .. }) | Error::Question(_)) if tries < TRIES => {}
                Err(Error::NobodyHears(_)) => break NOBODY_YET.to_owned(),
                Err(Error::SeveralQuestions { .. }) => break WHICH.to_owned(),
                Err(cannot @ (Error::TooLate(_) | Error::Over(_) | Error::MessageTooLong { .. })) => {
                    break format!("I cannot pass that on: {cannot}.");
                }
                Err(error) => return Err(error),
            }
        };
        Ok(TurnDone::Not { why })
    }

    async fn tell(&self, task: TaskId, control: Control, rider: &mut Rider) -> Result<(), Error> {
        let is_to_end = matches!(control, Control::Cancel(_));
        rider.messages.push(self.engine.mail(task, control, Taint::Auth)?);
        match is_to_end {
            true => self.engine.wake_to_end(rider, task).await,
            false => self.engine.wake_for(rider, task, None).await,
        }
    }

    /// What was said meanwhile has its turn.
    async fn next_turn(&self, journal: &mut SessionJournal, rider: &mut Rider) -> Result<(), Error> {
        let Some(said) = journal.state.unheard.first().cloned() else { return Ok(()) };
        let shared = &self.engine.shared;
        let now = shared.wall();
        let run = TaskId::new(now, shared.runtime.random());
        let goal = self.engine.told(&journal.state, &said.words).await?;
        // What was said before options were kept with it has those of the turn before.
        let template = said.template.as_deref().unwrap_or(self.created);
        let created = TaskCreated {
            command: windlass_domain::task::TaskCommand {
                command_id: CommandId::new(now, shared.runtime.random()),
                task_id: run,
                goal,
                ..template.command.clone()
            },
            turn: Some(said.message_id),
            ..template.clone()
        };
        self.take(created, TURN, Place::Begins, rider)?;
        let start = [SessionAction::Start(TurnStarted { message_id: said.message_id, run })];
        journal.ride(rider, start, &shared.redactor, Taint::Auth, now)
    }
}
