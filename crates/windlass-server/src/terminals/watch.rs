//! One who looks on over a WebSocket: what is painted goes to them, and what they type goes to the program if their token is good for
//! that. Every wait has an end: for them to read, to answer, for the program to read what was typed.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{Either, select};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::sync::mpsc;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};
use windlass_api::{Scope, TerminalSaid, TerminalSize, TerminalTold};
use windlass_domain::ExecutionId;
use windlass_terminal::{Hands, Seen, Sight, Size};

use super::attached::Attached;
use super::end::End;
use super::look::told;
use crate::auth::{Caller, as_it_is_now};
use crate::http::Busy;
use crate::service::Service;

/// Of one message to us: a paste of more goes in several.
const LARGEST: usize = 64 << 10;
const UNWRITTEN: usize = 4 * LARGEST;
/// Notes to them that are not written yet; whoever earns more waits with what they say.
const NOTES: usize = 8;
/// How often the token of somebody is looked at who is shown nothing.
const LOOK: Duration = Duration::from_secs(1);
/// So many pings without an answer.
const UNANSWERED: u32 = 3;

type Out = SplitSink<WebSocketStream<TokioIo<Upgraded>>, Message>;
type In = SplitStream<WebSocketStream<TokioIo<Upgraded>>>;

pub struct Looker {
    pub service: Arc<Service>,
    pub caller: Caller,
    pub execution: ExecutionId,
    /// Held, so that the connection is counted as long as there is one.
    pub _busy: Option<Arc<Busy>>,
    pub unanswered: AtomicU32,
}

/// Until somebody ends it.
pub async fn watch(looker: Looker, upgraded: Upgraded, attached: Attached) {
    let config = WebSocketConfig::default()
        .read_buffer_size(LARGEST)
        .write_buffer_size(0)
        .max_write_buffer_size(UNWRITTEN)
        .max_message_size(Some(LARGEST))
        .max_frame_size(Some(LARGEST));
    let socket = WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, Some(config)).await;
    let (mut out, mut heard) = socket.split();
    let Attached { name, mut seen, mut hands } = attached;
    let (notes, mut noted) = mpsc::channel(NOTES);
    let may_type = looker.caller.may(Scope::Terminal);
    let hello = TerminalTold::Hello { execution_id: looker.execution.to_string(), name, may_type };
    let mut draining = looker.service.draining.clone();
    let end = tokio::select! {
        biased;
        () = draining.begins() => End::Drained,
        end = looker.show(&mut out, &mut seen, hello, &mut noted) => end,
        end = looker.hear(&mut heard, &mut hands, &notes) => end,
    };
    looker.part(&mut out, &mut heard, end).await;
}

impl Looker {
    async fn show(
        &self,
        out: &mut Out,
        seen: &mut Seen,
        hello: TerminalTold,
        noted: &mut mpsc::Receiver<TerminalTold>,
    ) -> End {
        let mut message = Some(text(&hello));
        let mut painting = pin!(next(seen));
        let runtime = &self.service.runtime;
        let (mut look, mut beat) = (runtime.sleep(LOOK), runtime.sleep(self.service.limits.ping));
        loop {
            // Asked every time, and where nothing is painted from time to time: what was taken back is good for nothing at once.
            if !self.may_look() {
                return End::TakenBack;
            }
            if let Some(message) = message
                && let Err(end) = self.send(out, message).await
            {
                return end;
            }
            let said = tokio::select! {
                (sight, seen) = &mut painting => {
                    painting.set(next(seen));
                    match sight {
                        Ok(Some(Sight::Paint(bytes))) => Message::Binary(bytes.into()),
                        Ok(Some(Sight::Sized(size))) => text(&TerminalTold::Size(told(size))),
                        Ok(Some(Sight::CaughtUp)) => text(&TerminalTold::CaughtUp),
                        Ok(Some(Sight::Ended(how))) => {
                            let sent = self.send(out, text(&TerminalTold::Ended { how })).await;
                            return sent.err().unwrap_or(End::Ended);
                        }
                        Ok(None) | Err(_) => return End::Lost,
                    }
                }
                Some(note) = noted.recv() => text(&note),
                () = &mut look => {
                    look = runtime.sleep(LOOK);
                    message = None;
                    continue;
                }
                () = &mut beat => {
                    beat = runtime.sleep(self.service.limits.ping);
                    if self.unanswered.fetch_add(1, Ordering::Relaxed) >= UNANSWERED {
                        return End::Silent;
                    }
                    Message::Ping(Bytes::new())
                }
            };
            message = Some(said);
        }
    }

    async fn hear(&self, heard: &mut In, hands: &mut Hands, notes: &mpsc::Sender<TerminalTold>) -> End {
        while let Some(message) = heard.next().await {
            self.unanswered.store(0, Ordering::Relaxed);
            let said = match message {
                Ok(Message::Binary(bytes)) => Said::Typed(bytes),
                Ok(Message::Text(words)) => match serde_json::from_str(&words) {
                    Ok(TerminalSaid::Resize(TerminalSize { cols, rows })) => Said::Resize(Size { cols, rows }),
                    Err(_) => return End::Nonsense,
                },
                Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => continue,
                Ok(Message::Close(_)) | Err(Error::ConnectionClosed | Error::AlreadyClosed | Error::Io(_)) => {
                    return End::Left;
                }
                Err(Error::Capacity(_)) => return End::TooLarge,
                Err(_) => return End::Nonsense,
            };
            // Asked every time: what was taken back is good for nothing at once.
            let Some(caller) = self.token() else { return End::TakenBack };
            if !caller.may(Scope::Terminal) {
                let detail = format!("this needs a token with the scope `{}`", Scope::Terminal);
                // Nobody shows them anything any more, who then are told why.
                let _ends = notes.send(TerminalTold::Refused { detail }).await;
                continue;
            }
            let doing = pin!(said.reach(hands));
            match select(doing, self.service.runtime.sleep(self.service.limits.write_patience)).await {
                Either::Left((Ok(()), _)) => {}
                // What is seen tells.
                Either::Left((Err(_), _)) => std::future::pending().await,
                Either::Right(_) => return End::Unread,
            }
        }
        End::Left
    }

    async fn send(&self, out: &mut Out, message: Message) -> Result<(), End> {
        match select(out.send(message), self.service.runtime.sleep(self.patience())).await {
            Either::Left((Ok(()), _)) => Ok(()),
            Either::Left((Err(_), _)) => Err(End::Left),
            Either::Right(_) => Err(End::TooSlow),
        }
    }

    /// Half of what a connection has: the other half is for telling them.
    fn patience(&self) -> Duration {
        self.service.limits.write_patience / 2
    }

    /// Says why, and waits a moment for them to have read it: a connection that is dropped at once takes with it what they have not.
    async fn part(&self, out: &mut Out, heard: &mut In, end: End) {
        let farewell = pin!(async {
            let Some(frame) = end.frame() else { return };
            if out.send(Message::Close(Some(frame))).await.is_ok() {
                while heard.next().await.is_some_and(|said| said.is_ok()) {}
            }
        });
        select(farewell, self.service.runtime.sleep(self.patience())).await;
    }

    fn may_look(&self) -> bool {
        self.token().is_some_and(|caller| caller.may(Scope::Read))
    }

    fn token(&self) -> Option<Caller> {
        as_it_is_now(&self.caller, &self.service.tokens.tokens(), self.service.runtime.wall())
    }
}

enum Said {
    Typed(Bytes),
    Resize(Size),
}

impl Said {
    async fn reach(self, hands: &mut Hands) -> std::io::Result<()> {
        match self {
            Self::Typed(bytes) => hands.types(&bytes).await,
            Self::Resize(size) => hands.resize(size.within_bounds()).await,
        }
    }
}

/// Not dropped in the middle of a frame.
async fn next(seen: &mut Seen) -> (std::io::Result<Option<Sight>>, &mut Seen) {
    (seen.next().await, seen)
}

fn text(told: &TerminalTold) -> Message {
    Message::text(serde_json::to_string(told).unwrap_or_default())
}
