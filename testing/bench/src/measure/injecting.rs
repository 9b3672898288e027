//! How soon an agent hears what it is told: words sent to a task over HTTP while its agent works, until a request with them in it
//! reaches the model server, less the time for which the model itself held an answer back. Beside it the same agent's way from an
//! answer to its next request when nobody says anything. And the same for a task that waits for a person, of which nothing is in
//! memory: from the answer to its question to the request that tells the model.

#![expect(clippy::disallowed_methods, reason = "a benchmark plays the model and the person, and both take their time")]

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::client::Client;
use crate::endpoint::{Endpoint, calls};
use crate::figures::Spread;
use crate::script::NOTE;
use crate::service::Setup;

/// What the model takes for an answer.
const THINKING: Duration = Duration::from_millis(30);
const MESSAGES: usize = 200;
const QUESTIONS: usize = 50;
/// For anything that is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// In milliseconds.
#[derive(Debug, Serialize, Deserialize)]
pub struct Figures {
    pub told: Spread,
    /// From an answer to the next request, with nothing said in between.
    pub untold: Spread,
    /// Messages that a request went without which came after they were accepted: it was on its way.
    pub crossed: usize,
    /// Messages that more than one such request went without.
    pub late: usize,
    pub messages: usize,
    pub woken: Spread,
}

pub fn measure(setup: Setup<'_>, scratch: &Path) -> anyhow::Result<Figures> {
    let (worker, asker) = (Arc::new(Model::new(next_look)), Arc::new(Model::new(next_question)));
    let (told, untold, crossed, late) = {
        let model = Arc::clone(&worker);
        let endpoint = Endpoint::start(move |body| model.answer(body))?;
        let data_dir = tempfile::tempdir_in(scratch)?;
        let service = Setup { models: host(&endpoint), ..setup }.start(data_dir.path(), &["--model", "gpt-4o"], "")?;
        let mut client = service.client()?;
        let task = begin(&mut client)?;
        let told = (0..MESSAGES).map(|number| tell(&mut client, &task, number, &worker));
        let told = told.collect::<anyhow::Result<Vec<_>>>()?;
        let without = |requests| told.iter().filter(|(_, without)| *without >= requests).count();
        let (crossed, late) = (without(1), without(2));
        (told.into_iter().map(|(took, _)| took).collect(), worker.pauses(), crossed, late)
    };
    let woken = {
        let model = Arc::clone(&asker);
        let endpoint = Endpoint::start(move |body| model.answer(body))?;
        let data_dir = tempfile::tempdir_in(scratch)?;
        let service = Setup { models: host(&endpoint), ..setup }.start(data_dir.path(), &["--model", "gpt-4o"], "")?;
        let mut client = service.client()?;
        let task = begin(&mut client)?;
        (0..QUESTIONS).map(|number| wake(&mut client, &task, number, &asker)).collect::<anyhow::Result<Vec<_>>>()?
    };
    Ok(Figures {
        told: Spread::in_millis(told),
        untold: Spread::in_millis(untold),
        crossed,
        late,
        messages: MESSAGES,
        woken: Spread::in_millis(woken),
    })
}

fn host(endpoint: &Endpoint) -> &str {
    endpoint.url.trim_start_matches("http://")
}

fn begin(client: &mut Client) -> anyhow::Result<String> {
    let limits = json!({"max_iterations": 100_000, "timeout_seconds": 100_000, "max_tokens": 1_000_000_000_000_u64,
        "max_cost_usd": 1_000_000, "max_attempts": 1});
    let wanted = json!({"goal": "Look again and again.", "limits": limits}).to_string();
    let taken = client.post("/v1/tasks", &wanted)?.expect(202)?.json()?;
    Ok(taken["task_id"].as_str().context("a task has an id")?.to_owned())
}

/// No two of them begin alike, so that none is taken for another.
fn words(number: usize) -> String {
    format!("Remark {number:06}: look twice.")
}

/// How long it took beyond the model's own time, and how many requests went without what was accepted before them.
fn tell(client: &mut Client, task: &str, number: usize, model: &Model) -> anyhow::Result<(Duration, usize)> {
    let words = words(number);
    // At another moment of the agent's round each time.
    std::thread::sleep(Duration::from_millis(5 + (number as u64 * 7) % 60));
    let sent = Instant::now();
    client.post(&format!("/v1/tasks/{task}/messages"), &json!({"message": words}).to_string())?.expect(202)?;
    let accepted = Instant::now();
    let heard = model.wait_for(&words)?;
    let exchanges = model.exchanges();
    let after = exchanges.iter().filter(|exchange| exchange.asked > accepted && exchange.asked < heard);
    let held: Duration = exchanges.iter().map(|exchange| exchange.between(sent, heard)).sum();
    Ok(((heard - sent).saturating_sub(held), after.count()))
}

fn wake(client: &mut Client, task: &str, number: usize, model: &Model) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    loop {
        let told = client.get(&format!("/v1/tasks/{task}"))?.expect(200)?.json()?;
        if told["status"] == "WAITING_USER" || told["standing"] == "waiting" {
            break;
        }
        anyhow::ensure!(begun.elapsed() < PATIENCE, "the task does not wait for an answer: {told}");
        std::thread::sleep(Duration::from_millis(5));
    }
    let words = words(number);
    let sent = Instant::now();
    client.post(&format!("/v1/tasks/{task}/messages"), &json!({"message": words}).to_string())?.expect(202)?;
    Ok(model.wait_for(&words)? - sent)
}

/// What it answers for the so many-th time.
type Says = fn(usize) -> Value;

fn next_look(number: usize) -> Value {
    calls([(format!("c{number}"), "read", json!({"path": NOTE, "limit": 100 + number}))])
}

fn next_question(number: usize) -> Value {
    calls([(format!("c{number}"), "ask_user", json!({"question": format!("Which way is the {number}th to go?")}))])
}

struct Model {
    says: Says,
    kept: Mutex<Vec<Exchange>>,
}

/// A request, while it was with the model.
#[derive(Clone)]
struct Exchange {
    asked: Instant,
    answered: Option<Instant>,
    /// The newest of what was said that is in it.
    newest: String,
}

impl Exchange {
    /// How much of that time it was with the model.
    fn between(&self, from: Instant, to: Instant) -> Duration {
        let (begun, ended) = (self.asked.max(from), self.answered.unwrap_or(to).min(to));
        ended.saturating_duration_since(begun)
    }
}

impl Model {
    fn new(says: Says) -> Self {
        Self { says, kept: Mutex::default() }
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Vec<Exchange>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, body: &[u8]) -> Value {
        let asked = Instant::now();
        let newest = newest(&String::from_utf8_lossy(body));
        let number = {
            let mut kept = self.kept();
            kept.push(Exchange { asked, answered: None, newest });
            kept.len() - 1
        };
        std::thread::sleep(THINKING);
        let said = (self.says)(number);
        self.kept()[number].answered = Some(Instant::now());
        said
    }

    fn exchanges(&self) -> Vec<Exchange> {
        self.kept().clone()
    }

    /// When the model was first asked with these words.
    fn wait_for(&self, words: &str) -> anyhow::Result<Instant> {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Some(exchange) = self
                .kept()
                .iter()
                .rev()
                .take(20)
                .rfind(|exchange| words.starts_with(&exchange.newest) && !exchange.newest.is_empty())
            {
                return Ok(exchange.asked);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        anyhow::bail!("the model is not told {words:?}")
    }

    /// From each answer to the next request, where both say the same.
    fn pauses(&self) -> Vec<Duration> {
        let kept = self.kept();
        let pause = |(before, after): (&Exchange, &Exchange)| {
            let is_untold = before.newest == after.newest;
            before.answered.filter(|_| is_untold).map(|answered| after.asked.saturating_duration_since(answered))
        };
        kept.iter().zip(kept.iter().skip(1)).filter_map(pause).collect()
    }
}

/// `Remark 000007`, of the last of them; nothing where there is none.
fn newest(body: &str) -> String {
    let begin = |at: usize| body[at..].chars().take("Remark 000000".len()).collect();
    body.rfind("Remark ").map(begin).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_models_own_time_is_told_from_the_rest() {
        let begun = Instant::now();
        let at = |millis| begun + Duration::from_millis(millis);
        let exchange = Exchange { asked: at(10), answered: Some(at(40)), newest: String::new() };
        assert_eq!(exchange.between(at(0), at(100)), Duration::from_millis(30));
        assert_eq!(exchange.between(at(25), at(100)), Duration::from_millis(15));
        assert_eq!(exchange.between(at(25), at(30)), Duration::from_millis(5));
        assert_eq!(exchange.between(at(50), at(60)), Duration::ZERO);
    }

    #[test]
    fn the_last_words_in_a_request_are_the_newest() {
        assert_eq!(
            newest(r#"[{"content":"Remark 000001: look"},{"content":"Remark 000012: look twice."}]"#),
            "Remark 000012"
        );
        assert_eq!(newest("nothing"), "");
        assert!(words(12).starts_with("Remark 000012"));
    }
}
