//! What only containers have: a daemon, an image, labels. With a real daemon, which `make test-docker` starts.

use std::{
    io::{Read, Write},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    time::Duration,
};

use windlass_sandbox::{Command, Docker, Error, Limits, Policy, Provider, Status};

use crate::moody::Moody;
use crate::support::{ATTACKER, Room, docker_socket, eventually, in_time, supervisor, workspace};

fn daemon() -> PathBuf {
    docker_socket().expect("a Docker daemon: run `make test-docker`")
}

fn docker(socket: &Path) -> Docker {
    Docker::new(supervisor()).socket(socket)
}

/// What the daemon answers.
fn api(socket: &Path, method: &str, path: &str, body: &[u8]) -> String {
    let mut stream = UnixStream::connect(socket).expect("a daemon");
    let head =
        format!("{method} {path} HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).expect("writes");
    stream.write_all(body).expect("writes");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("reads");
    answer
}

/// Containers of this workspace.
fn containers(socket: &Path, workspace: &Path) -> usize {
    let listed = api(socket, "GET", "/containers/json?all=1", b"");
    listed.matches(&format!("\"Source\":\"{}\"", workspace.display())).count()
}

async fn refusal(provider: &Docker) -> Error {
    let workspace = workspace();
    in_time(provider.open(Policy::new(workspace.path()))).await.err().expect("refused")
}

#[tokio::test]
async fn a_container_goes_with_its_sandbox() {
    let socket = daemon();
    let provider = docker(&socket);
    let room = Room::open(&provider).await;
    assert_eq!(containers(&socket, room.workspace.path()), 1);
    in_time(room.sandbox.close()).await;
    assert_eq!(containers(&socket, room.workspace.path()), 0, "closed");

    let Room { workspace, sandbox } = Room::open(&provider).await;
    drop(sandbox);
    eventually("the container's end", || containers(&socket, workspace.path()) == 0).await;
}

/// Seed 000 §12: started again twice, and what did not come up is not left behind.
#[tokio::test]
async fn a_container_that_does_not_start_is_started_again_twice_and_no_more() {
    let daemon = daemon();
    let moody = Moody::before(&daemon, 2);
    let room = Room::open(&docker(&moody.socket())).await;
    assert_eq!((room.says("echo here").await.as_str(), moody.starts()), ("here", 3));
    eventually("the others' end", || containers(&daemon, room.workspace.path()) == 1).await;
    in_time(room.sandbox.close()).await;

    let moody = Moody::before(&daemon, 3);
    let workspace = workspace();
    let refused = in_time(docker(&moody.socket()).open(Policy::new(workspace.path()))).await.err().expect("refused");
    assert!(refused.to_string().contains("not in the mood"), "{refused}");
    assert_eq!(moody.starts(), 3);
    eventually("everybody's end", || containers(&daemon, workspace.path()) == 0).await;
}

#[tokio::test]
async fn what_dead_owners_left_is_removed_and_nothing_else() {
    let socket = daemon();
    let create = |name: &str, owner: &str| {
        let body = format!(
            r#"{{"Image": "execution-agent:latest", "Cmd": ["true"], "Labels": {{"windlass.owner": "{owner}"}}}}"#
        );
        let created = api(&socket, "POST", &format!("/containers/create?name={name}"), body.as_bytes());
        assert!(created.contains(" 201 "), "{created}");
    };
    let is_there = |name: &str| api(&socket, "GET", &format!("/containers/{name}/json"), b"").contains(" 200 ");
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("an id");
    let namespace = std::fs::read_link("/proc/self/ns/pid").expect("a namespace");
    let owner = |pid: u32, started: &str| {
        format!("boot={} namespace={} pid={pid} started={started}", boot.trim(), namespace.display())
    };
    let (orphan, foreign, mine) = ("windlass-test-orphan", "windlass-test-foreign", "windlass-test-mine");
    let stat = std::fs::read_to_string("/proc/self/stat").expect("a process");
    let started = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(19)).expect("a time");
    create(orphan, &owner(std::process::id(), "1"));
    create(foreign, "boot=another namespace=pid:[1] pid=1 started=1");
    create(mine, &owner(std::process::id(), started));
    let room = Room::open(&docker(&socket)).await;
    assert!(!is_there(orphan), "its owner is dead");
    assert!(is_there(foreign) && is_there(mine), "nobody knows that theirs are");
    for name in [foreign, mine] {
        api(&socket, "DELETE", &format!("/containers/{name}?force=1"), b"");
    }
    in_time(room.sandbox.close()).await;
}

#[tokio::test]
async fn running_out_of_memory_is_said() {
    let socket = daemon();
    let limits = |mib: u64| Limits { memory_bytes: mib << 20, ..Limits::default() };
    let hog = || {
        let mut hog = Command::new([ATTACKER, "--exact", "attack::one_gibibyte", "--ignored", "--nocapture"]);
        hog.timeout = Duration::from_secs(50);
        hog
    };
    let room = Room::open_with(&docker(&socket), |policy| policy.limits = limits(256)).await;
    assert_eq!(room.run(hog()).await.status, Status::OutOfMemory);
    assert!(room.bash("true").await.success(), "the sandbox is fine");
    assert_eq!(room.bash("kill -KILL $$").await.status, Status::Signal(9), "not every kill is for memory");

    let room = Room::open_with(&docker(&socket).memory_bytes(2 << 30), |policy| policy.limits = limits(256)).await;
    assert_eq!(room.run(hog()).await.status, Status::Code(0), "the control");
}

#[tokio::test]
async fn what_is_missing_says_what_to_do() {
    let nowhere = Docker::new(supervisor()).socket("/no/such/docker.sock");
    assert!(refusal(&nowhere).await.to_string().contains("DOCKER_HOST"));
    let socket = daemon();
    let missing = docker(&socket).image("no-such-image:latest");
    assert!(refusal(&missing).await.to_string().contains("make image"));
}

/// One with nothing in it, not even a C library.
#[tokio::test]
async fn an_image_that_cannot_run_the_supervisor_says_so() {
    let socket = daemon();
    let image = "windlass-test-empty";
    let made = api(&socket, "POST", &format!("/images/create?fromSrc=-&repo={image}"), &[0; 1024]);
    assert!(made.contains(" 200 "), "{made}");
    let refused = refusal(&docker(&socket).image(image)).await.to_string();
    assert!(refused.contains("run windlass itself"), "{refused}");
    api(&socket, "DELETE", &format!("/images/{image}?force=1"), b"");
}

#[tokio::test]
async fn an_image_s_variables_stand_below_the_policy_s() {
    let socket = daemon();
    let room = Room::open_with(&docker(&socket), |policy| drop(policy.env.insert("HOME".into(), "/tmp".into()))).await;
    assert_eq!(room.says("echo $HOME; command -v python3 >/dev/null && echo there").await, "/tmp\nthere");
}

#[tokio::test]
async fn a_diagnosis_finds_the_daemon() {
    let socket = daemon();
    let scratch = workspace();
    let findings = in_time(windlass_sandbox::diagnose_docker(&docker(&socket), scratch.path())).await;
    assert!(findings.iter().all(|finding| finding.state == windlass_sandbox::State::Good), "{findings:?}");
    let nowhere = Docker::new(supervisor()).socket("/no/such/docker.sock");
    let findings = in_time(windlass_sandbox::diagnose_docker(&nowhere, scratch.path())).await;
    assert_eq!(findings[0].state, windlass_sandbox::State::Missing, "{findings:?}");
}
