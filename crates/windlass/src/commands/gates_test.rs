//! `windlass gates test`: what the gates of a file would say about an input. Scripts run as they would in a run, in a sandbox
//! of their own; no model is asked.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use windlass_domain::Runtime;
use windlass_engine::{GateScript, run_script};
use windlass_policy::gate::{Answer, Decision, Evaluation, Law, Outcome, Request, Step, Trigger};
use windlass_policy::risk::Place;
use windlass_runtime::TokioRuntime;
use windlass_sandbox::{Bubblewrap, never};

use super::gate_input::Input;
use crate::arguments::GatesTest;
use crate::config::Config;
use crate::equipment::policy;
use crate::exit::Exit;
use crate::law::{read_gate_file, scripts};
use crate::show::{Line, Screen, Style, print_json, word};
use crate::wiring::{create_private, supervisor};

pub async fn gates_test(arguments: GatesTest) -> anyhow::Result<Exit> {
    let config = Config::load()?;
    let gates = read_gate_file(&arguments.file)?;
    let input = Input::read(&arguments.input)?;
    let trigger = match arguments.trigger {
        Some(named) => named.into(),
        None => input.trigger()?,
    };
    let judged = Law { table: &config.law.table, place: &Place::workspace() };
    let mut evaluation = Evaluation::new(&gates, trigger, input.into(), judged);
    let outcome = loop {
        match evaluation.step() {
            Step::Done(outcome) => break *outcome,
            Step::Ask(request) => {
                let answer = answer(&config, &arguments.file, request).await?;
                evaluation.answer(answer);
            }
        }
    };
    match arguments.output.json {
        true => tell_json(&outcome, trigger),
        false => tell(&outcome, trigger),
    }
    Ok(Exit::Completed)
}

async fn answer(config: &Config, file: &Path, request: Request) -> anyhow::Result<Answer> {
    let (argv, stdin, timeout_seconds) = match request {
        Request::Score { .. } => return Ok(Answer::Failed("no model is asked in a test".to_owned())),
        Request::Script { argv, stdin, timeout_seconds, .. } => (argv, stdin, timeout_seconds),
    };
    create_private(&config.data_dir)?;
    let runtime: Arc<dyn Runtime> = Arc::new(TokioRuntime::current());
    let folder = config.data_dir.join("scratch").join(format!("gate-{:032x}", runtime.random()));
    let mut policy = policy(&config.file.sandbox, &folder);
    policy.hidden.push(config.data_dir.clone());
    let scripts = scripts(file, &config.data_dir)?;
    let sandboxes = Bubblewrap::new(supervisor());
    let script = GateScript { argv, stdin, timeout_seconds };
    Ok(run_script(runtime.as_ref(), &sandboxes, policy, scripts.as_deref(), script, never()).await)
}

fn tell_json(outcome: &Outcome, trigger: Trigger) {
    for record in &outcome.records {
        let mut fields = json!(record);
        fields["type"] = json!("record");
        print_json(&fields);
    }
    print_json(&json!({
        "type": "result",
        "trigger": trigger,
        "decision": outcome.decision,
        "by": outcome.by,
        "on_block": outcome.on_block,
        "rewritten": outcome.rewritten,
        "subject": outcome.subject,
    }));
}

fn tell(outcome: &Outcome, trigger: Trigger) {
    let mut screen = Screen::new();
    if outcome.records.is_empty() {
        screen.print(&Line::new().dim(format!("No gate looks at {}.", word(&trigger))));
    }
    for record in &outcome.records {
        let line = Line::marked(style(record.decision), &format!("{:<16}  ", word(&record.decision)));
        let score = record.score.map(|score| format!("  score {score}")).unwrap_or_default();
        screen.print_whole(&line.plain(&record.gate).dim("  ").dim(&record.reason).dim(score));
    }
    for rewrite in &outcome.rewritten {
        let what = format!("{} rewrote `{}`: {} became {}", rewrite.gate, rewrite.field, rewrite.before, rewrite.after);
        screen.print_whole(&Line::marked(Style::Accent, "rewrite           ").plain(what));
    }
    let mut line = Line::new().plain("decision: ").add(style(outcome.decision), word(&outcome.decision));
    if let (Some(by), Some(on_block)) = (&outcome.by, outcome.on_block) {
        line = line.plain(format!(" by {by}")).dim(format!("  on block: {}", word(&on_block)));
    }
    screen.print_whole(&line);
}

const fn style(decision: Decision) -> Style {
    match decision {
        Decision::Continue => Style::Good,
        Decision::RequireApproval => Style::Warn,
        Decision::Block => Style::Bad,
    }
}
