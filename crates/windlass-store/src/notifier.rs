//! Wake-ups, and nothing but: a hint that something may have changed. Whoever waits also has a limit after which it looks
//! anyway, so a hint that is lost, as all of them are in the simulator, costs time and never work. Commits of this process
//! are hinted as they happen; those of other processes are noticed by polling, only while somebody waits, or told by whoever
//! listens for them, from the first time that somebody is interested.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use tokio::sync::watch;
use windlass_domain::{Runtime, Tenant};

use crate::commit::{Commit, Committed};
use crate::queue::queue_of;

/// How often other processes' commits are looked for. A look costs microseconds.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// What somebody waits for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// A message for this tenant's mailbox.
    Mailbox { tenant: Tenant, mailbox: String },
    /// A message for this queue, whoever's and for whatever place.
    Queue { queue: String },
    /// Any event of this tenant.
    Events { tenant: Tenant },
}

/// What other processes have committed since the last look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Elsewhere {
    Topics(Vec<Topic>),
    /// Too much to tell apart.
    Anything,
}

/// Looks for other processes' commits; may block. A provider that has no other processes has none of these.
pub type LookElsewhere = Arc<dyn Fn() -> Elsewhere + Send + Sync>;

/// Begins to listen for other processes' commits, and tells the notifier.
pub(crate) type Listen = Box<dyn Fn(Notifier) + Send + Sync>;

#[derive(Clone)]
pub struct Notifier {
    shared: Arc<Shared>,
}

struct Shared {
    runtime: Arc<dyn Runtime>,
    look_elsewhere: Option<LookElsewhere>,
    listen: Option<Listen>,
    listening: AtomicBool,
    topics: Mutex<BTreeMap<Topic, watch::Sender<()>>>,
    waiting: AtomicUsize,
    polling: AtomicBool,
    dropping: AtomicBool,
}

impl Notifier {
    pub fn new(runtime: Arc<dyn Runtime>, look_elsewhere: Option<LookElsewhere>) -> Self {
        Self::with(runtime, look_elsewhere, None)
    }

    /// For a provider that is told of other processes' commits.
    pub(crate) fn listening(runtime: Arc<dyn Runtime>, listen: Listen) -> Self {
        Self::with(runtime, None, Some(listen))
    }

    fn with(runtime: Arc<dyn Runtime>, look_elsewhere: Option<LookElsewhere>, listen: Option<Listen>) -> Self {
        Self {
            shared: Arc::new(Shared {
                runtime,
                look_elsewhere,
                listen,
                listening: AtomicBool::new(false),
                topics: Mutex::default(),
                waiting: AtomicUsize::new(0),
                polling: AtomicBool::new(false),
                dropping: AtomicBool::new(false),
            }),
        }
    }

    /// From now on no hint of this topic is missed. Subscribe first, then read the store, then wait.
    pub fn subscribe(&self, topic: Topic) -> Subscription {
        if let Some(listen) = &self.shared.listen
            && !self.shared.listening.swap(true, Ordering::SeqCst)
        {
            listen(self.clone());
        }
        let receiver = {
            let mut topics = self.shared.lock_topics();
            topics.entry(topic.clone()).or_insert_with(|| watch::Sender::new(())).subscribe()
        };
        Subscription { shared: Arc::clone(&self.shared), topic, receiver: Some(receiver) }
    }

    /// From now on every hint is lost.
    pub fn drop_hints(&self) {
        self.shared.dropping.store(true, Ordering::Relaxed);
    }

    /// For providers: hints at what a commit touched.
    pub(crate) fn publish(&self, topics: &[Topic]) {
        self.shared.publish(topics);
    }

    pub(crate) fn publish_elsewhere(&self, elsewhere: &Elsewhere) {
        match elsewhere {
            Elsewhere::Topics(topics) => self.shared.publish(topics),
            Elsewhere::Anything => self.shared.publish_all(),
        }
    }

    /// Nobody is interested in anything, so that a provider need not even gather topics.
    pub(crate) fn is_idle(&self) -> bool {
        self.shared.lock_topics().is_empty()
    }
}

/// What a commit is a hint of.
pub(crate) fn topics_of(commit: &Commit, committed: &Committed) -> Vec<Topic> {
    let new = commit.messages.iter().map(|message| (&commit.tenant, &message.queue));
    let readied = committed.readied.iter().map(|(tenant, queue)| (tenant, queue));
    let mut topics: Vec<Topic> = new.chain(readied).flat_map(|(tenant, queue)| message_topics(tenant, queue)).collect();
    if !commit.events.is_empty() {
        topics.push(Topic::Events { tenant: commit.tenant.clone() });
    }
    topics
}

pub(crate) fn message_topics(tenant: &Tenant, queue: &str) -> [Topic; 2] {
    let mailbox = Topic::Mailbox { tenant: tenant.clone(), mailbox: queue.to_owned() };
    [mailbox, Topic::Queue { queue: queue_of(queue).to_owned() }]
}

impl Shared {
    fn lock_topics(&self) -> std::sync::MutexGuard<'_, BTreeMap<Topic, watch::Sender<()>>> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(&self, topics: &[Topic]) {
        if self.dropping.load(Ordering::Relaxed) {
            return;
        }
        let subscribed = self.lock_topics();
        for sender in topics.iter().filter_map(|topic| subscribed.get(topic)) {
            sender.send_replace(());
        }
    }

    fn publish_all(&self) {
        let all: Vec<Topic> = self.lock_topics().keys().cloned().collect();
        self.publish(&all);
    }

    /// One poller serves all who wait, and ends when the last of them is gone.
    fn ensure_polling(self: &Arc<Self>) {
        if let Some(look) = &self.look_elsewhere
            && !self.polling.swap(true, Ordering::SeqCst)
        {
            self.runtime.spawn(Box::pin(poll_elsewhere(Arc::clone(self), Arc::clone(look))));
        }
    }
}

async fn poll_elsewhere(shared: Arc<Shared>, look: LookElsewhere) {
    loop {
        let found = Arc::new(Mutex::new(None));
        let (work_look, work_found) = (Arc::clone(&look), Arc::clone(&found));
        let work = move || *work_found.lock().unwrap_or_else(PoisonError::into_inner) = Some(work_look());
        shared.runtime.block(Box::new(work)).await;
        match found.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(Elsewhere::Topics(topics)) => shared.publish(&topics),
            Some(Elsewhere::Anything) => shared.publish_all(),
            None => {}
        }
        shared.runtime.sleep(POLL_INTERVAL).await;
        // In this order: whoever starts to wait after the count was read finds `polling` false and polls itself.
        shared.polling.store(false, Ordering::SeqCst);
        if shared.waiting.load(Ordering::SeqCst) == 0 || shared.polling.swap(true, Ordering::SeqCst) {
            return;
        }
    }
}

/// Interest in one topic.
pub struct Subscription {
    shared: Arc<Shared>,
    topic: Topic,
    /// Taken only by `drop`.
    receiver: Option<watch::Receiver<()>>,
}

impl Subscription {
    /// Waits for a hint since the last call, `at_most` so long. Either way the next thing to do is to look.
    pub async fn changed(&mut self, at_most: Duration) {
        let _waiting = Waiting::start(&self.shared);
        self.shared.ensure_polling();
        let receiver = self.receiver.as_mut().expect("taken only by drop");
        let mut hint = pin!(receiver.changed());
        let mut limit = self.shared.runtime.sleep(at_most);
        std::future::poll_fn(|context| {
            let hinted = hint.as_mut().poll(context).is_ready();
            if hinted || limit.as_mut().poll(context).is_ready() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut topics = self.shared.lock_topics();
        self.receiver = None;
        if topics.get(&self.topic).is_some_and(|sender| sender.receiver_count() == 0) {
            topics.remove(&self.topic);
        }
    }
}

/// Counts those who wait, also when their future is dropped.
struct Waiting {
    shared: Arc<Shared>,
}

impl Waiting {
    fn start(shared: &Arc<Shared>) -> Self {
        shared.waiting.fetch_add(1, Ordering::SeqCst);
        Self { shared: Arc::clone(shared) }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.shared.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}
