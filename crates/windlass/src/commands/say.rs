//! `windlass say "…"`: a message in the conversation about a folder. The answer is there at once; work that it begins is then shown and
//! asked about here as `run` does, or left to workers. What is said while another turn is under way has its own next.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windlass_domain::execution::{ExecutionEvent, OwnerEffect};
use windlass_domain::role_output::Route;
use windlass_domain::session::{TurnDone, TurnEnded};
use windlass_domain::task::TaskEvent;
use windlass_domain::{
    Delta, ErrorDetails, ExecutionId, SessionId, TaskId, TaskResult, TaskResultStatus, Tenant, Wall,
};
use windlass_engine::{Accepted, Dispatch, Error, JournalRecord, NobodyWatches, Planning, Saying, Submission, Watcher};
use windlass_store::Topic;

use super::drive::{Before, explain, settle, work};
use super::find::is_driven;
use super::load::load_to_work;
use super::order::Order;
use super::patterns::gather_patterns;
use super::run::submission;
use super::send::read_message;
use crate::arguments::{self, Output, PlanningLimits};
use crate::config::Config;
use crate::exit::{Exit, WrongUse};
use crate::interrupts::Interrupts;
use crate::keyboard::Keyboard;
use crate::patterns::Patterns;
use crate::show::{Hush, Line, Screen, Style, Teller, finish, json_result, print_json, quoted, teller};
use crate::wiring::Windlass;

/// How often it is looked without a hint.
const LOOK_EVERY: Duration = Duration::from_secs(1);

pub async fn say(arguments: arguments::Say) -> anyhow::Result<Exit> {
    let words = if arguments.message == "-" { read_message()? } else { arguments.message.clone() };
    if words.trim().is_empty() {
        return Err(WrongUse::new("the message is empty").hint("say something: windlass say \"…\"").into());
    }
    let (output, detach) = (arguments.output, arguments.detach);
    let name = arguments.session.clone().unwrap_or_default();
    let config = load_to_work().await?;
    let patterns = gather_patterns(&config, &arguments.workspace).await?;
    let order = Order {
        model: arguments.model,
        rehearsal: arguments.rehearsal,
        limits: arguments.limits.into(),
        sandbox: arguments.sandbox,
        ..Order::new(words.clone(), arguments.workspace)
    };
    let template = template(&order, &config, &patterns)?;
    let session = SessionId::of(&template.workspace.to_string_lossy(), &name);
    let windlass = Windlass::open_to_work(config).await?;
    let saying = Saying { session: Some(session), words, template };
    let accepted = Box::pin(windlass.engine.say(saying, Dispatch::Here)).await.map_err(explain)?;
    let turn: Arc<dyn Teller> = Arc::new(TurnTeller { output: Some(output) });
    let ended = match Box::pin(answered(&windlass, accepted, &turn)).await? {
        Ok(ended) => ended,
        Err(exit) => {
            windlass.engine.close().await?;
            return Ok(exit);
        }
    };
    tell_turn(&ended, accepted, output);
    Box::pin(go_on(windlass, &ended, output, detach)).await
}

/// The same beside a page that shows the conversation: nothing is printed, and work that begins is left to workers. What there is to say
/// besides the answer.
pub async fn said_beside(words: String, session: SessionId, workspace: PathBuf) -> anyhow::Result<Vec<Line>> {
    let config = load_to_work().await?;
    let patterns = gather_patterns(&config, &workspace).await?;
    let order = Order { limits: PlanningLimits::default().into(), ..Order::new(words.clone(), workspace) };
    let template = template(&order, &config, &patterns)?;
    let windlass = Windlass::open_to_work(config).await?;
    let saying = Saying { session: Some(session), words, template };
    let accepted = Box::pin(windlass.engine.say(saying, Dispatch::Here)).await.map_err(explain)?;
    let unheard: Arc<dyn Teller> = Arc::new(TurnTeller { output: None });
    let answered = Box::pin(answered(&windlass, accepted, &unheard)).await;
    let lines = match answered? {
        Ok(ended) => beside(&windlass, &ended).await?,
        Err(_) => vec![Line::new().plain("it is kept, and answered by whoever works on it next")],
    };
    windlass.engine.close().await?;
    Ok(lines)
}

async fn beside(windlass: &Windlass, ended: &TurnEnded) -> anyhow::Result<Vec<Line>> {
    let noted = note(ended).map(|note| Line::marked(Style::Accent, "▸ ").plain(note));
    let mut lines: Vec<Line> = noted.into_iter().collect();
    if let TurnDone::Not { why } = &ended.done {
        lines.extend(quoted(why));
    }
    if let TurnDone::Began { task } | TurnDone::Told { task } = &ended.done
        && !is_driven(windlass, *task).await?
    {
        lines.push(Line::new().dim(format!("to go on: windlass resume {}; a worker does so by itself", task.short())));
    }
    Ok(lines)
}

/// What the turn, and what it begins, is carried out with.
pub(super) fn template(order: &Order, config: &Config, patterns: &Patterns) -> anyhow::Result<Submission> {
    let is_chosen = order.model.is_none() && order.rehearsal.is_none();
    let planned = submission(order, config, Planning::Wanted, patterns)?;
    let mut template = Submission { planning: Planning::None, ..planned };
    if let Some(proxy) = config.file.models.proxy.clone().filter(|_| is_chosen) {
        template.config.work_model = Some(std::mem::replace(&mut template.config.model, proxy));
    }
    Ok(template)
}

/// Works on turns of the conversation until this message has had its own. `Err`: it has none yet, and why was said.
async fn answered(
    windlass: &Windlass,
    accepted: Accepted,
    teller: &Arc<dyn Teller>,
) -> anyhow::Result<Result<TurnEnded, Exit>> {
    let Accepted { session, message, .. } = accepted;
    let engine = &windlass.engine;
    let mut hints = windlass.store.notifier().subscribe(Topic::Events { tenant: Tenant::local() });
    loop {
        if let Some(ended) = engine.turn_about(session, message).await.map_err(explain)? {
            return Ok(Ok(ended));
        }
        // One that was said before may have to be answered first.
        let Some(turn) = engine.session(session).await.map_err(explain)?.turn else {
            hints.changed(LOOK_EVERY).await;
            continue;
        };
        match Box::pin(work(windlass, turn.run, teller, Before::Taken, Interrupts::new()?)).await {
            Ok(Exit::Completed | Exit::Failed) => {}
            Ok(exit) => return Ok(Err(exit)),
            Err(Error::HeldElsewhere { .. } | Error::LeaseLost(_)) => {
                hints.changed(LOOK_EVERY).await;
            }
            Err(error) => return Err(explain(error)),
        }
    }
}

pub fn tell_turn(ended: &TurnEnded, accepted: Accepted, output: Output) {
    let words = said(ended);
    if output.json {
        let Accepted { session, message, .. } = accepted;
        return print_json(&json!({
            "type": "answer",
            "session_id": session,
            "message_id": message,
            "route": ended.decision.route,
            "response": words,
            "done": ended.done,
        }));
    }
    let mut screen = Screen::new();
    quoted(words.trim()).for_each(|line| screen.print_whole(&line));
    if let Some(note) = note(ended) {
        screen.print_whole(&Line::marked(Style::Accent, "▸ ").plain(note));
    }
}

/// What the user reads.
fn said(ended: &TurnEnded) -> String {
    match &ended.done {
        TurnDone::Not { why } => why.clone(),
        _ => ended.decision.response.clone().unwrap_or_default(),
    }
}

/// What was done about it, in the program's own words.
fn note(ended: &TurnEnded) -> Option<String> {
    match &ended.done {
        TurnDone::Answered | TurnDone::Not { .. } => None,
        TurnDone::Began { task } => Some(format!("begun: task {}", task.short())),
        TurnDone::Told { task } => {
            let what = match ended.decision.route {
                Route::CancelTask => "is asked to stop for good",
                Route::PauseTask => "is asked to pause",
                Route::ResumeTask => "goes on",
                _ => "is told",
            };
            Some(format!("task {} {what}", task.short()))
        }
    }
}

/// What follows from the turn, as far as that is this process's to do.
async fn go_on(windlass: Windlass, ended: &TurnEnded, output: Output, detach: bool) -> anyhow::Result<Exit> {
    match (&ended.done, ended.decision.route) {
        (TurnDone::Began { task }, _) if !detach => {
            return work_on(&windlass, *task, output, Before::Taken).await;
        }
        (TurnDone::Told { task }, Route::ResumeTask) if !detach && !is_driven(&windlass, *task).await? => {
            return work_on(&windlass, *task, output, Before::SoFar).await;
        }
        (TurnDone::Told { task }, Route::CancelTask | Route::PauseTask) if !is_driven(&windlass, *task).await? => {
            match windlass.engine.drive(*task, Arc::new(NobodyWatches)).await {
                // Whoever has taken it meanwhile hears of it.
                Ok(_) | Err(Error::HeldElsewhere { .. } | Error::LeaseLost(_)) => {}
                Err(error) => return Err(explain(error)),
            }
        }
        (TurnDone::Told { task }, Route::InjectIntoActive) if !is_driven(&windlass, *task).await? => {
            let then = format!("it is heard when the task goes on: windlass resume {}", task.short());
            if !output.json {
                Screen::new().print_whole(&Line::new().dim(then));
            }
        }
        _ => {}
    }
    if output.json {
        print_json(&turn_as_result(ended));
    }
    windlass.engine.close().await?;
    Ok(Exit::Completed)
}

/// As `run` does, unless a worker was faster.
async fn work_on(windlass: &Windlass, task: TaskId, output: Output, before: Before) -> anyhow::Result<Exit> {
    let teller = teller(output);
    match Box::pin(work(windlass, task, &teller, before, Interrupts::new()?)).await {
        Err(Error::HeldElsewhere { .. } | Error::LeaseLost(_) | Error::Overtaken(_)) => {
            let watch = format!("another process works on it; to watch it: windlass log -f {}", task.short());
            match output.json {
                true => print_json(&json!({"type": "result", "task_id": task, "detached": true})),
                false => teller.remark(&watch),
            }
            settle(windlass, task, teller.as_ref(), Ok(Exit::Completed)).await
        }
        worked => settle(windlass, task, teller.as_ref(), worked).await,
    }
}

pub fn turn_as_result(ended: &TurnEnded) -> Value {
    let task = match &ended.done {
        TurnDone::Began { task } | TurnDone::Told { task } => Some(task),
        TurnDone::Answered | TurnDone::Not { .. } => None,
    };
    json!({"type": "result", "status": TaskResultStatus::Completed, "task_id": task, "done": ended.done})
}

/// Of a turn only what its user is told meanwhile, and what keeps it from its end.
struct TurnTeller {
    /// None: there is nobody to tell it to.
    output: Option<Output>,
}

impl TurnTeller {
    /// To a person.
    const fn speaks(&self) -> bool {
        matches!(self.output, Some(Output { json: false }))
    }
}

impl Watcher for TurnTeller {
    fn task(&self, _: TaskId, _: &TaskEvent, _: Wall) {}

    fn execution(&self, _: ExecutionId, event: &ExecutionEvent, _: Wall) {
        let ExecutionEvent::OwnerEffect(OwnerEffect::Told { message, .. }) = event else { return };
        match self.output {
            None => {}
            Some(Output { json: true }) => print_json(&json!({"type": "told", "message": message})),
            Some(_) => quoted(message.trim()).for_each(|line| Screen::new().print_whole(&line)),
        }
    }

    fn delta(&self, _: ExecutionId, _: Delta) {}

    fn trouble(&self, what: &str) {
        self.remark(what);
    }
}

impl Teller for TurnTeller {
    fn begin(&self, _: &[JournalRecord]) {}

    fn so_far(&self, _: &[JournalRecord]) {}

    fn tell(&self, _: &JournalRecord) {}

    fn can_ask(&self) -> bool {
        self.speaks() && Keyboard::look().is_some()
    }

    fn hush(&self, _: Hush) {}

    fn remark(&self, text: &str) {
        if self.speaks() {
            Screen::new().print_whole(&Line::new().dim(text));
        }
    }

    fn tick(&self, _: Duration) {}

    fn end(&self, result: &TaskResult) {
        match result.status {
            TaskResultStatus::Completed | TaskResultStatus::Failed => {}
            _ if self.speaks() => finish(result).iter().for_each(|line| Screen::new().print_whole(line)),
            _ => self.output.iter().for_each(|_| print_json(&json_result(result))),
        }
    }

    fn cut_off(&self, _: TaskId, _: Option<&TaskResult>, _: &ErrorDetails) {}
}
