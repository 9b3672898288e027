//! Memory, processes, file size, open files and processor time.

use std::time::Duration;

use windlass_sandbox::{Command, Limits, Provider, Status};

use crate::support::{ATTACKER, Room, bubblewrap, own_program, process, text, with_cgroups};

fn hog(program: &str, name: &str) -> Command {
    let mut command = Command::new([program, "--exact", name, "--ignored", "--nocapture", "--test-threads=1"]);
    command.timeout = Duration::from_secs(50);
    command
}

async fn room(provider: &dyn Provider, limits: Limits) -> Room {
    Room::open_with(provider, |policy| policy.limits = limits).await
}

#[tokio::test]
async fn a_memory_hog_is_stopped_and_with_room_it_is_not() {
    let small = || Limits { memory_bytes: 256 << 20, ..Limits::default() };
    for (provider, program) in [
        (Box::new(bubblewrap()) as Box<dyn Provider>, ATTACKER.to_owned()),
        (Box::new(process()), own_program().display().to_string()),
    ] {
        let stopped = room(&*provider, small()).await.run(hog(&program, "attack::one_gibibyte")).await;
        assert!(!text(&stopped.stdout).contains("worked"), "{stopped:?}");
        let control = room(&*provider, Limits::default()).await.run(hog(&program, "attack::one_gibibyte")).await;
        assert!(text(&control.stdout).contains("worked"), "{control:?}");
    }
}

/// Each of them is within its own limit; only together they are not.
#[tokio::test]
async fn many_small_hogs_are_stopped_together() {
    let limits = Limits { memory_bytes: 512 << 20, ..Limits::default() };
    let room = room(&bubblewrap(), limits).await;
    let hog = format!("{ATTACKER} --exact attack::holding_a_quarter_gibibyte --ignored --nocapture");
    let mut command = Command::bash(&format!("for i in 1 2 3 4; do {hog} & done; wait"));
    command.timeout = Duration::from_secs(50);
    assert_eq!(room.run(command).await.status, Status::OutOfMemory);
    assert!(room.bash("true").await.success());
}

#[tokio::test]
async fn control_groups_hold_memory_and_processes_where_they_can() {
    let provider = with_cgroups();
    let groups = windlass_sandbox::control_groups();
    if groups.state != windlass_sandbox::State::Good {
        eprintln!("skipped: no control groups to write here: {}", groups.detail);
        return;
    }
    let limits = Limits { memory_bytes: 256 << 20, processes: 40, ..Limits::default() };
    let room = room(&provider, limits).await;
    assert_eq!(room.run(hog(ATTACKER, "attack::one_gibibyte")).await.status, Status::OutOfMemory);
    let script = "for i in $(seq 100); do sleep 5 & done; jobs -p | wc -l";
    let exit = room.bash(script).await;
    assert!(text(&exit.combined).contains("Resource temporarily unavailable"), "{}", text(&exit.combined));
    assert!(room.bash("true").await.success());
    room.sandbox.close().await;
    assert_eq!(own_groups(), Vec::<String>::new(), "nothing is left in the control group tree");
}

fn own_groups() -> Vec<String> {
    let name = format!("windlass-{}-", std::process::id());
    let mut found = Vec::new();
    let mut to_visit = vec![std::path::PathBuf::from("/sys/fs/cgroup")];
    while let Some(directory) = to_visit.pop() {
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(&name) {
                found.push(entry.path().display().to_string());
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                to_visit.push(entry.path());
            }
        }
    }
    found
}

#[tokio::test]
async fn a_file_cannot_grow_beyond_its_limit() {
    let limits = Limits { file_size_bytes: 1 << 20, ..Limits::default() };
    let room = room(&bubblewrap(), limits).await;
    let exit = room.run(Command::new(["dd", "if=/dev/zero", "of=large", "bs=1M", "count=8"])).await;
    assert_eq!(exit.status, Status::Signal(25), "{}", text(&exit.combined));
    assert_eq!(std::fs::metadata(room.file("large")).expect("begun").len(), 1 << 20);
}

#[tokio::test]
async fn scratch_places_are_bounded() {
    let limits = Limits { scratch_bytes: 4 << 20, ..Limits::default() };
    let room = room(&bubblewrap(), limits).await;
    for place in ["/tmp", "/dev/shm", "/home/agent"] {
        let script = format!("head -c 8M /dev/zero > {place}/large; stat -c %s {place}/large");
        let said = text(&room.bash(&script).await.combined);
        assert!(said.contains("No space left") && said.contains("4194304"), "{place}: {said}");
    }
}

#[tokio::test]
async fn processor_time_and_open_files_are_bounded() {
    let limits = Limits { cpu_seconds: Some(1), open_files: 32, ..Limits::default() };
    let room = room(&bubblewrap(), limits).await;
    let mut command = Command::bash("while true; do :; done");
    command.timeout = Duration::from_secs(50);
    let exit = room.run(command).await;
    assert!(matches!(exit.status, Status::Signal(9 | 24)), "{:?}", exit.status);
    assert_eq!(room.says("ulimit -n; ulimit -Hn; ulimit -c").await, "32\n32\n0");
}
