//! Where what is shown comes from and what is decided goes: this machine's data directory or a server. Both carry out the same errands, so
//! that a card is answered here as `windlass approve` does it, and by nothing else.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use windlass_api::client::{Error, Events};
use windlass_api::{SaidAccepted, SayRequest, Session, SessionRequest};
use windlass_domain::{Runtime, SessionId};
use windlass_engine::Hints;

use super::input::{Effect, Trouble};
use super::sight::{Look, Told};
use crate::arguments::{Approve, Deny, Edit, Output, Send};
use crate::commands::{Errand, done_here, said_beside};
use crate::config::Config;
use crate::elsewhere::{Far, explained};
use crate::exit::WrongUse;
use crate::show::{Line, Style};
use crate::wiring::Windlass;

/// A hint may be lost; and how long to wait for a server that is away.
const LOOK_ANYWAY: Duration = Duration::from_secs(2);
/// What happens within this time is looked at together.
const TOGETHER: Duration = Duration::from_millis(150);

const OUTPUT: Output = Output { json: false };

pub enum Source<'a> {
    Here { windlass: Box<Windlass>, config: Box<Config> },
    There(&'a Far),
}

impl Source<'_> {
    /// Whose data it is.
    pub fn place(&self) -> String {
        match self {
            Self::Here { config, .. } => config.data_dir.display().to_string(),
            Self::There(far) => far.client.address().to_string(),
        }
    }

    /// The conversation about this folder, or about the one that a server means where none is named. None: whoever asks may only look.
    pub async fn home(&self, folder: PathBuf, name: String) -> anyhow::Result<Option<(SessionId, String)>> {
        match self {
            Self::Here { .. } => {
                let folder = folder.canonicalize().unwrap_or(folder).to_string_lossy().into_owned();
                Ok(Some((SessionId::of(&folder, &name), folder)))
            }
            Self::There(far) => {
                let workspace = crate::elsewhere::folder(&folder)?;
                match far.client.post::<Session>("/v1/sessions", &SessionRequest { workspace, name }).await {
                    Ok(session) => Ok(Some((session.session_id.parse()?, session.workspace.unwrap_or_default()))),
                    Err(Error::Refused(problem)) if problem.status == 403 => Ok(None),
                    Err(error) => Err(explained(error)),
                }
            }
        }
    }

    pub async fn look(&self, look: Look) -> Result<Told, Trouble> {
        match self {
            Self::Here { windlass, .. } => Box::pin(super::look(windlass, look)).await.map_err(|error| trouble(&error)),
            Self::There(far) => far.answer(Errand::Top(look)).await.map_err(far_trouble),
        }
    }

    /// What the program says about it.
    pub async fn answer(&self, effect: Effect) -> Result<Vec<Line>, Trouble> {
        let Some(errand) = errand(effect) else { return Ok(Vec::new()) };
        match self {
            Self::Here { .. } => match Box::pin(done_here(errand)).await {
                Ok(sheet) => Ok(sheet.into_lines()),
                Err(error) => Err(Trouble::Refused(in_lines(&error))),
            },
            Self::There(far) => far.asked(errand).await.map(crate::show::Sheet::into_lines).map_err(far_trouble),
        }
    }

    pub async fn say(&self, session: SessionId, folder: Option<String>, words: String) -> Result<Vec<Line>, Trouble> {
        match self {
            Self::Here { .. } => {
                let folder = folder.map_or_else(|| PathBuf::from("."), PathBuf::from);
                let said = Box::pin(said_beside(words, session, folder)).await;
                said.map_err(|error| Trouble::Refused(in_lines(&error)))
            }
            Self::There(far) => {
                let request = SayRequest { message: words, workspace: folder, ..SayRequest::default() };
                let place = format!("/v1/sessions/{session}/messages");
                far.client.post::<SaidAccepted>(&place, &request).await.map(|_| Vec::new()).map_err(far_trouble)
            }
        }
    }

    pub fn watch(&self) -> Watch<'_> {
        match self {
            Self::Here { windlass, .. } => {
                Watch::Here { hints: windlass.engine.hints(), runtime: Arc::clone(&windlass.runtime) }
            }
            Self::There(far) => Watch::There { far, position: None, events: None },
        }
    }
}

fn errand(effect: Effect) -> Option<Errand> {
    let output = OUTPUT;
    Some(match effect {
        Effect::Approve { card, confirmed } => {
            Errand::Approve(Approve { card, note: String::new(), conditions: Vec::new(), yes: confirmed, output })
        }
        Effect::Decline { card, note } => Errand::Deny(Deny { card, note, output }),
        Effect::SendBack { card, note } => Errand::Edit(Edit { card, note, output }),
        Effect::Reply { task, question, words } => {
            let (message, question) = (Some(words), Some(question));
            Errand::Send(Send { task: task.to_string(), message, question, kind: None, list: false, output })
        }
        Effect::Look(_) | Effect::Say { .. } | Effect::Repaint | Effect::Leave => return None,
    })
}

/// When it is worth looking again.
pub enum Watch<'a> {
    Here {
        hints: Hints,
        runtime: Arc<dyn Runtime>,
    },
    /// `position` is the last that was told; none before it is known where there is something to follow.
    There {
        far: &'a Far,
        position: Option<u64>,
        events: Option<Box<Events>>,
    },
}

impl Watch<'_> {
    pub async fn changed(&mut self) {
        match self {
            Self::Here { hints, runtime } => {
                hints.changed(LOOK_ANYWAY).await;
                runtime.sleep(TOGETHER).await;
            }
            Self::There { far, position, events } => {
                if told(far, position, events).await.is_err() {
                    *events = None;
                    far.runtime.sleep(LOOK_ANYWAY).await;
                }
            }
        }
    }
}

/// Until something was told, and what is told right after it.
async fn told(far: &Far, position: &mut Option<u64>, events: &mut Option<Box<Events>>) -> Result<(), Error> {
    let Some(stream) = events else {
        let after = match *position {
            Some(position) => position,
            None => last(far).await?,
        };
        *position = Some(after);
        // What happened before it was open is looked at now.
        *events = Some(Box::new(far.client.events("/v1/events", after).await?));
        return Ok(());
    };
    let mut over = pin!(far.runtime.sleep(LOOK_ANYWAY));
    let mut is_first = true;
    loop {
        tokio::select! {
            event = stream.next() => match event? {
                Some(event) => {
                    *position = (*position).max(Some(event.id));
                    if std::mem::take(&mut is_first) {
                        over.set(far.runtime.sleep(TOGETHER));
                    }
                }
                None => {
                    *events = None;
                    return Ok(());
                }
            },
            () = &mut over => return Ok(()),
        }
    }
}

async fn last(far: &Far) -> Result<u64, Error> {
    match far.answer(Errand::Top(Look::Before(None))).await? {
        Told::Before(earlier) => Ok(earlier.happened.first().map_or(0, |newest| newest.position)),
        other => Err(far.another_version(&json!(other).to_string())),
    }
}

fn far_trouble(error: Error) -> Trouble {
    match error.may_pass() {
        true => Trouble::Away("the server does not answer; what happens meanwhile is there when it is back".to_owned()),
        false => Trouble::Refused(in_lines(&explained(error))),
    }
}

fn trouble(error: &anyhow::Error) -> Trouble {
    match error.downcast_ref::<WrongUse>() {
        Some(_) => Trouble::Refused(in_lines(error)),
        None => Trouble::Away(format!("it cannot be read at the moment: {error:#}")),
    }
}

/// As it would be complained of.
fn in_lines(error: &anyhow::Error) -> Vec<Line> {
    let what = format!("{error:#}");
    let hint = error.downcast_ref::<WrongUse>().and_then(|wrong| wrong.hint.clone());
    let first = what.lines().map(|line| Line::marked(Style::Bad, "✘ ").plain(line));
    first.chain(hint.map(|hint| Line::marked(Style::Dim, "  ").dim(hint))).collect()
}
