//! What still runs of a home. A process belongs to it when the home's name is in its command line, is where it stands, or is
//! mounted where it lives: inside a sandbox nothing else betrays it.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use super::home::Home;

/// Ends are not instant; this is a guard, far beyond what is expected.
const GUARD: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The command lines of the processes of this home, zombies aside.
fn left_running(home: &Home) -> Vec<String> {
    let mark = home.mark();
    let processes = fs::read_dir("/proc").expect("/proc").flatten().map(|entry| entry.path());
    let own = format!("/proc/{}", std::process::id());
    processes
        .filter(|process| process.as_path() != Path::new(&own) && has_to_do_with(process, &mark))
        .map(|process| format!("{}: {}", process.display(), command_line(&process)))
        .collect()
}

/// Waits until nothing of this home runs.
pub fn none_left(home: &Home) {
    let begun = Instant::now();
    loop {
        let left = left_running(home);
        if left.is_empty() {
            return;
        }
        assert!(begun.elapsed() < GUARD, "still running:\n{}", left.join("\n"));
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Waits until a process of this home has this command line.
pub fn wait_for_process(home: &Home, command: &str) {
    let begun = Instant::now();
    while !left_running(home).iter().any(|process| process.trim_end().ends_with(&format!(": {command}"))) {
        assert!(begun.elapsed() < GUARD, "`{command}` never ran");
        std::thread::sleep(LOOK_EVERY);
    }
}

/// The most memory that a process has held until now. Nothing once it has ended.
pub fn peak_kb(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

fn has_to_do_with(process: &Path, mark: &str) -> bool {
    let stands = fs::read_link(process.join("cwd")).unwrap_or_default();
    let mounts = || fs::read_to_string(process.join("mountinfo")).unwrap_or_default();
    command_line(process).contains(mark) || stands.to_string_lossy().contains(mark) || mounts().contains(mark)
}

fn command_line(process: &Path) -> String {
    let bytes = fs::read(process.join("cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}
