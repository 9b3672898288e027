//! The runtime of the tests: Tokio's, with a clock that a test sets ahead, for everybody who shares its time. Time flows,
//! or stands still until it is moved; whoever sleeps wakes when the deadline is reached either way.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

use windlass_domain::{BoxFuture, Instant, Runtime, Wall};
use windlass_runtime::TokioRuntime;

/// What the processes of one test share.
pub struct Time {
    inner: TokioRuntime,
    /// Where it stands, where it does not flow.
    still: Option<(Instant, Wall)>,
    ahead_ms: AtomicU64,
    /// By so much the clock on the wall was put back, and no other.
    back_ms: AtomicU64,
    sleepers: Mutex<BTreeMap<u64, Sleeper>>,
    next_sleeper: AtomicU64,
}

struct Sleeper {
    deadline: Instant,
    /// As it was asked for.
    length: Duration,
    waker: Waker,
}

impl Time {
    pub fn flowing(inner: TokioRuntime) -> Arc<Self> {
        Self::new(inner, None)
    }

    /// It moves only by `jump`.
    pub fn still(inner: TokioRuntime) -> Arc<Self> {
        let now = (inner.now(), inner.wall());
        Self::new(inner, Some(now))
    }

    fn new(inner: TokioRuntime, still: Option<(Instant, Wall)>) -> Arc<Self> {
        let (ahead_ms, back_ms, next_sleeper) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        Arc::new(Self { inner, still, ahead_ms, back_ms, sleepers: Mutex::default(), next_sleeper })
    }

    pub fn jump(&self, length: Duration) {
        self.ahead_ms.fetch_add(u64::try_from(length.as_millis()).unwrap(), Ordering::SeqCst);
        let now = self.now();
        let sleepers = self.sleepers.lock().unwrap();
        sleepers.values().filter(|sleeper| sleeper.deadline <= now).for_each(|sleeper| sleeper.waker.wake_by_ref());
    }

    /// Sets the clock on the wall; nobody sleeps for longer or shorter by it.
    pub fn put_back(&self, length: Duration) {
        self.back_ms.fetch_add(u64::try_from(length.as_millis()).unwrap(), Ordering::SeqCst);
    }

    /// How many sleep that wanted to sleep so long, and whose time has not come.
    pub fn asleep(&self, length: Duration) -> usize {
        let now = self.now();
        let sleepers = self.sleepers.lock().unwrap();
        sleepers.values().filter(|sleeper| sleeper.length == length && sleeper.deadline > now).count()
    }

    fn ahead(&self) -> Duration {
        Duration::from_millis(self.ahead_ms.load(Ordering::SeqCst))
    }

    pub fn now(&self) -> Instant {
        self.still.map_or_else(|| self.inner.now(), |(now, _)| now) + self.ahead()
    }

    pub fn wall(&self) -> Wall {
        let wall = self.still.map_or_else(|| self.inner.wall(), |(_, wall)| wall) + self.ahead();
        Wall::from_millis(wall.as_millis() - self.back_ms.load(Ordering::SeqCst))
    }
}

type Meanwhile = Box<dyn FnOnce() + Send>;

/// The runtime of one process. A process can be stopped as by a signal: its sleeps do not end until it is woken.
pub struct Clock {
    time: Arc<Time>,
    stopped: Arc<AtomicBool>,
    /// After so many looks at the wall, what others do before the next one ends.
    meanwhile: Mutex<Option<(usize, Meanwhile)>>,
}

impl Clock {
    pub fn new(time: &Arc<Time>) -> Arc<Self> {
        Arc::new(Self { time: Arc::clone(time), stopped: Arc::default(), meanwhile: Mutex::default() })
    }

    /// What others do while this process stands still, which it does where it looks at the clock on the wall for the time after `looks`.
    pub fn meanwhile(&self, looks: usize, deed: impl FnOnce() + Send + 'static) {
        *self.meanwhile.lock().unwrap() = Some((looks, Box::new(deed)));
    }

    fn due_meanwhile(&self) -> Option<Meanwhile> {
        let mut meanwhile = self.meanwhile.lock().unwrap();
        match meanwhile.as_mut()? {
            (0, _) => meanwhile.take().map(|(_, deed)| deed),
            (looks, _) => {
                *looks -= 1;
                None
            }
        }
    }

    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
    }

    pub fn wake(&self) {
        self.stopped.store(false, Ordering::SeqCst);
        self.time.jump(Duration::ZERO);
    }
}

/// A place among those who sleep, given up when the sleep ends or is dropped.
struct Place {
    time: Arc<Time>,
    number: u64,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.time.sleepers.lock().unwrap().remove(&self.number);
    }
}

impl Runtime for Clock {
    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.time.inner.spawn(task);
    }

    fn sleep_until(&self, deadline: Instant) -> BoxFuture<'static, ()> {
        let (time, stopped) = (Arc::clone(&self.time), Arc::clone(&self.stopped));
        Box::pin(async move {
            let number = time.next_sleeper.fetch_add(1, Ordering::SeqCst);
            let place = Place { time: Arc::clone(&time), number };
            let length = deadline - time.now();
            let mut flowing = time.still.is_none().then(|| time.inner.sleep(length));
            std::future::poll_fn(|context| {
                // Registered before the time is read: a jump in between wakes it.
                let sleeper = Sleeper { deadline, length, waker: context.waker().clone() };
                time.sleepers.lock().unwrap().insert(place.number, sleeper);
                let flowed = flowing.as_mut().is_some_and(|sleep| sleep.as_mut().poll(context).is_ready());
                if flowed {
                    flowing = None;
                }
                let is_due = time.now() >= deadline || (flowing.is_none() && time.still.is_none());
                if is_due && !stopped.load(Ordering::SeqCst) { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
        })
    }

    fn block(&self, work: Box<dyn FnOnce() + Send>) -> BoxFuture<'static, ()> {
        self.time.inner.block(work)
    }

    fn now(&self) -> Instant {
        self.time.now()
    }

    fn wall(&self) -> Wall {
        if let Some(deed) = self.due_meanwhile() {
            deed();
        }
        self.time.wall()
    }

    fn random(&self) -> u128 {
        self.time.inner.random()
    }
}
