//! Where and when a table was made: a number without that says little.

#![expect(clippy::disallowed_methods, reason = "the date of a table, and git for the commit it belongs to")]

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use windlass_domain::Wall;

pub struct Machine {
    pub cores: usize,
    pub processor: String,
    pub memory_gb: f64,
    pub kernel: String,
    pub file_system: String,
    /// How many wanted to run, over the last minute: before the first measurement, and after the last.
    pub load: String,
    pub load_after: Option<String>,
    pub date: String,
    pub commit: String,
}

impl Machine {
    pub fn look(scratch: &std::path::Path) -> Self {
        let file = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let field = |text: &str, name: &str| {
            let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
            line.split_once(':').map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
        };
        let memory_kb = field(&file("/proc/meminfo"), "MemTotal").trim_end_matches("kB").trim().parse().unwrap_or(0.0);
        let processor = field(&file("/proc/cpuinfo"), "model name");
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let wall = Wall::from_millis(u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX));
        Self {
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            processor: if processor.is_empty() { "unknown processor".to_owned() } else { processor },
            memory_gb: memory_kb / f64::from(1 << 20),
            kernel: file("/proc/sys/kernel/osrelease").trim().to_owned(),
            file_system: says("stat", &["-f", "-c", "%T", &scratch.to_string_lossy()]),
            load: load(),
            load_after: None,
            date: wall.to_rfc3339().split('T').next().unwrap_or_default().to_owned(),
            commit: commit(),
        }
    }

    /// The same once everything is measured: others may have come meanwhile.
    pub fn looked_at_again(self) -> Self {
        Self { load_after: Some(load()), ..self }
    }

    pub fn describe(&self) -> String {
        format!(
            "{}, {} cores, {:.0} GB, Linux {}, {}; {} ; commit {}; load before: {}{}",
            self.processor,
            self.cores,
            self.memory_gb,
            self.kernel,
            self.file_system,
            self.date,
            self.commit,
            self.load,
            self.load_after.as_ref().map(|load| format!(", after: {load}")).unwrap_or_default()
        )
        .replace(" ;", ";")
    }
}

fn load() -> String {
    let averages = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    averages.split(' ').next().unwrap_or_default().to_owned()
}

fn commit() -> String {
    let hash = says("git", &["rev-parse", "--short", "HEAD"]);
    let changed = !says("git", &["status", "--porcelain", "--untracked-files=no"]).is_empty();
    match (hash.is_empty(), changed) {
        (true, _) => "unknown".to_owned(),
        (false, true) => format!("{hash} with changes"),
        (false, false) => hash,
    }
}

fn says(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}
