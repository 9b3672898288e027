//! The door put together: what its operator says of it, and the two that work behind it until they are told to stop. Each has connections of
//! its own and comes back by itself when Redis does.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::{LocalBoxFuture, join, select};
use redis::RedisError;
use windlass_domain::{Runtime, Secret};
use windlass_engine::{Engine, OwnerKey, Submission};

use super::complaints::Wrong;
use super::inbox::Inbox;
use super::link::{BadAddress, Link, described};
use super::outbox::Outbox;
use crate::http::{Drain, Draining};
use crate::port::Journal;

const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// No entry of a stream that goes out is taken away sooner, however many there are.
pub(super) const KEPT_FOR: Duration = Duration::from_secs(60 * 60);

/// Who signs for what comes in, asked each time: keys are exchanged while a server runs.
pub type SigningKey = Arc<dyn Fn() -> Result<OwnerKey, String> + Send + Sync>;

/// Everything the door stands on.
pub struct RedisParts {
    /// Of the tenant that the connection is for.
    pub engine: Engine,
    pub runtime: Arc<dyn Runtime>,
    pub journal: Arc<dyn Journal>,
    pub url: Secret,
    /// What a task command is carried out with, and what a user's turns and the tasks they begin are.
    pub direct: Submission,
    pub talk: Submission,
    pub key: SigningKey,
    /// Whether cards may be answered here.
    pub approvals: bool,
    /// About how many entries are kept in each stream that goes out, beside those that are new.
    pub most_kept: u64,
    /// How long a session is held.
    pub lease: Duration,
}

pub struct RedisDoor {
    inbox: Inbox,
    outbox: Outbox,
    shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub parts: RedisParts,
    pub link: Link,
}

/// Whether one of the two has done something since it was last asked: what is wrong after that is another thing, however alike.
#[derive(Default)]
pub(super) struct Works(AtomicBool);

impl Works {
    pub fn well(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}

/// Why one of the two does not go on.
pub(super) enum Broken {
    Redis(RedisError),
    /// It has not answered for so long that nobody is there.
    Silent,
    /// It goes on, and what it was told is gone.
    Forgotten,
    Wrong(Wrong),
    Engine(windlass_engine::Error),
}

impl From<RedisError> for Broken {
    fn from(error: RedisError) -> Self {
        Self::Redis(error)
    }
}

impl From<windlass_engine::Error> for Broken {
    fn from(error: windlass_engine::Error) -> Self {
        Self::Engine(error)
    }
}

impl Broken {
    fn told(&self) -> String {
        match self {
            Self::Redis(error) => format!("Redis: {}; tried again until it answers, nothing is lost", described(error)),
            Self::Silent => "Redis does not answer; tried again until it does, nothing is lost".to_owned(),
            Self::Forgotten => "Redis has forgotten what it was told; it is told again what there is to say".to_owned(),
            Self::Wrong(wrong) => wrong.told(),
            Self::Engine(error) => format!("Redis streams: {error}; tried again"),
        }
    }
}

impl RedisDoor {
    /// What is wrong with an address.
    pub fn objection(url: &Secret) -> Option<BadAddress> {
        Link::to(url).err()
    }

    pub fn new(parts: RedisParts) -> Result<Self, BadAddress> {
        let link = Link::to(&parts.url)?;
        let shared = Arc::new(Shared { parts, link });
        Ok(Self { inbox: Inbox::new(Arc::clone(&shared)), outbox: Outbox::new(Arc::clone(&shared)), shared })
    }

    /// Until the drain begins.
    pub async fn run(self, drain: &Drain) {
        let stop = drain.watched();
        let Self { inbox, outbox, shared } = &self;
        let reading = shared.again_and_again(&stop, &inbox.works, || Box::pin(inbox.run(&stop)));
        let telling = shared.again_and_again(&stop, &outbox.works, || Box::pin(outbox.run(&stop)));
        join(reading, telling).await;
    }
}

impl Shared {
    /// Until it ends by itself. What is wrong is said once, and again when it is something else.
    async fn again_and_again<'a>(
        &self,
        stop: &Draining,
        works: &Works,
        mut run: impl FnMut() -> LocalBoxFuture<'a, Result<(), Broken>>,
    ) {
        let (mut said, mut pause) = (String::new(), FIRST_PAUSE);
        while let Err(broken) = run().await {
            if works.take() {
                said.clear();
            }
            let told = broken.told();
            if told != said {
                self.parts.journal.trouble(&told);
                (said, pause) = (told, FIRST_PAUSE);
            }
            self.wait(pause, stop).await;
            pause = LONGEST_PAUSE.min(pause * 2);
            if stop.has_begun() {
                return;
            }
        }
    }

    pub async fn wait(&self, length: Duration, stop: &Draining) {
        let mut stop = stop.clone();
        select(self.parts.runtime.sleep(length), pin!(stop.begins())).await;
    }
}
