//! `windlass attach` of a screen that a server's machine runs: over a WebSocket, with the keys, the row and the way out of one on this machine.

use std::io;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use http::HeaderValue;
use http::header::SEC_WEBSOCKET_PROTOCOL;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::{Error as Broken, Message};
use tokio_tungstenite::{WebSocketStream, client_async};
use windlass_api::client::{Dialled, Error};
use windlass_api::{
    Problem, TERMINAL_PROTOCOL, TerminalList, TerminalSaid, TerminalScreen, TerminalSize, TerminalTold,
};
use windlass_domain::{BoxFuture, ExecutionId};
use windlass_terminal::{Sight, Size};

use super::far::{Far, explained};
use crate::arguments;
use crate::commands::{Errand, attachable, closed, only_one, tell_left};
use crate::exit::Exit;
use crate::screens::{Sights, Typing, seat, sit_before};

type Socket = WebSocketStream<Dialled>;

pub async fn attach(far: &Far, arguments: arguments::Attach) -> anyhow::Result<Exit> {
    attachable()?;
    let name = match &arguments.id {
        Some(id) => named(far, id).await?,
        None => {
            let open: TerminalList = far.client.get("/v1/terminals").await.map_err(explained)?;
            let open = open.terminals.into_iter().map(|terminal| (terminal.execution_id, ())).collect();
            only_one(open)?.0
        }
    };
    let socket = open(far, &name).await.map_err(explained)?;
    let (out, heard) = socket.split();
    let (mut seen, mut hands) = (Seen { heard, title: None }, Hands { out });
    let title = seen.title(far).await?;
    hands.resize(seat()?).await?;
    tell_left(&sit_before(title, &mut seen, &mut hands, &far.runtime).await?, &name);
    Ok(Exit::Completed)
}

/// The newest that is open of those that are meant.
async fn named(far: &Far, id: &str) -> anyhow::Result<String> {
    let meant: Vec<ExecutionId> = far.answer(Errand::Executions(id.to_owned())).await.map_err(explained)?;
    let mut is_recorded = false;
    for execution in meant {
        match far.client.get::<TerminalScreen>(&format!("/v1/executions/{execution}/terminal")).await {
            Ok(TerminalScreen { terminal, .. }) if terminal.alive => return Ok(terminal.execution_id),
            Ok(TerminalScreen { terminal, .. }) => is_recorded |= terminal.recording.is_some(),
            Err(Error::Refused(problem)) if problem.status == 404 => {}
            Err(error) => return Err(explained(error)),
        }
    }
    Err(closed(id, is_recorded).into())
}

async fn open(far: &Far, execution: &str) -> Result<Socket, Error> {
    let (mut request, stream) = far.client.dial(&format!("/v1/executions/{execution}/terminal/attach")).await?;
    let headers = request.headers_mut();
    let words = [("connection", "Upgrade"), ("upgrade", "websocket"), ("sec-websocket-version", "13")];
    words.into_iter().for_each(|(name, value)| drop(headers.insert(name, HeaderValue::from_static(value))));
    headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(TERMINAL_PROTOCOL));
    let key = HeaderValue::from_str(&generate_key()).map_err(|error| far.another_version(&error.to_string()))?;
    headers.insert("sec-websocket-key", key);
    let request = request.into_client_request().map_err(|error| far.another_version(&error.to_string()))?;
    match client_async(request, stream).await {
        Ok((socket, _)) => Ok(socket),
        Err(Broken::Http(answer)) => Err(refused(far, answer.body().as_deref().unwrap_or_default())),
        Err(error) => Err(far.another_version(&error.to_string())),
    }
}

fn refused(far: &Far, body: &[u8]) -> Error {
    match serde_json::from_slice::<Problem>(body) {
        Ok(problem) => Error::Refused(Box::new(problem)),
        Err(error) => far.another_version(&error.to_string()),
    }
}

struct Seen {
    heard: SplitStream<Socket>,
    /// What runs there, once that is told.
    title: Option<String>,
}

impl Seen {
    /// The first thing that is told.
    async fn title(&mut self, far: &Far) -> anyhow::Result<String> {
        while self.title.is_none() {
            if self.next().await?.is_none() {
                return Err(explained(far.another_version("it does not say what runs there")));
            }
        }
        Ok(self.title.take().unwrap_or_default())
    }

    async fn heard(&mut self) -> io::Result<Option<Sight>> {
        loop {
            let words = match self.heard.next().await {
                Some(Ok(Message::Binary(bytes))) => return Ok(Some(Sight::Paint(bytes.into()))),
                Some(Ok(Message::Text(words))) => words,
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => continue,
                Some(Ok(Message::Close(_)) | Err(_)) | None => return Ok(None),
            };
            match serde_json::from_str(&words).map_err(io::Error::other)? {
                TerminalTold::Hello { name, may_type, .. } => {
                    let only = if may_type { "" } else { " (you may look, and not type)" };
                    self.title = Some(format!("{name}{only}"));
                    return Ok(Some(Sight::Paint(Vec::new())));
                }
                TerminalTold::Size(TerminalSize { cols, rows }) => return Ok(Some(Sight::Sized(Size { cols, rows }))),
                TerminalTold::CaughtUp => return Ok(Some(Sight::CaughtUp)),
                TerminalTold::Ended { how } => return Ok(Some(Sight::Ended(how))),
                // The row says that one may only look.
                TerminalTold::Refused { .. } => {}
            }
        }
    }
}

impl Sights for Seen {
    fn next(&mut self) -> BoxFuture<'_, io::Result<Option<Sight>>> {
        Box::pin(self.heard())
    }
}

struct Hands {
    out: SplitSink<Socket, Message>,
}

impl Hands {
    async fn say(&mut self, message: Message) -> io::Result<()> {
        self.out.send(message).await.map_err(io::Error::other)
    }
}

impl Typing for Hands {
    fn types<'a>(&'a mut self, typed: &'a [u8]) -> BoxFuture<'a, io::Result<()>> {
        Box::pin(self.say(Message::binary(typed.to_vec())))
    }

    fn resize(&mut self, Size { cols, rows }: Size) -> BoxFuture<'_, io::Result<()>> {
        let said = serde_json::to_string(&TerminalSaid::Resize(TerminalSize { cols, rows })).unwrap_or_default();
        Box::pin(self.say(Message::text(said)))
    }
}
