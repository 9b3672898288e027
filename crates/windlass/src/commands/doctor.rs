//! `windlass doctor`: what this machine has and lacks, and how to get it.

use std::path::Path;

use anyhow::Context as _;
use serde_json::json;
use windlass_sandbox::{Bubblewrap, State, diagnose};

use crate::arguments;
use crate::config::{Config, Door};
use crate::exit::Exit;
use crate::show::{Line, Screen, Style, print_json};
use crate::wiring::{Windlass, supervisor};

struct Answer {
    name: String,
    state: Health,
    detail: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Health {
    Fine,
    Missing,
    Note,
}

pub async fn doctor(arguments: arguments::Doctor) -> anyhow::Result<Exit> {
    let config = Config::load()?;
    let mut answers = sandbox(&config.data_dir).await?;
    answers.extend([
        model("openai", &config.openai, "LITELLM_API_BASE, LITELLM_API_KEY"),
        model("anthropic", &config.anthropic, "ANTHROPIC_API_KEY"),
    ]);
    answers.push(store(config));
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

async fn sandbox(data_dir: &Path) -> anyhow::Result<Vec<Answer>> {
    let scratch = data_dir.join("doctor");
    std::fs::create_dir_all(&scratch).with_context(|| format!("{}", scratch.display()))?;
    let findings = diagnose(&Bubblewrap::new(supervisor()), &scratch).await;
    std::fs::remove_dir_all(&scratch)?;
    let answer = |finding: windlass_sandbox::Finding| Answer {
        name: finding.name.to_owned(),
        state: match finding.state {
            State::Good => Health::Fine,
            State::Weak => Health::Note,
            State::Missing => Health::Missing,
        },
        detail: finding.detail,
    };
    Ok(findings.into_iter().map(answer).collect())
}

/// A model is not needed for the demo and rehearsals, so that its absence is a note.
fn model(name: &str, door: &Door, variables: &str) -> Answer {
    let (state, detail) = match door.configured {
        true => (Health::Fine, door.base_url.clone()),
        false => (Health::Note, format!("not configured; set {variables} to use it")),
    };
    Answer { name: format!("model: {name}"), state, detail }
}

fn store(config: Config) -> Answer {
    let folder = config.data_dir.display().to_string();
    let (state, detail) = match Windlass::open(config) {
        Ok(_) => (Health::Fine, folder),
        Err(error) => (Health::Missing, format!("{error:#}")),
    };
    Answer { name: "data directory".to_owned(), state, detail }
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
        screen.print_whole(&Line::new().add(style, mark).plain(format!("{name:<width$}  ")).dim(detail));
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
