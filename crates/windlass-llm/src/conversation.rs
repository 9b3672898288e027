//! A chat with any backend: tries, deadlines, retries, ids and the bill. A `Backend` knows how to put one request to one
//! kind of model and hears the answer as pieces; everything that all of them must do alike is here, once.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use windlass_domain::{BoxFuture, CallId, Delta, Dialect, Digest, Message, Reasoning, Usage, Usd, millis};

use crate::answer::{Answer, Assembler, Piece, bill};
use crate::chat::{Ask, Chat, Opening, Response, Setup};
use crate::error::{Error, Failure};
use crate::gallery::{Gallery, Picture};
use crate::models::Model;
use crate::tokens::Gauge;
use crate::watchdog::Watchdog;

/// One kind of model, with one conversation's messages in its own form.
pub trait Backend: Send + Sync {
    type Stream: PieceStream;

    /// The message refers to these pictures and to no others.
    fn push(&mut self, message: &Message, pictures: &[Picture]);

    /// Sends the request and returns with the head of the answer, or when the deadlines for connecting and for that have
    /// passed. `attempt` counts from zero.
    fn request(&self, ask: Ask, attempt: u32) -> impl Future<Output = Result<Self::Stream, Failure>> + Send;
}

pub trait PieceStream: Send {
    /// Appends the pieces that come next; `More::No` when there are no more.
    fn next(&mut self, pieces: &mut Vec<Piece>) -> impl Future<Output = Result<More, Failure>> + Send;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum More {
    Yes,
    No,
}

pub struct Conversation<B> {
    backend: B,
    setup: Setup,
    model: Model,
    model_name: String,
    /// How long a prompt the model takes, where somebody has said so.
    window: Option<u64>,
    gauge: Gauge,
    gallery: Gallery,
    used_ids: BTreeSet<String>,
}

impl<B: Backend> Conversation<B> {
    pub fn new(backend: B, setup: Setup, opening: &Opening<'_>) -> Self {
        let model = setup.models.find(opening.model);
        let window = setup.models.described(opening.model).map(|model| model.context_window);
        let gauge = Gauge::new(opening, model.vocabulary);
        let model_name = opening.model.to_owned();
        let gallery = Gallery::new(model.vision);
        Self { backend, setup, model, model_name, window, gauge, gallery, used_ids: BTreeSet::new() }
    }

    async fn answer(&mut self, ask: Ask, watch: &mut (dyn FnMut(Delta) + Send)) -> Result<Response, Error> {
        let mut lost = Usage::default();
        let mut attempt = 0;
        loop {
            let mut assembler = Assembler::default();
            let heard = self.hear(ask, attempt, &mut assembler, watch).await;
            let spent = assembler.spent(self.gauge.tokens());
            let estimated_output = assembler.estimated_output();
            let outcome = heard.and_then(|()| assembler.finish(ask.answered, &self.used_ids));
            let (reason, retry_after) = match outcome {
                Ok(answer) => return Ok(self.respond(answer, estimated_output, lost, attempt)),
                Err(Failure::Final(error)) => return Err(error),
                Err(Failure::Unusable(what)) => {
                    lost += what.used(spent, self.gauge.tokens());
                    return Err(Error::Unusable { what, lost, lost_cost: self.model.cost(&lost) });
                }
                Err(Failure::Transient { reason, retry_after }) => (reason, retry_after),
                Err(Failure::Unheard { reason }) => {
                    lost.input += self.gauge.tokens();
                    (reason, None)
                }
            };
            lost += spent;
            attempt += 1;
            let Some(delay) = self.setup.retries.delay(attempt, retry_after, self.setup.runtime.random()) else {
                let reason = match retry_after {
                    Some(asked) => format!("{reason}, and it wants to be left alone for {}", length(asked)),
                    None => reason,
                };
                return Err(Error::Unavailable { reason, tries: attempt, lost, lost_cost: self.model.cost(&lost) });
            };
            watch(Delta::Retrying { reason, delay_ms: millis(delay) });
            self.setup.runtime.sleep(delay).await;
        }
    }

    /// One try, from the request to the last piece.
    async fn hear(
        &self,
        ask: Ask,
        attempt: u32,
        assembler: &mut Assembler,
        watch: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<(), Failure> {
        let deadlines = &self.setup.deadlines;
        let mut watchdog = Watchdog::new(self.setup.runtime.clone());
        let last = self.setup.runtime.now() + deadlines.total;
        let endless = || Failure::too_late("did not come to the end of its answer", deadlines.total);
        let request = self.backend.request(ask, attempt);
        let mut stream = watchdog.guard(last, request).await.map_err(|_| endless())??;
        let mut pieces = Vec::new();
        loop {
            let idle = self.setup.runtime.now() + deadlines.idle;
            let more = match watchdog.guard(idle.min(last), stream.next(&mut pieces)).await {
                Ok(more) => more?,
                Err(_) if idle < last => return Err(Failure::too_late("fell silent", deadlines.idle)),
                Err(_) => return Err(endless()),
            };
            for piece in pieces.drain(..) {
                assembler.take(piece, watch)?;
            }
            if more == More::No || assembler.is_done() {
                return Ok(());
            }
        }
    }

    fn respond(&mut self, answer: Answer, estimated_output: u64, lost: Usage, retries: u32) -> Response {
        let (usage, metering) = bill(answer.usage.unwrap_or_default(), self.gauge.tokens(), estimated_output);
        self.gauge.answered(&usage);
        let mut billed = usage;
        billed += lost;
        let wants_back = |thought: &Reasoning| thought.wire != Dialect::OpenAi || self.model.reasoning_content;
        Response {
            text: answer.text,
            calls: answer.calls,
            reasoning: answer.reasoning.into_iter().filter(wants_back).collect(),
            stop: answer.stop,
            usage,
            metering,
            lost,
            cost: self.model.cost(&billed),
            retries,
            request_id: answer.request_id,
        }
    }
}

impl<B: Backend> Chat for Conversation<B> {
    fn show(&mut self, image: Digest, bytes: Arc<[u8]>) {
        self.gallery.give(image, bytes);
    }

    fn push(&mut self, message: &Message) {
        let (message, pictures) = self.gallery.hang(message);
        self.gauge.push(&message);
        if let Message::Assistant { calls, .. } = &*message {
            self.used_ids.extend(calls.iter().map(|call| call.call_id.0.clone()));
        }
        self.backend.push(&message, &pictures);
    }

    fn reserve(&mut self, id: &CallId) {
        self.used_ids.insert(id.0.clone());
    }

    fn metered(&mut self, usage: &Usage) {
        self.gauge.metered(usage);
    }

    fn tokens(&self) -> u64 {
        self.gauge.tokens()
    }

    fn tokens_near(&self, threshold: u64) -> u64 {
        self.gauge.tokens_near(threshold)
    }

    fn room(&self) -> Result<(), Error> {
        let Some((window, prompt)) = self.window.and_then(|window| Some((window, self.gauge.overflow(window)?))) else {
            return Ok(());
        };
        let detail = format!("about {prompt} tokens, and it takes {window}");
        Err(Error::ContextOverflow { model: self.model_name.clone(), detail })
    }

    fn cost_to_read(&self) -> Option<Usd> {
        self.model.cost(&Usage { input: self.tokens(), ..Usage::default() })
    }

    fn call<'a>(
        &'a mut self,
        ask: Ask,
        watch: &'a mut (dyn FnMut(Delta) + Send),
    ) -> BoxFuture<'a, Result<Response, Error>> {
        Box::pin(self.answer(ask, watch))
    }
}

fn length(asked: Duration) -> String {
    const DAY: u64 = 24 * 3_600;
    match asked.as_secs() {
        seconds @ 0..=DAY => format!("{seconds} s"),
        _ => "more than a day".to_owned(),
    }
}
