//! The image of the service, built and started as `packaging/compose.yaml` says: the service, and a worker beside it. PostgreSQL and
//! Redis are other people's images and are not started; without the one the store is SQLite in the volume that both have, and the other
//! is waited for.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use super::socket;
use crate::support::Home;

const IMAGE: &str = "windlass:latest";

const MAKER: &str = r#"
version: 1
tracks:
  default:
    - calls: [ { tool: bash, args: { command: "echo by hand > made" } } ]
    - reply: Done.
"#;

fn packaging() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging").canonicalize().expect("packaging")
}

fn docker<Word: AsRef<str>>(words: &[Word]) -> Output {
    let mut command = Command::new("docker");
    command.args(words.iter().map(AsRef::as_ref)).env("DOCKER_HOST", format!("unix://{}", socket()));
    command.output().expect("docker starts")
}

/// What it said, having done what it was told.
fn done<Word: AsRef<str>>(words: &[Word]) -> String {
    let output = docker(words);
    let [stdout, stderr] = [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    assert!(output.status.success(), "docker {words:?}: {stdout}{stderr}");
    stdout
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// What the image itself says, as `.Config` has it.
fn of_image(field: &str) -> Vec<String> {
    let said = done(&["inspect", "--format", &format!("{{{{json .Config.{field}}}}}"), IMAGE]);
    texts(&serde_json::from_str(&said).expect("JSON"))
}

/// The services of the file, with containers and volumes that go when the test does.
struct Composed {
    services: Value,
    prefix: String,
    script: PathBuf,
}

impl Composed {
    fn new(home: &Home) -> Self {
        let text = std::fs::read_to_string(packaging().join("compose.yaml")).expect("compose.yaml");
        let composed: Value = serde_saphyr::from_str(&text).expect("YAML");
        let script = home.path().join("script.yaml");
        let prefix = format!("windlass-packaged-{}", std::process::id());
        Self { services: composed["services"].clone(), prefix, script }
    }

    fn container(&self, service: &str) -> String {
        format!("{}-{service}", self.prefix)
    }

    /// `docker run` as compose would, up to the image's name.
    fn run(&self, service: &str, more: &[&str]) -> Vec<String> {
        let said = &self.services[service];
        assert_eq!(said["image"], IMAGE);
        let mut words: Vec<String> = ["run", "--network", "none"].map(str::to_owned).into();
        words.extend(more.iter().map(|word| (*word).to_owned()));
        let script = format!("{}:/script.yaml:ro", self.script.display());
        let volumes = texts(&said["volumes"]).into_iter().map(|volume| self.volume(&volume));
        volumes.chain([script]).for_each(|volume| words.extend(["--volume".to_owned(), volume]));
        for (name, value) in said["environment"].as_object().expect("an environment") {
            words.extend(variable(name, value.as_str().expect("text")).map(|said| format!("--env={said}")));
        }
        words.extend(texts(&said["security_opt"]).iter().map(|option| format!("--security-opt={option}")));
        words.extend((said["healthcheck"]["disable"] == true).then(|| "--no-healthcheck".to_owned()));
        words.push(IMAGE.to_owned());
        words
    }

    fn volume(&self, said: &str) -> String {
        match said.strip_prefix("./") {
            Some(file) => format!("{}/{file}", packaging().display()),
            None => format!("{}-{said}", self.prefix),
        }
    }

    fn started(&self, service: &str, command: &[String]) -> String {
        let container = self.container(service);
        done(&[self.run(service, &["--detach", "--name", &container]), command.to_vec()].concat());
        container
    }

    /// Asked as the image says, until it answers.
    fn wait_until_healthy(&self, service: &str) {
        let container = self.container(service);
        let asks = of_image("Healthcheck.Test");
        assert_eq!(asks[0], "CMD");
        let words = [vec!["exec".to_owned(), container.clone()], asks[1..].to_vec()].concat();
        while !docker(&words).status.success() {
            let state = done(&["inspect", "--format", "{{.State.Status}}", &container]);
            assert_eq!(state.trim(), "running", "{}", said_by(&container));
        }
    }

    /// How it ended, asked to.
    fn ended(&self, service: &str) -> String {
        let container = self.container(service);
        done(&["stop", &container]);
        done(&["inspect", "--format", "{{.State.ExitCode}}", &container]).trim().to_owned()
    }
}

impl Drop for Composed {
    fn drop(&mut self) {
        for service in ["windlass", "worker"] {
            docker(&["rm", "--force", "--volumes", &self.container(service)]);
        }
        for volume in ["windlass", "projects"] {
            docker(&["volume", "rm", "--force", &self.container(volume)]);
        }
    }
}

fn said_by(container: &str) -> String {
    let output = docker(&["logs", container]);
    [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat()
}

/// As somebody with a model has it; without the store, which would be a server's.
fn variable(name: &str, value: &str) -> Option<String> {
    let value = match name {
        "WINDLASS_STORE_URL" => return None,
        "LITELLM_API_BASE" => "http://127.0.0.1:9",
        "LITELLM_MODEL" => "any",
        _ if value.starts_with("${") => "",
        _ => value,
    };
    Some(format!("{name}={value}"))
}

#[test]
fn what_is_shipped_starts_is_well_and_works_on_a_task() {
    let home = Home::playing(MAKER);
    let build = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/service-image");
    let built = Command::new(build).arg(env!("CARGO_BIN_EXE_windlass")).status().expect("a script");
    assert!(built.success(), "the image is built");
    let composed = Composed::new(&home);

    let words = ["token", "add", "me", "--scope", "read,write,approve", "--json"].map(str::to_owned);
    let added = done(&[composed.run("windlass", &["--rm"]), words.into()].concat());
    let added: Value = serde_json::from_str(added.trim()).expect("an object");
    let token = added["token"].as_str().expect("a token");

    // As the image starts it, but for the model; the worker is the one who works.
    let more = ["--no-work", "--rehearsal", "/script.yaml"].map(str::to_owned);
    let service = composed.started("windlass", &[of_image("Cmd"), more.into()].concat());
    composed.wait_until_healthy("windlass");
    let worker = composed.started("worker", &texts(&composed.services["worker"]["command"]));

    let variables = [format!("WINDLASS_TOKEN={token}"), "WINDLASS_SERVER=http://localhost:7117".to_owned()];
    let run = ["windlass", "run", "Make it", "--base-case", "command: grep -q hand made", "--json"];
    let asked = [&["exec", "--env", &variables[0], "--env", &variables[1], &service][..], &run].concat();
    let told = docker(&asked);
    let told = [told.stdout, told.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat();
    let result = told.lines().last().and_then(|line| serde_json::from_str::<Value>(line).ok()).unwrap_or_default();
    assert_eq!(result["verified"], true, "{told}\n{}\n{}", said_by(&service), said_by(&worker));
    assert_eq!(done(&["exec", &worker, "cat", "/srv/projects/made"]), "by hand\n");

    assert_eq!([composed.ended("worker"), composed.ended("windlass")], ["0", "0"], "{}", said_by(&service));
}
