//! Answering `validate_plan`: the parser that reads a plan when it is proposed reads it now, and nothing comes of it but words.

use std::fmt::Display;

use windlass_domain::plan::{AtomId, Item, Plan};
use windlass_domain::task::TaskCreated;
use windlass_domain::{CallStatus, HostReply};
use windlass_plan::Problems;

use crate::Error;
use crate::attempt::do_otherwise;
use crate::engine::Engine;
use crate::plans::{There, read_written, unfit_written};

/// For the planner `created`.
pub async fn validate_plan(engine: &Engine, created: &TaskCreated, plan_markdown: String) -> Result<HostReply, Error> {
    let there = There::of(created, &engine.shared);
    let writes = there.writes;
    let read = engine.shared.blocking(move || read_written(&plan_markdown, writes)).await;
    let content = match &read {
        Ok(written) => {
            let plan = &written.plan;
            let mut reasons = unfit_written(written, there);
            reasons.extend(engine.unknown_earlier(plan, created).await?);
            reasons.extend(engine.repeats(plan, created).await?.map(do_otherwise));
            match reasons.is_empty() {
                true => holds(plan),
                false => listed(reasons.len(), "", reasons.iter()),
            }
        }
        Err(problems) => wrong(problems),
    };
    // A plan with problems is an answer, and no failure of the call.
    Ok(HostReply::Answered { status: CallStatus::Ok, content })
}

fn holds(Plan(root): &Plan) -> String {
    let items = root.all();
    let ends = items.iter().filter(|item| item.tasks.is_empty());
    let unchecked: Vec<&str> = ends.filter(|item| item.verify.0.is_empty()).map(|item| item.id.as_str()).collect();
    let note = match unchecked.is_empty() {
        true => String::new(),
        false => format!("\nnothing checks: {}", unchecked.join(", ")),
    };
    let listed: Vec<String> = items.iter().map(|item| described(item)).collect();
    let noun = if items.len() == 1 { "item" } else { "items" };
    format!("valid: {} {noun}\n{}{note}", items.len(), listed.join("\n"))
}

fn described(item: &Item) -> String {
    let after: Vec<&str> = item.depends_on.iter().map(AtomId::as_str).collect();
    let after = if after.is_empty() { String::new() } else { format!(", after {}", after.join(", ")) };
    let checks = item.verify.0.len();
    format!("- {}: {} ({checks} {}{after})", item.id, item.title, if checks == 1 { "check" } else { "checks" })
}

/// Every problem with its line and column, for whoever wrote the plan.
pub fn wrong(problems: &Problems) -> String {
    listed(problems.iter().count(), ", by line:column", problems.iter())
}

fn listed(count: usize, how: &str, problems: impl Iterator<Item = impl Display>) -> String {
    let noun = if count == 1 { "problem" } else { "problems" };
    let lines: Vec<String> = problems.map(|problem| format!("- {problem}")).collect();
    format!("not valid: {count} {noun}{how}\n{}", lines.join("\n"))
}
