//! Runs in containers, against the daemon that `make test-docker` starts.

mod packaged;

use rustix::process::Signal;

use crate::support::{Home, Ledger, Program, none_left};

/// Says where it is, and leaves a file.
const TOURIST: &str = r#"
version: 1
tracks:
  default:
    - calls: [ { tool: bash, args: { command: "hostname; pwd; echo hi > made" } } ]
    - reply: Done.
"#;

/// Waits for hours, with something in the background.
const SLEEPER: &str = r#"
version: 1
tracks:
  default:
    - calls: [ { tool: bash, args: { command: "echo begun > ledger; sleep 10000 & sleep 10000", timeout_seconds: 3600 } } ]
    - reply: Done without it.
"#;

fn socket() -> String {
    std::env::var("WINDLASS_TEST_DOCKER").expect("a Docker daemon: run `make test-docker`")
}

fn in_docker(program: Program) -> Program {
    program.env("DOCKER_HOST", &format!("unix://{}", socket()))
}

/// What the daemon knows of this home's containers.
fn containers(home: &Home) -> usize {
    use std::io::{Read as _, Write as _};
    let mut daemon = std::os::unix::net::UnixStream::connect(socket()).expect("a daemon");
    daemon.write_all(b"GET /containers/json?all=1 HTTP/1.0\r\n\r\n").expect("it is asked");
    let mut answer = String::new();
    daemon.read_to_string(&mut answer).expect("it answers");
    answer.matches(&*home.workspace().to_string_lossy()).count()
}

#[test]
fn a_run_in_a_container_is_verified_in_another() {
    let home = Home::playing(TOURIST);
    let run = home.run(&["--sandbox", "docker", "--json", "--base-case", "command: test -e made"]);
    let ended = in_docker(run).run().expect(0);
    assert_eq!(ended.result()["verified"], true);
    assert!(ended.stdout.contains("sandbox\\n/workspace"), "{}", ended.stdout);
    assert_eq!(containers(&home), 0);
}

/// Skills are at `/skills` and cannot be written to; the workspace can, which is the control.
#[test]
fn skills_are_there_to_read() {
    let home = Home::playing(
        r#"
version: 1
tracks:
  default:
    - calls: [ { tool: bash, args: { command: "sh write.sh" } } ]
    - reply: Done.
"#,
    );
    std::fs::create_dir(home.data()).expect("a data directory");
    std::fs::write(home.data().join("windlass.toml"), "[skills]\nfrom = [\"workspace\"]\n").expect("written");
    home.write(".agents/skills/build/SKILL.md", "---\nname: build\ndescription: How to build this\n---\nBuild.\n");
    home.write(".agents/skills/build/go.sh", "echo built\n");
    let script = "sh /skills/build/go.sh\nfor place in /skills /skills/build .; do touch $place/new && echo wrote $place; done\ntrue\n";
    home.write("write.sh", script);
    let ended = in_docker(home.run(&["--sandbox", "docker", "--json"])).run().expect(0);
    let finished = ended.objects().into_iter().find(|record| record["type"] == "tool.finished").expect("a result");
    let said = finished["data"]["content"].as_str().expect("text");
    assert!(said.contains("built") && said.contains("wrote ."), "{said}");
    assert!(!said.contains("wrote /skills"), "{said}");
}

#[test]
fn the_environment_chooses_it_too() {
    let home = Home::playing(TOURIST);
    let ended = in_docker(home.run(&[])).env("CONTAINER_MODE", "docker").run().expect(0);
    assert!(ended.stdout.contains("sandbox docker"), "{}", ended.stdout);
    let ended = in_docker(home.run(&[])).env("CONTAINER_MODE", "mock").run().expect(2);
    assert!(ended.stderr.contains("docker, bubblewrap or process"), "{}", ended.stderr);
}

#[test]
fn a_killed_run_leaves_no_container_and_goes_on() {
    let home = Home::playing(SLEEPER);
    let mut ledger = Ledger::open(&home);
    let run = in_docker(home.run(&["--sandbox", "docker"])).start();
    ledger.wait_for("begun");
    assert!(containers(&home) > 0);
    run.signal(Signal::KILL);
    run.end();
    // The supervisor ends by itself; the daemon needs a moment more for the rest.
    while containers(&home) > 0 {
        std::thread::yield_now();
    }
    none_left(&home);
    in_docker(home.windlass(&["resume"])).run().expect(0);
    assert_eq!(containers(&home), 0);
}

#[test]
fn an_image_that_is_not_there_pauses_with_what_to_do() {
    let home = Home::playing(TOURIST);
    let run = in_docker(home.run(&["--sandbox", "docker"])).env("CONTAINER_IMAGE", "no-such-image");
    let ended = run.run().expect(5);
    assert!(ended.stdout.contains("make image"), "{ended:?}");
    in_docker(home.windlass(&["resume"])).run().expect(0);
}

#[test]
fn a_doctor_looks_at_the_daemon() {
    let home = Home::new();
    let ended = in_docker(home.windlass(&["doctor"])).run().expect(0);
    assert!(ended.stdout.contains("a command ran in a container"), "{}", ended.stdout);
    let nowhere = home.windlass(&["doctor"]).env("DOCKER_HOST", "unix:///nowhere.sock");
    assert!(nowhere.run().expect(0).stdout.contains("· docker"), "nobody needs it who does not use it");
    let nowhere = home.windlass(&["doctor"]).env("DOCKER_HOST", "unix:///nowhere.sock").env("CONTAINER_MODE", "docker");
    assert!(nowhere.run().expect(1).stdout.contains("✘ docker"));
}
