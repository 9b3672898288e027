//! `windlass send TASK|EXECUTION MESSAGE`: the answer to what an agent asks, or words that it hears before its next step.

use std::io::Read as _;

use serde_json::json;
use windlass_domain::execution::{AgentInjection, MessageKind};
use windlass_domain::{RequestId, Taint, TaskId};
use windlass_engine::{Error, LONGEST_MESSAGE, Message, Sent};

use super::drive::explain;
use super::find::{find_listener, find_question, is_driven, whole};
use super::message_kinds::{can_hear, list_kinds};
use super::stop::stop;
use crate::arguments;
use crate::config::Config;
use crate::exit::WrongUse;
use crate::show::{Line, Sheet, Style};
use crate::wiring::Windlass;

pub async fn send(windlass: &Windlass, config: &Config, arguments: arguments::Send) -> anyhow::Result<Sheet> {
    match arguments.kind.map(MessageKind::from) {
        Some(MessageKind::Stop) => {
            let arguments::Send { task, message, output, .. } = arguments;
            stop(windlass, &arguments::Stop { task: Some(task), reason: message.unwrap_or_default(), output }).await
        }
        kind => Box::pin(say(windlass, config, arguments, kind)).await,
    }
}

/// With what standard input says, where that is meant: it is read where the command is typed.
pub fn with_words(arguments: arguments::Send) -> anyhow::Result<arguments::Send> {
    match arguments.message.as_deref() {
        Some("-") => Ok(arguments::Send { message: Some(read_message()?), ..arguments }),
        _ => Ok(arguments),
    }
}

async fn say(
    windlass: &Windlass,
    config: &Config,
    arguments: arguments::Send,
    kind: Option<MessageKind>,
) -> anyhow::Result<Sheet> {
    let task = find_listener(&windlass.engine, &arguments.task).await?;
    if arguments.list {
        return list_kinds(windlass, &windlass.engine.hearers(task, None).await.map_err(explain)?, arguments.output)
            .await;
    }
    let question = match &arguments.question {
        Some(named) => Some(find_question(&windlass.engine, named).await?),
        None => None,
    };
    let sent = Box::pin(tell_all(windlass, config, Said { task, question, kind, text: arguments.message })).await?;
    let mut sheet = Sheet::new();
    match arguments.output.json {
        true => sheet.object(&as_json(task, &sent, kind)),
        false => tell(windlass, (task, &sent, kind), &mut sheet).await?,
    }
    Ok(sheet)
}

/// What is said to whom.
pub struct Said {
    pub task: TaskId,
    pub question: Option<RequestId>,
    pub kind: Option<MessageKind>,
    /// Some kinds have words of their own.
    pub text: Option<String>,
}

/// To all who are to hear it.
pub async fn tell_all(windlass: &Windlass, config: &Config, said: Said) -> anyhow::Result<Sent> {
    let Said { task, question, kind, text } = said;
    let wants_model = kind == Some(MessageKind::Model);
    let mut unfit = wants_model.then(|| is_configured(text.as_deref(), config).err()).flatten();
    let own_words = || kind.and_then(MessageKind::own_words).unwrap_or_default().to_owned();
    let message = Message { text: text.unwrap_or_else(own_words), question, by: windlass.user.clone() };
    let mut sent = Err(nobody_listens(windlass, task).await?);
    for hearer in windlass.engine.hearers(task, question).await.map_err(explain)? {
        if let Some(kind) = kind {
            can_hear(windlass, hearer, kind).await?;
        }
        // What no model can be asked by is said before what this one is not.
        if let Some(unfit) = unfit.take() {
            return Err(unfit.into());
        }
        match deliver(windlass, hearer, &message, kind).await {
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
    sent
}

/// A model of which nothing is known could be neither paid for nor kept from growing too long.
fn is_configured(named: Option<&str>, config: &Config) -> Result<(), WrongUse> {
    let Some(named) = named.filter(|named| !named.trim().is_empty()) else {
        return Err(WrongUse::new("no model is named").hint("windlass send TASK --kind model NAME"));
    };
    let chosen = &config.file.models;
    let known = [&config.openai.model, &config.anthropic.model, &chosen.executor, &chosen.planner];
    let is_named = known.into_iter().flatten().any(|known| known == named);
    match is_named || config.models.described(named).is_some() {
        true => Ok(()),
        false => Err(WrongUse::new(format!("the model `{named}` is not configured"))
            .hint("describe it in models.toml: its window and its price; or name one that windlass.toml names")),
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
        Some(MessageKind::Model) => AgentInjection::switch_model(message.text.trim()),
        Some(kind) => AgentInjection::user_says(&message.text).of_kind(kind),
    };
    if message.text.len() > LONGEST_MESSAGE {
        return Err(Error::MessageTooLong { most: LONGEST_MESSAGE });
    }
    windlass.engine.inject(hearer, injection, Taint::Auth).await.map(|()| Sent::Words)
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
pub fn read_message() -> anyhow::Result<String> {
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
        Sent::Words if matches!(kind, Some(MessageKind::Interrupt | MessageKind::Model)) => ("system_control", None),
        Sent::Words | Sent::TooLate(_) => ("user_message", None),
    };
    let mut result =
        json!({"type": "result", "task_id": task, "injection_type": injection_type, "request_id": request_id});
    if let (Some(kind), Some(result)) = (kind, result.as_object_mut()) {
        result.insert("kind".to_owned(), kind.as_str().into());
    }
    result
}

async fn tell(
    windlass: &Windlass,
    (task, sent, kind): (TaskId, &Sent, Option<MessageKind>),
    sheet: &mut Sheet,
) -> anyhow::Result<()> {
    let (word, mut facts) = match sent {
        Sent::Answer(asked) => ("ANSWERED", vec![format!("question {}", asked.request_id.short())]),
        Sent::Words => ("SENT", kind.map(|kind| kind.as_str().to_owned()).into_iter().collect()),
        Sent::TooLate(question) => {
            ("SENT", vec![format!("question {} has its answer, so that this is a message", question.short())])
        }
    };
    facts.push(format!("task {}", task.short()));
    sheet.print(&Line::new().add(Style::Good, word).gap().facts(Style::Dim, facts));
    let (whole, _) = whole(&windlass.engine, task).await?;
    let is_driven = is_driven(windlass, whole).await?;
    let short = whole.short();
    let then = match (sent, is_driven) {
        (Sent::Answer(_), true) => "the process that works on it goes on with it".to_owned(),
        (Sent::Answer(_), false) => format!("to go on: windlass resume {short}; a worker does so by itself"),
        (_, true) if kind == Some(MessageKind::Interrupt) => {
            format!("the agent stops what it does and waits, while its time runs on: windlass send {short} \"…\"")
        }
        (_, true) if kind == Some(MessageKind::Model) => "it is asked from the next question on".to_owned(),
        (_, false) if kind == Some(MessageKind::Model) => {
            format!("it is asked once the agent goes on: windlass resume {short}")
        }
        (_, true) => "the agent hears it before its next step".to_owned(),
        (_, false) => format!("the agent hears it when it goes on: windlass resume {short}"),
    };
    sheet.print_whole(&Line::new().dim(then));
    Ok(())
}
