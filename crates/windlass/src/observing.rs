//! What operators are shown of the work beside its story: log lines on standard error (`WINDLASS_LOG`), metrics for whoever serves
//! them, and both metrics and spans for a collector where there is one. It hears what any watcher hears, and hands it on.

use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde::Deserialize;
use windlass_domain::execution::ExecutionEvent;
use windlass_domain::task::{TaskEvent, TaskState};
use windlass_domain::{Delta, ExecutionId, Runtime, TaskId, Wall};
use windlass_engine::Watcher;
use windlass_store::queue::{QueueTelemetryEvent, Telemetry, TelemetryName};
use windlass_telemetry::{Collector, Format, Level, Metric, Observed, Otlp, Registry, Seen, Spans, TaskLabels};

use crate::collecting::Outward;
use crate::config::Config;
use crate::remembered::Remembered;
use crate::show::print_log;

/// `[telemetry]` in `windlass.toml`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetryConfig {
    /// Whether metrics say which task they are of.
    pub task_labels: bool,
    /// Names by which others reach `worker --metrics`; without any it answers this machine alone.
    pub metrics_hosts: Vec<String>,
}

/// `WINDLASS_LOG`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogChoice {
    Off,
    UpTo(Level),
}

impl LogChoice {
    pub const WORDS: &str = "error, warn, info, debug or off";

    const fn shows(self, level: Level) -> bool {
        match self {
            Self::Off => false,
            // The levels are in order, the gravest first.
            Self::UpTo(most) => level as u8 <= most as u8,
        }
    }
}

impl FromStr for LogChoice {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        Ok(match word {
            "off" => Self::Off,
            "error" => Self::UpTo(Level::Error),
            "warn" => Self::UpTo(Level::Warn),
            "info" => Self::UpTo(Level::Info),
            "debug" => Self::UpTo(Level::Debug),
            _ => return Err(()),
        })
    }
}

/// `WINDLASS_LOG_FORMAT`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogFormat(Format);

impl LogFormat {
    pub const WORDS: &str = "text or json";
}

impl FromStr for LogFormat {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        match word {
            "text" => Ok(Self(Format::Text)),
            "json" => Ok(Self(Format::Json)),
            _ => Err(()),
        }
    }
}

/// What this process has seen, of all its tasks.
#[derive(Clone)]
pub struct Observing {
    pub registry: Arc<Registry>,
    log: LogChoice,
    format: Format,
    task_labels: TaskLabels,
    tasks: Arc<Remembered<Eyes>>,
    collector: Option<Collector>,
    runtime: Arc<dyn Runtime>,
    /// From the first task on: commands that only look send nothing.
    otlp: Arc<OnceLock<Arc<Otlp>>>,
}

/// What must be remembered of a task.
struct Eyes {
    seen: Seen,
    spans: Spans,
}

impl Observing {
    pub fn new(config: &Config, unless_said: LogChoice, runtime: &Arc<dyn Runtime>) -> Self {
        Self {
            registry: Arc::default(),
            log: config.log.unwrap_or(unless_said),
            format: config.log_format.0,
            task_labels: if config.file.telemetry.task_labels { TaskLabels::On } else { TaskLabels::Off },
            tasks: Arc::default(),
            collector: config.collector.clone(),
            runtime: Arc::clone(runtime),
            otlp: Arc::default(),
        }
    }

    /// `watcher`, and beside it this.
    pub fn watch(&self, task: TaskId, watcher: Arc<dyn Watcher>) -> Arc<dyn Watcher> {
        if let Some(collector) = &self.collector {
            let dial = Arc::new(Outward::new(Arc::clone(&self.runtime)));
            let start = || Otlp::start(collector.clone(), dial, Arc::clone(&self.registry), Arc::clone(&self.runtime));
            self.otlp.get_or_init(start);
        }
        let eyes = || Eyes { seen: Seen::new(task, self.task_labels), spans: Spans::new(task) };
        let eyes = self.tasks.wake(task, eyes);
        Arc::new(Watched { observing: self.clone(), task, eyes, watcher })
    }

    /// What has not been sent yet, as far as a second goes.
    pub async fn flush(&self) {
        if let Some(otlp) = self.otlp.get() {
            otlp.flush().await;
        }
    }

    /// `telemetry`, and beside it metrics of the same names.
    pub fn queues(&self, telemetry: Arc<dyn Telemetry>) -> Arc<dyn Telemetry> {
        Arc::new(Queues { registry: Arc::clone(&self.registry), telemetry })
    }

    fn take(&self, observed: Vec<Observed>, at: Wall) {
        for seen in observed {
            match seen {
                Observed::Metric(metric) => self.registry.add(metric),
                Observed::Log(line) if self.log.shows(line.level) => print_log(&line.written(self.format, at)),
                Observed::Log(_) => {}
            }
        }
    }
}

struct Watched {
    observing: Observing,
    task: TaskId,
    eyes: Arc<Mutex<Eyes>>,
    watcher: Arc<dyn Watcher>,
}

impl Watched {
    fn eyes(&self) -> MutexGuard<'_, Eyes> {
        self.eyes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.observing.tasks.rest(self.task);
    }
}

impl Watcher for Watched {
    fn begins(&self, task: TaskId, so_far: &TaskState) {
        self.eyes().seen.begins(so_far);
        self.watcher.begins(task, so_far);
    }

    fn task(&self, task: TaskId, event: &TaskEvent, at: Wall) {
        let observed = self.eyes().seen.task(event);
        self.observing.take(observed, at);
        if matches!(event, TaskEvent::Finished(_)) {
            self.observing.tasks.forget(task);
        }
        self.watcher.task(task, event, at);
    }

    fn execution(&self, execution: ExecutionId, event: &ExecutionEvent, at: Wall) {
        let observed = self.eyes().seen.execution(execution, event, at);
        self.observing.take(observed, at);
        if let Some(otlp) = self.observing.otlp.get() {
            let span = self.eyes().spans.execution(execution, event, at);
            span.into_iter().for_each(|span| otlp.add(span));
        }
        self.watcher.execution(execution, event, at);
    }

    fn delta(&self, execution: ExecutionId, delta: Delta) {
        self.watcher.delta(execution, delta);
    }

    fn for_part(&self, part: TaskId) -> Option<Arc<dyn Watcher>> {
        let watcher = self.watcher.for_part(part).unwrap_or_else(|| Arc::clone(&self.watcher));
        Some(self.observing.watch(part, watcher))
    }

    fn trouble(&self, what: &str) {
        self.watcher.trouble(what);
    }
}

struct Queues {
    registry: Arc<Registry>,
    telemetry: Arc<dyn Telemetry>,
}

impl Telemetry for Queues {
    fn emit(&self, event: QueueTelemetryEvent) {
        let metric = match event.event_name {
            TelemetryName::QueueDepthSample => Metric::gauge("queue_depth_sample", event.value),
            TelemetryName::QueueWaitMs => Metric::measure("queue_wait_ms", event.value),
            TelemetryName::LeaseDurationMs => Metric::measure("lease_duration_ms", event.value),
            // Their values are how many there were of one lease.
            TelemetryName::LeaseHeartbeat => Metric::count("lease_heartbeat", 1),
            TelemetryName::LeaseExpired => Metric::count("lease_expired", 1),
        };
        self.registry.add(metric.with("queue_name", event.queue_name.as_str()));
        self.telemetry.emit(event);
    }
}
