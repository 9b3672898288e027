//! What the disk has been told to do, and what it has seen. One log for all files, in the order in which things happened:
//! a write is noted before it is made and a sync after it has returned, so whatever the log says is durable is.

use std::ffi::CString;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::ffi;

use crate::disk::vfs;

/// Something that happened to a file, named without its folder.
#[derive(Debug, Clone)]
pub enum Op {
    Write {
        file: String,
        offset: u64,
        bytes: Vec<u8>,
    },
    Truncate {
        file: String,
        size: u64,
    },
    /// `covers`: how much of the log there was when the sync began. What came in while it ran it may have missed.
    Sync {
        file: String,
        covers: usize,
    },
    Delete {
        file: String,
    },
    /// Said by the test: this has been acknowledged.
    Acknowledged(u64),
}

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The device answers with an error.
    Broken,
    /// Writes find no room; everything else works.
    Full,
    /// The device has been made read-only.
    ReadOnly,
    /// Syncs are not confirmed; everything else works.
    Unsynced,
    /// Half of a write is made, and then the device answers with an error.
    Torn,
}

/// Which calls go wrong, counted from 1 among those that the fault can strike.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub fault: Fault,
    pub first: u64,
    pub last: u64,
}

/// The kinds of calls that a fault can strike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    Open,
    Read,
    Write,
    Truncate,
    Sync,
    SharedMemory,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Pass,
    Fail(i32),
    /// Make half of it, then fail.
    Half(i32),
}

#[derive(Default)]
pub struct State {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    plan: Option<Plan>,
    calls: u64,
    struck: u64,
    recording: bool,
    log: Vec<Op>,
}

impl State {
    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().expect("no panic while it is held")
    }

    /// Whether this call goes through.
    pub fn judge(&self, call: Call) -> Verdict {
        let mut inner = self.lock();
        let Some(plan) = inner.plan else { return Verdict::Pass };
        let Some(code) = plan.fault.code(call) else { return Verdict::Pass };
        inner.calls += 1;
        if !(plan.first..=plan.last).contains(&inner.calls) {
            return Verdict::Pass;
        }
        inner.struck += 1;
        if plan.fault == Fault::Torn { Verdict::Half(code) } else { Verdict::Fail(code) }
    }

    pub fn note(&self, op: impl FnOnce() -> Op) {
        let mut inner = self.lock();
        if inner.recording {
            inner.log.push(op());
        }
    }

    pub fn log_length(&self) -> usize {
        self.lock().log.len()
    }
}

impl Fault {
    fn code(self, call: Call) -> Option<i32> {
        match (self, call) {
            (Self::Full, Call::Write) => Some(ffi::SQLITE_FULL),
            (Self::Torn, Call::Write) => Some(ffi::SQLITE_IOERR_WRITE),
            (Self::Unsynced, Call::Sync) => Some(ffi::SQLITE_IOERR_FSYNC),
            (Self::ReadOnly, Call::Write | Call::Truncate) => Some(ffi::SQLITE_READONLY),
            (Self::Full | Self::ReadOnly | Self::Torn | Self::Unsynced, _) => None,
            (Self::Broken, Call::Open) => Some(ffi::SQLITE_CANTOPEN),
            (Self::Broken, Call::Read) => Some(ffi::SQLITE_IOERR_READ),
            (Self::Broken, Call::Write) => Some(ffi::SQLITE_IOERR_WRITE),
            (Self::Broken, Call::Truncate) => Some(ffi::SQLITE_IOERR_TRUNCATE),
            (Self::Broken, Call::Sync) => Some(ffi::SQLITE_IOERR_FSYNC),
            (Self::Broken, Call::SharedMemory) => Some(ffi::SQLITE_IOERR_SHMMAP),
        }
    }
}

/// A registered disk. It stays registered until the process ends, as SQLite may hold on to it.
#[derive(Clone, Copy)]
pub struct Disk {
    state: &'static State,
    number: u64,
}

impl Disk {
    pub fn new() -> Self {
        static DISKS: AtomicU64 = AtomicU64::new(1);
        let disk = Self { state: Box::leak(Box::default()), number: DISKS.fetch_add(1, Ordering::Relaxed) };
        vfs::register(CString::new(disk.vfs()).expect("no zero bytes"), disk.state);
        disk
    }

    /// The name to open a database with.
    pub fn vfs(&self) -> String {
        format!("watched-{}", self.number)
    }

    pub fn record(&self) {
        self.state.lock().recording = true;
    }

    pub fn acknowledged(&self, number: u64) {
        self.state.note(|| Op::Acknowledged(number));
    }

    /// What was recorded; it ends here.
    pub fn take_log(&self) -> Vec<Op> {
        let mut inner = self.state.lock();
        inner.recording = false;
        std::mem::take(&mut inner.log)
    }

    pub fn fail(&self, plan: Plan) {
        let mut inner = self.state.lock();
        (inner.plan, inner.calls, inner.struck) = (Some(plan), 0, 0);
    }

    /// How many calls have gone wrong so far.
    pub fn struck(&self) -> u64 {
        self.state.lock().struck
    }

    /// Works again. Says how many calls went wrong.
    pub fn heal(&self) -> u64 {
        let mut inner = self.state.lock();
        inner.plan = None;
        inner.struck
    }
}
