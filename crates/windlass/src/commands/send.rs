//! `windlass send TASK MESSAGE`: the answer to what an agent asks, or words that it hears before its next step.

use std::io::Read as _;

use serde_json::json;
use windlass_domain::execution::{AgentInjection, MessageKind};
use windlass_domain::{QuestionAsked, RequestId, Taint, TaskId};
use windlass_engine::{Error, LONGEST_MESSAGE, Message, Sent};

use super::drive::explain;
use super::find::{find, find_question, is_driven, whole};
use super::message_kinds::{can_hear, list_kinds};
use super::stop::stop;
use crate::arguments;
use crate::config::Config;
use crate::exit::{Exit, WrongUse};
use crate::show::{Line, Screen, Style, print_json};
use crate::wiring::Windlass;

pub async fn send(arguments: arguments::Send) -> anyhow::Result<Exit> {
    match arguments.kind.map(MessageKind::from) {
        Some(MessageKind::Stop) => {
            let arguments::Send { task, message, output, .. } = arguments;
            stop(arguments::Stop { task: Some(task), reason: message.unwrap_or_default(), output }).await
        }
        kind => Box::pin(say(arguments, kind)).await,
    }
}

async fn say(arguments: arguments::Send, kind: Option<MessageKind>) -> anyhow::Result<Exit> {
    let windlass = Windlass::open(Config::look()?)?;
    let task = find(&windlass.engine, &arguments.task).await?;
    if arguments.list {
        return list_kinds(&windlass, &hearers(&windlass, task, None).await.map_err(explain)?, arguments.output).await;
    }
    let question = match &arguments.question {
        Some(named) => Some(find_question(&windlass.engine, named).await?),
        None => None,
    };
    let text = words(arguments.message, kind)?;
    let message = Message { text, question, by: windlass.user.clone() };
    let mut sent = Err(nobody_listens(&windlass, task).await?);
    for hearer in hearers(&windlass, task, question).await.map_err(explain)? {
        if let Some(kind) = kind {
            can_hear(&windlass, hearer, kind).await?;
        }
        match deliver(&windlass, hearer, &message, kind).await {
            // Others who work on the same hear it.
            Err(Error::TooLate(_) | Error::Over(_)) if sent.is_ok() => {}
            Err(late @ (Error::TooLate(_) | Error::Over(_))) => sent = Err(explain(late)),
            Err(error) => {
                sent = Err(explain(error));
                break;
            }
            Ok(heard) => sent = Ok(heard),
        }
    }
    windlass.engine.close().await?;
    let sent = sent?;
    match arguments.output.json {
        true => print_json(&as_json(task, &sent, kind)),
        false => tell(&windlass, task, &sent, kind).await?,
    }
    Ok(Exit::Completed)
}

/// What is said; of some kinds there are words of our own.
fn words(said: Option<String>, kind: Option<MessageKind>) -> anyhow::Result<String> {
    match said {
        Some(said) if said == "-" => read_message(),
        Some(said) => Ok(said),
        None => Ok(kind.and_then(MessageKind::own_words).unwrap_or_default().to_owned()),
    }
}

/// Prompts and replies answer a question where there is one; the other kinds are never an answer.
async fn deliver(
    windlass: &Windlass,
    hearer: TaskId,
    message: &Message,
    kind: Option<MessageKind>,
) -> Result<Sent, Error> {
    let injection = match kind {
        None | Some(MessageKind::Prompt | MessageKind::Reply) => return windlass.engine.send(hearer, message).await,
        Some(MessageKind::Interrupt) => AgentInjection::interrupt(),
        Some(kind) => AgentInjection::user_says(&message.text).of_kind(kind),
    };
    if message.text.len() > LONGEST_MESSAGE {
        return Err(Error::MessageTooLong { most: LONGEST_MESSAGE });
    }
    windlass.engine.inject(hearer, injection, Taint::Auth).await.map(|()| Sent::Words)
}

/// Who hears what is said to the task. A planned one has no agent of its own: who asked hears the answer, and all who work on items
/// or write the plan hear anything else.
async fn hearers(windlass: &Windlass, task: TaskId, question: Option<RequestId>) -> Result<Vec<TaskId>, Error> {
    let engine = &windlass.engine;
    if !engine.task(task).await?.created.is_some_and(|created| created.planned) {
        return Ok(vec![task]);
    }
    let members = engine.members(task).await?;
    let open = engine.questions().await?.into_iter().map(|open| open.asked);
    let is_meant = |asked: &QuestionAsked| question.is_none_or(|named| named == asked.request_id);
    let open: Vec<QuestionAsked> = open.filter(|asked| members.contains(&asked.task_id) && is_meant(asked)).collect();
    match open.as_slice() {
        [] => Ok(engine.graph(task).await?.running()),
        [only] => Ok(vec![only.task_id]),
        _ => Err(Error::SeveralQuestions { task, open }),
    }
}

async fn nobody_listens(windlass: &Windlass, task: TaskId) -> anyhow::Result<anyhow::Error> {
    let short = task.short();
    let card = windlass.engine.asks(task).await?.into_iter().find_map(|(_, about)| about.card());
    let mistake = WrongUse::new(format!("nobody works on task {short} who could hear it"));
    Ok(match card {
        Some(card) => mistake.hint(format!("to have the plan changed: windlass edit {} --note \"…\"", card.short())),
        None => mistake.hint(format!("to go on with it: windlass resume {short}")),
    }
    .into())
}

/// One byte more than may be sent is enough to know that it is too much.
pub(super) fn read_message() -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    std::io::stdin().take(LONGEST_MESSAGE as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > LONGEST_MESSAGE {
        return Err(explain(windlass_engine::Error::MessageTooLong { most: LONGEST_MESSAGE }));
    }
    let text = String::from_utf8(bytes).map_err(|_| WrongUse::new("what standard input says is not text"))?;
    Ok(text.trim_end().to_owned())
}

fn as_json(task: TaskId, sent: &Sent, kind: Option<MessageKind>) -> serde_json::Value {
    let (injection_type, request_id) = match sent {
        Sent::Answer(asked) => ("hitl_response", Some(asked.request_id)),
        Sent::Words if kind == Some(MessageKind::Interrupt) => ("system_control", None),
        Sent::Words | Sent::TooLate(_) => ("user_message", None),
    };
    let mut result =
        json!({"type": "result", "task_id": task, "injection_type": injection_type, "request_id": request_id});
    if let (Some(kind), Some(result)) = (kind, result.as_object_mut()) {
        result.insert("kind".to_owned(), kind.as_str().into());
    }
    result
}

async fn tell(windlass: &Windlass, task: TaskId, sent: &Sent, kind: Option<MessageKind>) -> anyhow::Result<()> {
    let (word, mut facts) = match sent {
        Sent::Answer(asked) => ("ANSWERED", vec![format!("question {}", asked.request_id.short())]),
        Sent::Words => ("SENT", kind.map(|kind| kind.as_str().to_owned()).into_iter().collect()),
        Sent::TooLate(question) => {
            ("SENT", vec![format!("question {} has its answer, so that this is a message", question.short())])
        }
    };
    facts.push(format!("task {}", task.short()));
    let mut screen = Screen::new();
    screen.print(&Line::new().add(Style::Good, word).gap().facts(Style::Dim, facts));
    let (whole, _) = whole(&windlass.engine, task).await?;
    let is_driven = is_driven(windlass, whole).await?;
    let short = whole.short();
    let then = match (sent, is_driven) {
        (Sent::Answer(_), true) => "the process that works on it goes on with it".to_owned(),
        (Sent::Answer(_), false) => format!("to go on: windlass resume {short}; a worker does so by itself"),
        (_, true) if kind == Some(MessageKind::Interrupt) => {
            format!("the agent stops what it does and waits, while its time runs on: windlass send {short} \"…\"")
        }
        (_, true) => "the agent hears it before its next step".to_owned(),
        (_, false) => format!("the agent hears it when it goes on: windlass resume {short}"),
    };
    screen.print_whole(&Line::new().dim(then));
    Ok(())
}
