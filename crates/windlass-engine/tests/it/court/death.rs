//! A process that dies at a named place: it gets that far and no further, and whoever drove it lets go of everything. At
//! another place something else may be done instead, while the process waits.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use windlass_domain::{BoxFuture, CancelSignal, Canceller, Stop};
use windlass_engine::{Tripwire, TripwirePoint};

/// The n-th time that a process comes to a point, from 1.
#[derive(Debug, Clone, Copy)]
pub struct At(pub TripwirePoint, pub usize);

pub struct Death {
    at: At,
    passed: Arc<AtomicUsize>,
    died: Canceller,
}

impl Death {
    pub fn new(at: At) -> Arc<Self> {
        Arc::new(Self { at, passed: Arc::default(), died: Canceller::default() })
    }

    /// The same for another process: whichever of them comes there the n-th time dies, and the other lives.
    pub fn or_another(&self) -> Arc<Self> {
        Arc::new(Self { at: self.at, passed: Arc::clone(&self.passed), died: Canceller::default() })
    }

    pub fn died(&self) -> CancelSignal {
        self.died.signal()
    }
}

impl Tripwire for Death {
    fn pass(&self, point: TripwirePoint) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let At(fatal, time) = self.at;
            if point == fatal && self.passed.fetch_add(1, Ordering::SeqCst) + 1 == time {
                self.died.stop(Stop::Cancel);
                std::future::pending::<()>().await;
            }
        })
    }
}

type Doing = Box<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

/// Something that others do while a process stands at a point, the first time it does.
#[derive(Default)]
pub struct Deed {
    at: Mutex<Option<(TripwirePoint, Doing)>>,
}

impl Deed {
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    pub fn at(&self, point: TripwirePoint, doing: impl Fn() -> BoxFuture<'static, ()> + Send + Sync + 'static) {
        *self.at.lock().unwrap() = Some((point, Box::new(doing)));
    }
}

impl Tripwire for Deed {
    fn pass(&self, point: TripwirePoint) -> BoxFuture<'_, ()> {
        let mut at = self.at.lock().unwrap();
        let is_here = at.as_ref().is_some_and(|(known, _)| *known == point);
        let doing = if is_here { at.take() } else { None };
        Box::pin(async move {
            if let Some((_, doing)) = doing {
                doing().await;
            }
        })
    }
}
