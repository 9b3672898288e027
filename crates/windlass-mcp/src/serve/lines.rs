//! A server over a pair of byte streams, a message a line, for one client: what a program on the other end of a pipe speaks. Calls run side by
//! side and are answered as they end.

use futures_util::future::{Either, select};
use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use windlass_domain::BoxFuture;

use crate::lines::{Lines, TooLong};
use crate::serve::calls::Calls;
use crate::serve::message::{self, Bad, Fault, Id, Message, NO_MESSAGE};
use crate::serve::methods::{self, CANCELLED, GREETING};
use crate::serve::server::{Answer, Server};
use crate::serve::version::Era;

const PORTION: usize = 64 << 10;

/// Serves until nothing more comes in and the calls that run have ended, or had the time for it.
pub async fn serve_lines<R, W>(server: &Server, mut reader: R, mut writer: W) -> std::io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut talk = Talk { server, is_greeted: false, calls: Calls::default(), running: FuturesUnordered::new() };
    let mut lines = Lines::new(server.limits.message_bytes);
    let mut portion = vec![0; PORTION];
    let mut farewell: Option<BoxFuture<'static, ()>> = None;
    loop {
        let is_open = farewell.is_none();
        if !is_open && talk.running.is_empty() {
            return Ok(());
        }
        tokio::select! {
            biased;
            Some(answer) = talk.running.next(), if !talk.running.is_empty() => say(&mut writer, answer).await?,
            read = reader.read(&mut portion), if is_open => match read? {
                0 => farewell = Some(server.runtime.sleep(server.limits.farewell)),
                read => {
                    lines.feed(&portion[..read]);
                    while let Some(line) = next(&mut lines, &mut writer).await? {
                        say(&mut writer, talk.hear(&line)).await?;
                    }
                }
            },
            () = async { if let Some(farewell) = &mut farewell { farewell.await } }, if !is_open => return Ok(()),
        }
    }
}

/// A line without an end cannot be passed over: after it the conversation is of no more use.
async fn next<W: AsyncWrite + Unpin>(lines: &mut Lines, writer: &mut W) -> std::io::Result<Option<Vec<u8>>> {
    match lines.next() {
        Ok(line) => Ok(line),
        Err(TooLong) => {
            let fault = Fault::new(NO_MESSAGE, "the message is too long: send less at a time");
            say(writer, Some(message::refusal(None, &fault))).await?;
            Err(std::io::Error::new(std::io::ErrorKind::InvalidData, "a line is longer than a message may be"))
        }
    }
}

pub(crate) async fn say<W: AsyncWrite + Unpin>(writer: &mut W, message: Option<Vec<u8>>) -> std::io::Result<()> {
    let Some(mut line) = message else { return Ok(()) };
    line.push(b'\n');
    writer.write_all(&line).await?;
    writer.flush().await
}

struct Talk<'a> {
    server: &'a Server,
    is_greeted: bool,
    calls: Calls,
    /// Each with its answer, or with none where it was taken back.
    running: FuturesUnordered<BoxFuture<'static, Option<Vec<u8>>>>,
}

impl Talk<'_> {
    /// What is answered at once.
    fn hear(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        if line.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        match message::read(line) {
            Ok(Message::Request { id, method, params }) if method == GREETING => {
                let hello = methods::greeted(&params, self.server.about());
                self.is_greeted |= hello.is_ok();
                Some(message::answer(&id, hello.map(|(_, hello)| hello)))
            }
            Ok(Message::Request { id, method, params }) => {
                let era = methods::era(&params);
                let fault = match era {
                    Era::PerRequest => methods::unfit(&method, &params, None),
                    Era::Greeted if self.is_greeted || method == "ping" => None,
                    Era::Greeted => Some(Fault::new(NO_MESSAGE, "greet first (initialize)")),
                };
                match fault {
                    Some(fault) => Some(message::refusal(Some(&id), &fault)),
                    None => self.ask(id, self.server.answer(era, &method, params)),
                }
            }
            Ok(Message::Notice { method, params }) => {
                if let Some(id) = params.get("requestId").and_then(Id::read).filter(|_| method == CANCELLED) {
                    self.calls.take_back(&id);
                }
                None
            }
            Ok(Message::Reply) => None,
            Err(Bad { id, fault }) => Some(message::refusal(id.as_ref(), &fault)),
        }
    }

    fn ask(&self, id: Id, answer: Answer) -> Option<Vec<u8>> {
        let call = match answer {
            Answer::Now(result) => return Some(message::answer(&id, result)),
            Answer::Later(call) => call,
        };
        let Some(running) = self.calls.begin(&id) else {
            let fault = Fault::new(NO_MESSAGE, "a call with this id runs already: give each an id of its own");
            return Some(message::refusal(Some(&id), &fault));
        };
        self.running.push(Box::pin(async move {
            match select(call, running.taken_back.wait()).await {
                Either::Left((result, _)) => Some(message::answer(&id, Ok(result))),
                Either::Right(_) => None,
            }
        }));
        None
    }
}
