//! Killing this very process at a named point, for tests of debug builds: `WINDLASS_CRASH_AT=after-commit:3` dies as with
//! `kill -9` the third time that point is passed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use windlass_domain::BoxFuture;
use windlass_engine::{Tripwire, TripwirePoint};

use crate::exit::WrongUse;

struct CrashAt {
    point: TripwirePoint,
    left: AtomicU32,
}

impl Tripwire for CrashAt {
    fn pass(&self, point: TripwirePoint) -> BoxFuture<'_, ()> {
        if point == self.point && self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            let _dies = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        }
        Box::pin(std::future::ready(()))
    }
}

pub fn tripwire(wanted: Option<&str>) -> Result<Option<Arc<dyn Tripwire>>, WrongUse> {
    let Some(wanted) = wanted else { return Ok(None) };
    let (name, count) = wanted.split_once(':').unwrap_or((wanted, "1"));
    let point = TripwirePoint::ALL.into_iter().find(|point| point.name() == name);
    match (point, count.parse::<u32>()) {
        (Some(point), Ok(count)) if count > 0 => Ok(Some(Arc::new(CrashAt { point, left: AtomicU32::new(count) }))),
        _ => Err(WrongUse::new(format!("WINDLASS_CRASH_AT=`{wanted}` names no crash point"))),
    }
}
