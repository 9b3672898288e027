//! `windlass doctor`: what this machine has and lacks, and how to get it.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde_json::json;
use windlass_engine::Disk as _;
use windlass_policy::MIN_SECRET_BYTES;
use windlass_sandbox::{Bubblewrap, Command, Finding, Provider as _, State, diagnose, diagnose_docker, discard, never};

use super::doctor_config::show_config;
use crate::arguments::{self, SandboxName};
use crate::config::{Config, Door, FileConfig, Reading, SandboxConfig};
use crate::disk::DataDisk;
use crate::equipment::{BUBBLEWRAP, DOCKER, Wire, policy, wrong_door};
use crate::exit::Exit;
use crate::serving::mistakes;
use crate::show::{Line, Screen, Style, print_json};
use crate::stores::StoreChoice;
use crate::wiring::{Windlass, supervisor};

struct Answer {
    name: String,
    state: Health,
    detail: String,
}

/// The newest: enough to tell that there are some.
const MOST_LOOKED_AT: usize = 200;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Health {
    Fine,
    Missing,
    Note,
}

pub async fn doctor(arguments: arguments::Doctor) -> anyhow::Result<Exit> {
    let Reading { config, mut problems } = Config::read()?;
    problems.extend(mistakes(&config));
    if arguments.config {
        return Ok(show_config(&config, &problems, arguments.output));
    }
    // First, because it makes the folder in which the sandbox is tried.
    let data = data(&config).await;
    let mut answers = sandbox(&config).await;
    answers.extend(model("openai", config.openai_api.wire(), &config.openai, "LITELLM_API_BASE, LITELLM_API_KEY"));
    answers.extend(model("anthropic", Wire::Anthropic, &config.anthropic, "ANTHROPIC_API_KEY"));
    answers.extend(problems.into_iter().map(|problem| Answer {
        name: "configuration".to_owned(),
        state: Health::Missing,
        detail: problem.message,
    }));
    answers.extend(data);
    answers.push(disk(&config));
    let broken = answers.iter().any(|answer| answer.state == Health::Missing);
    if arguments.output.json {
        for Answer { name, state, detail } in &answers {
            print_json(&json!({"type": "finding", "name": name, "state": word(*state), "detail": detail}));
        }
        print_json(&json!({"type": "result", "ready": !broken}));
    } else {
        print(&answers, broken);
    }
    Ok(if broken { Exit::Failed } else { Exit::Completed })
}

async fn sandbox(config: &Config) -> Vec<Answer> {
    let scratch = config.data_dir.join("doctor");
    if let Err(error) = std::fs::create_dir_all(&scratch) {
        let detail = format!("not tried: {} cannot be made ({error})", scratch.display());
        return vec![Answer { name: "sandbox".to_owned(), state: Health::Missing, detail }];
    }
    let SandboxConfig { docker, provider, .. } = &config.file.sandbox;
    let findings = diagnose(&Bubblewrap::new(supervisor()), &scratch).await;
    let of_docker = diagnose_docker(&docker.provider(supervisor()), &scratch).await;
    let browser = browser(config, &scratch).await;
    let _made_again_next_time = std::fs::remove_dir_all(&scratch);
    // Who has not chosen containers does not need them.
    let absent = if *provider == Some(SandboxName::Docker) { Health::Missing } else { Health::Note };
    let findings = findings.into_iter().map(|finding| answer(finding, Health::Missing));
    findings.chain(of_docker.into_iter().map(|finding| answer(finding, absent))).chain([browser]).collect()
}

/// Who has not asked for one does not need one.
async fn browser(config: &Config, scratch: &Path) -> Answer {
    let answer = |state, detail| Answer { name: "browser".to_owned(), state, detail };
    let FileConfig { browser, sandbox, .. } = &config.file;
    let of_containers = sandbox.provider == Some(SandboxName::Docker);
    let found = browser.find(if of_containers { DOCKER } else { BUBBLEWRAP }, sandbox);
    match (found, browser.enabled) {
        (Err(why), false) => answer(Health::Note, why),
        (Err(why), true) => answer(Health::Missing, why),
        (Ok(program), _) if of_containers => {
            answer(Health::Note, format!("{program} in the image, which was not tried"))
        }
        (Ok(program), _) => match try_browser(&program, &config.file.sandbox, scratch).await {
            Ok(version) => answer(Health::Fine, format!("{version}, {program}")),
            Err(why) => answer(Health::Missing, format!("{program} does not start in a sandbox: {why}")),
        },
    }
}

async fn try_browser(program: &str, config: &SandboxConfig, scratch: &Path) -> Result<String, String> {
    let told = |error: windlass_sandbox::Error| format!("failed to {error}");
    let sandbox = Bubblewrap::new(supervisor()).open(policy(config, scratch)).await.map_err(told)?;
    let exit = sandbox.run(Command::new([program, "--version"]), &mut discard, never()).await.map_err(told)?;
    sandbox.close().await;
    let said = String::from_utf8_lossy(if exit.success() { &exit.stdout } else { &exit.stderr }).trim().to_owned();
    if exit.success() { Ok(said) } else { Err(said) }
}

fn answer(finding: Finding, absent: Health) -> Answer {
    let state = match finding.state {
        State::Good => Health::Fine,
        State::Weak => Health::Note,
        State::Missing => absent,
    };
    Answer { name: finding.name.to_owned(), state, detail: finding.detail }
}

/// A model is not needed for the demo and rehearsals, so that its absence is a note.
fn model(name: &str, wire: Wire, door: &Door, variables: &str) -> Vec<Answer> {
    let (state, detail) = match (door.configured, wrong_door(wire, door)) {
        (false, _) => (Health::Note, format!("not configured; set {variables} to use it")),
        (true, Ok(())) => (Health::Fine, door.address().to_owned()),
        (true, Err(wrong)) => (Health::Missing, wrong.message),
    };
    let name = format!("model: {name}");
    let is_short = door.key.as_ref().is_some_and(|key| key.expose().len() < MIN_SECRET_BYTES);
    let short = is_short.then(|| Answer {
        name: name.clone(),
        state: Health::Note,
        detail: format!(
            "its key has fewer than {MIN_SECRET_BYTES} bytes: too short to be told from other text, so it is not redacted"
        ),
    });
    std::iter::once(Answer { name: name.clone(), state, detail }).chain(short).collect()
}

async fn data(config: &Config) -> Vec<Answer> {
    let folder = config.data_dir.display().to_string();
    let answer = |state, detail| Answer { name: "data directory".to_owned(), state, detail };
    let elsewhere = match &config.store {
        StoreChoice::Postgres(address) => Some(address.place().to_owned()),
        StoreChoice::DataDirectory | StoreChoice::Unreadable(_) => None,
    };
    let store = |state, detail| Answer { name: "store".to_owned(), state, detail };
    let left = match (Windlass::open(config.clone()).await, elsewhere.is_some()) {
        (Ok(windlass), _) => left_to_others(&windlass).await,
        (Err(error), true) => return vec![store(Health::Missing, format!("{error:#}"))],
        (Err(error), false) => return vec![answer(Health::Missing, format!("{error:#}"))],
    };
    let elsewhere = elsewhere.map(|place| store(Health::Fine, place));
    let mode = config.data_dir.metadata().map(|metadata| metadata.mode() & 0o777).unwrap_or_default();
    let others = (mode & 0o077 != 0).then(|| {
        answer(Health::Note, format!("others can look into it (mode {mode:o}); shut it with: chmod 700 {folder}"))
    });
    std::iter::once(answer(Health::Fine, folder.clone())).chain(others).chain(elsewhere).chain(left).collect()
}

/// What is there to be done, and not here.
async fn left_to_others(windlass: &Windlass) -> Vec<Answer> {
    let answer = |state, detail| Answer { name: "other machines".to_owned(), state, detail };
    match windlass.engine.left_to_others(MOST_LOOKED_AT).await {
        Err(error) => vec![answer(Health::Missing, error.to_string())],
        Ok(left) => left
            .into_iter()
            .map(|(machine, tasks)| {
                let are = if tasks == 1 { "a task is".to_owned() } else { format!("{tasks} tasks are") };
                let lost = format!("if that machine is lost for good: windlass cancel --machine {machine}");
                answer(Health::Note, format!("{are} left to {machine}, where a worker goes on with them; {lost}"))
            })
            .collect(),
    }
}

/// Too little room is no mistake of the set-up, but nothing works until there is some.
fn disk(config: &Config) -> Answer {
    let answer = |state, detail| Answer { name: "disk".to_owned(), state, detail };
    let least = config.file.limits.least();
    match DataDisk::new(&config.data_dir).space() {
        Err(error) => answer(Health::Note, format!("how full it is cannot be told: {error}")),
        Ok(space) if least.is_short(space, false) => answer(Health::Missing, least.shortage(space)),
        Ok(space) => answer(Health::Fine, format!("{} MiB free of {}", space.free >> 20, space.total >> 20)),
    }
}

fn print(answers: &[Answer], broken: bool) {
    let mut screen = Screen::new();
    let width = answers.iter().map(|answer| answer.name.chars().count()).max().unwrap_or_default();
    for Answer { name, state, detail } in answers {
        let (mark, style) = match state {
            Health::Fine => ("✔ ", Style::Good),
            Health::Missing => ("✘ ", Style::Bad),
            Health::Note => ("· ", Style::Dim),
        };
        let mut detail = detail.lines();
        let first = detail.next().unwrap_or_default();
        let name = format!("{name:<width$}  ");
        screen.print_whole(&Line::marked(Style::Plain, &name).dim(first).behind(style, mark));
        detail.for_each(|line| screen.print_whole(&Line::marked(Style::Dim, "    ").dim(line)));
    }
    let verdict = match broken {
        true => Line::new().add(Style::Bad, "Something is missing: see above."),
        false => Line::new().add(Style::Good, "Ready."),
    };
    screen.print(&verdict);
}

const fn word(state: Health) -> &'static str {
    match state {
        Health::Fine => "fine",
        Health::Missing => "missing",
        Health::Note => "note",
    }
}
