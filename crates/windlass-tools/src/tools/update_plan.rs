//! `update_plan` (seed 000 §5): the plan goes into `.plan.md`, where it survives, and back to the model, where it is
//! seen. Schema and texts are the seed's, to the letter.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_domain::{BoxFuture, Permit, Prepared, Reach, ToolSpec};
use windlass_workspace::{PLAN_FILE, WorkspacePath};

use crate::change;
use crate::context::Context;
use crate::tool::{Output, Running, Tool, arguments, spec, typed};

const DESCRIPTION: &str = "\
Update your current execution plan. Call this tool:
- At the start of a task to create your initial plan
- After completing a step to mark progress
- When you discover new information that changes the approach
- Before spawning sub-agents to clarify task division

The plan helps you stay on track over long execution horizons.";

const LARGEST: u64 = 16 * 1024 * 1024;

#[derive(Debug, Clone, Copy)]
pub struct UpdatePlan;

#[derive(Deserialize)]
struct Plan {
    steps: Vec<Step>,
    current_focus: Option<String>,
    overall_approach: Option<String>,
}

#[derive(Deserialize)]
struct Step {
    id: String,
    description: String,
    status: Status,
    notes: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Done,
    Blocked,
    Skipped,
}

impl Status {
    const fn icon(self) -> &'static str {
        match self {
            Self::Pending => "[ ]",
            Self::InProgress => "[>]",
            Self::Done => "[x]",
            Self::Blocked => "[!]",
            Self::Skipped => "[-]",
        }
    }
}

impl Plan {
    fn to_markdown(&self) -> String {
        let mut text = String::from("# Execution Plan\n\n");
        // An empty text counts as none, as the seed's `if (…)` has it.
        if let Some(approach) = self.overall_approach.as_deref().filter(|text| !text.is_empty()) {
            text.push_str(&format!("**Approach**: {approach}\n\n"));
        }
        if let Some(focus) = self.current_focus.as_deref().filter(|text| !text.is_empty()) {
            text.push_str(&format!("**Current focus**: {focus}\n\n"));
        }
        text.push_str("## Steps\n\n");
        for step in &self.steps {
            text.push_str(&format!("- {} **{}**: {}", step.status.icon(), step.id, step.description));
            if let Some(notes) = step.notes.as_deref().filter(|text| !text.is_empty()) {
                text.push_str(&format!(" — _{notes}_"));
            }
            text.push('\n');
        }
        text
    }

    fn result(&self, markdown: &str) -> String {
        let done = self.steps.iter().filter(|step| step.status == Status::Done).count();
        format!("Plan updated ({done}/{} done).\n\n{markdown}", self.steps.len())
    }
}

fn plan_path() -> WorkspacePath {
    WorkspacePath::parse(PLAN_FILE).expect("a plain name is a path")
}

impl Tool for UpdatePlan {
    fn spec(&self) -> ToolSpec {
        spec(
            "update_plan",
            DESCRIPTION,
            json!({
                "type": "object",
                "properties": {
                    "steps": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "id": { "type": "string" },
                                "description": { "type": "string" },
                                "status": {
                                    "type": "string",
                                    "enum": ["pending", "in_progress", "done", "blocked", "skipped"],
                                },
                                "notes": { "type": "string", "description": "Optional notes, findings, or blockers" },
                            },
                            "required": ["id", "description", "status"],
                        },
                    },
                    "current_focus": { "type": "string", "description": "What you are working on right now" },
                    "overall_approach": { "type": "string", "description": "High-level approach summary" },
                },
                "required": ["steps"],
            }),
        )
    }

    fn prepare(&self, arguments: &Value, context: &Context) -> Result<Prepared, String> {
        let plan: Plan = typed(arguments)?;
        let told = |error: windlass_workspace::Error| error.to_string();
        context.root.check_write(&plan_path()).map_err(told)?;
        let before = context.root.digest(&plan_path()).map_err(told)?;
        let markdown = plan.to_markdown();
        let effect = change::intend(&plan_path(), before, markdown.as_bytes(), plan.result(&markdown));
        Ok(Prepared::new(effect, Reach::Context))
    }

    fn run<'a>(&'a self, permit: Permit, context: &'a Context, _: Running<'a>) -> BoxFuture<'a, Output> {
        let root = context.root.clone();
        Box::pin(context.runtime.blocking(move || match arguments::<Plan>(&permit.call().call) {
            Ok(plan) => change::perform(permit, &root, &plan_path(), LARGEST, |_| Ok(plan.to_markdown().into_bytes())),
            Err(reason) => Output::error(reason),
        }))
    }
}
