//! Memory, processes, file size, open files and processor time.

use std::time::Duration;

use windlass_sandbox::{Command, Limits, Provider, Status};

use crate::support::{
    ATTACKER, Room, bubblewrap, bubblewrap_of, confined, eventually, in_time, mark, marked, own_program, process, text,
    with_cgroups, write_program,
};

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
    for (provider, program) in
        [(confined(), ATTACKER.to_owned()), (Box::new(process()), own_program().display().to_string())]
    {
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
    // Where a control group counts, the kernel kills one of them after the other.
    let room = room(&bubblewrap(), limits).await;
    let hog = format!("{ATTACKER} --exact attack::holding_a_quarter_gibibyte --ignored --nocapture");
    let mut command = Command::bash(&format!("for i in 1 2 3 4; do {hog} & done; wait"));
    command.timeout = Duration::from_secs(50);
    assert_eq!(room.run(command).await.status, Status::OutOfMemory);
    assert!(room.bash("true").await.success());
}

/// Nothing would count them.
#[tokio::test]
async fn there_are_no_files_in_memory_where_only_counting_helps() {
    let attack = "attack::half_a_gibibyte_in_memory_files";
    let inside = room(&bubblewrap(), Limits::default()).await.run(hog(ATTACKER, attack)).await;
    assert!(text(&inside.stdout).contains("denied") && !text(&inside.stdout).contains("worked"), "{inside:?}");
    let own_program = own_program().display().to_string();
    let outside = room(&process(), Limits::default()).await.run(hog(&own_program, attack)).await;
    assert!(text(&outside.stdout).contains("worked"), "{outside:?}");
}

#[tokio::test]
async fn memory_that_belongs_to_no_process_alone_is_counted_too() {
    const SHARED: &str = "attack::holding_half_a_gibibyte_of_shared_memory";
    const SEGMENT: &str = "attack::holding_half_a_gibibyte_in_a_segment";
    for attack in [SHARED, SEGMENT] {
        let small = room(&*confined(), Limits { memory_bytes: 256 << 20, ..Limits::default() }).await;
        assert_eq!(small.run(hog(ATTACKER, attack)).await.status, Status::OutOfMemory, "{attack}");
        assert_eq!(small.says("tail -n +2 /proc/sysvipc/shm").await, "", "nothing of it is left");
    }
    let with_room = async |attack| {
        let mut command = hog(ATTACKER, attack);
        command.timeout = Duration::from_secs(5);
        let control = room(&*confined(), Limits::default()).await.run(command).await;
        assert_eq!(control.status, Status::TimedOut, "{attack}: {}", text(&control.stdout));
        assert!(text(&control.stdout).contains("holding"), "{attack}: {}", text(&control.stdout));
    };
    tokio::join!(with_room(SHARED), with_room(SEGMENT));
}

/// A regression: between a start and its program there are two processes with one memory, which was counted twice, so that a large
/// program was ended for what it did not use.
#[tokio::test]
async fn a_program_that_starts_others_is_counted_once() {
    let room = room(&*confined(), Limits { memory_bytes: 320 << 20, ..Limits::default() }).await;
    let exit = room.run(hog(ATTACKER, "attack::a_quarter_gibibyte_that_starts_programs")).await;
    assert!(text(&exit.stdout).contains("worked"), "{exit:?}");
}

const FILL: &str = "for place in /tmp /dev/shm ~; do cat /dev/zero > $place/large; done; true";

/// The hog has room if the scratch places are empty, and none if they are full.
#[tokio::test]
async fn what_lies_in_the_scratch_places_counts_as_memory() {
    let limits = || Limits { memory_bytes: 320 << 20, ..Limits::default() };
    let attack = "attack::holding_a_quarter_gibibyte";
    let mut briefly = hog(ATTACKER, attack);
    briefly.timeout = Duration::from_secs(3);
    let empty = room(&*confined(), limits()).await;
    assert_eq!(empty.run(briefly).await.status, Status::TimedOut);
    let full = room(&*confined(), limits()).await;
    full.says(FILL).await;
    assert_eq!(full.run(hog(ATTACKER, attack)).await.status, Status::OutOfMemory);
    full.says("rm /tmp/large /dev/shm/large ~/large").await;
}

/// A regression: it used to kill the supervisor, and with it every later command.
#[tokio::test]
async fn a_sandbox_whose_memory_is_full_still_works() {
    let has_groups = windlass_sandbox::control_groups().state == windlass_sandbox::State::Good;
    let in_groups = if has_groups { Status::OutOfMemory } else { Status::Code(0) };
    for (provider, expected) in [(bubblewrap(), Status::Code(0)), (with_cgroups(), in_groups)] {
        let room = room(&provider, Limits { memory_bytes: 64 << 20, ..Limits::default() }).await;
        for _ in 0..3 {
            let exit = room.bash(FILL).await;
            assert!(exit.success() && text(&exit.combined).contains("No space left"), "{exit:?}");
            let sizes = room.says("stat -c %s /tmp/large ~/large /dev/shm/large").await;
            assert_eq!(sizes, "16777216\n12582912\n4194304");
        }
        // Reports that there are none where nothing would count them, and is killed where they are counted.
        let hog = room.run(hog(ATTACKER, "attack::half_a_gibibyte_in_memory_files")).await;
        assert_eq!(hog.status, expected, "{}", text(&hog.stdout));
        assert!(!text(&hog.stdout).contains("worked"), "{}", text(&hog.stdout));
        assert!(room.bash("rm /tmp/large").await.success());
    }
}

/// Empty files take memory that no size bounds, and no command would live long enough to remove them.
#[tokio::test]
async fn more_files_than_memory_can_hold_are_removed_with_their_command() {
    let room = room(&*confined(), Limits { memory_bytes: 16 << 20, ..Limits::default() }).await;
    room.says("for i in $(seq 1000); do : > /tmp/few$i; done; touch ~/kept").await;
    assert_eq!(room.says("ls /tmp | wc -l; ls ~").await, "1000\nkept", "what fits is kept");
    let exit = room.bash("for ((i = 0; i < 1000000; i++)); do : > /tmp/many$i; done").await;
    assert_eq!(exit.status, Status::OutOfMemory);
    assert_eq!(room.says("ls -A /tmp ~").await, "/home/agent:\n\n/tmp:");
}

/// Whatever the sizes: the kernel chooses by score.
#[tokio::test]
async fn when_memory_runs_out_commands_go_first_then_their_supervisor_then_its_owner() {
    let score = |text: &str| text.trim().parse::<i32>().expect("a number");
    let owner = score(&std::fs::read_to_string("/proc/self/oom_score_adj").expect("reads"));
    for provider in [confined(), Box::new(with_cgroups()), Box::new(process())] {
        let room = Room::open(&*provider).await;
        for _ in 0..2 {
            // The supervisor has the commands' score for the moment in which one is born, which may last until the command looks.
            let script = "supervisor=$(ps -o ppid= -p $PPID | tr -d ' '); cd /proc;
                for i in $(seq 100000); do [ $(< $supervisor/oom_score_adj) = 1000 ] || break; done;
                cat self/oom_score_adj $supervisor/oom_score_adj";
            let said = room.says(script).await;
            let (command, supervisor) = said.split_once('\n').expect("two lines");
            assert_eq!(score(command), 1000);
            assert!(score(supervisor) < 1000 && owner <= score(supervisor), "{said}, {owner}");
        }
    }
    let room = Room::open(&bubblewrap()).await;
    assert!(!room.bash("echo 0 > /proc/self/oom_score_adj").await.success(), "a command cannot change its own");
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

/// Bubblewrap itself too: what runs before it is in could take what it likes.
#[tokio::test]
async fn everything_of_a_sandbox_is_in_its_control_groups_from_the_first_instruction() {
    let groups = windlass_sandbox::control_groups();
    if groups.state != windlass_sandbox::State::Good {
        eprintln!("skipped: no control groups to write here: {}", groups.detail);
        return;
    }
    let folder = crate::support::workspace();
    let note = folder.path().join("note");
    let script = format!("#!/bin/sh\ncat /proc/self/cgroup > {}\nexec /usr/bin/bwrap \"$@\"\n", note.display());
    let program = write_program(&folder, &script);
    let room = Room::open(&with_cgroups().program(program)).await;
    let confined = |memberships: &str| {
        let name = format!("windlass-{}-", std::process::id());
        let holds = |controller: &str| {
            let mut lines = memberships.lines().filter(|line| line.contains(&name));
            lines.any(|line| line.starts_with("0::") || line.contains(&format!(":{controller}:")))
        };
        holds("memory") && holds("pids")
    };
    assert!(!confined(&std::fs::read_to_string("/proc/self/cgroup").expect("reads")), "the owner is not in them");
    let first = std::fs::read_to_string(note).expect("written");
    assert!(confined(&first), "{first}");
    let mark = mark();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let script = format!("(setsid sleep {mark} &); sleep {mark}; :");
    let mut watch = windlass_sandbox::discard;
    let cancel = Box::pin(async move { drop(stopped.await) });
    let command = room.sandbox.run(Command::bash(&script), &mut watch, cancel);
    let look = async {
        eventually("both starts", || marked(&mark) >= 3).await;
        let tree = tree_of(bubblewrap_of(&room));
        assert!(tree.len() >= 6, "bubblewrap, supervisor, minder, bash and two sleeps: {tree:?}");
        for pid in tree {
            let memberships = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).expect("reads");
            assert!(confined(&memberships), "{pid}: {memberships}");
        }
        drop(stop);
    };
    let (exit, ()) = in_time(async { tokio::join!(command, look) }).await;
    assert_eq!(exit.expect("runs").status, Status::Cancelled);
}

fn tree_of(root: i32) -> Vec<i32> {
    let mut found = vec![root];
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).expect("reads");
        found.extend(children.split_ascii_whitespace().map(|word| word.parse::<i32>().expect("a pid")));
        next += 1;
    }
    found
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
    let room = room(&*confined(), limits).await;
    let exit = room.run(Command::new(["dd", "if=/dev/zero", "of=large", "bs=1M", "count=8"])).await;
    assert_eq!(exit.status, Status::Signal(25), "{}", text(&exit.combined));
    assert_eq!(std::fs::metadata(room.file("large")).expect("begun").len(), 1 << 20);
}

#[tokio::test]
async fn scratch_places_are_bounded() {
    let limits = Limits { scratch_bytes: 4 << 20, ..Limits::default() };
    let room = room(&*confined(), limits).await;
    for place in ["/tmp", "/dev/shm", "/home/agent"] {
        let script = format!("head -c 8M /dev/zero > {place}/large; stat -c %s {place}/large");
        let said = text(&room.bash(&script).await.combined);
        assert!(said.contains("No space left") && said.contains("4194304"), "{place}: {said}");
    }
}

#[tokio::test]
async fn processor_time_and_open_files_are_bounded() {
    let limits = Limits { cpu_seconds: Some(1), open_files: 32, ..Limits::default() };
    let room = room(&*confined(), limits).await;
    let mut command = Command::bash("while true; do :; done");
    command.timeout = Duration::from_secs(50);
    let exit = room.run(command).await;
    assert!(matches!(exit.status, Status::Signal(9 | 24)), "{:?}", exit.status);
    assert_eq!(room.says("ulimit -n; ulimit -Hn; ulimit -c").await, "32\n32\n0");
}
