//! The words of a pattern: how the work is done, told once at the beginning, and what an agent hears when its step changes or when it
//! does not keep to it. Where it stands is the tracker's to say, and what a step comes to a machine's.

use std::collections::BTreeSet;

use windlass_domain::execution::{ExecutionState, Outcome, TaskMessage};
use windlass_domain::pattern::{
    Around, Hint, Material, Pattern, PatternNudged, PatternStepped, PlaceEnd, Step, Tracker,
};
use windlass_domain::{ErrorCategory, ErrorCode, ErrorDetails};

use crate::next::{Form, Next};
use crate::prompt::filled;

const HOW: &str = include_str!("../../../prompts/pattern/how.md");
const STEPPED: &str = include_str!("../../../prompts/pattern/stepped.md");
const COMPLETE: &str = include_str!("../../../prompts/pattern/complete.md");
const REPEATS: &str = include_str!("../../../prompts/pattern/repeats.md");
const TOO_EARLY: &str = include_str!("../../../prompts/pattern/too_early.md");

/// How often in a step an agent hears that it is not done.
const MOST_HURRIES: u32 = 1;

/// The part of the first message that says how the work is done.
pub fn how(pattern: &Pattern) -> String {
    let steps = pattern.steps.iter().enumerate().map(|(place, step)| {
        let optional = if step.optional { ", if it is needed" } else { "" };
        format!("{}. `{}`{}{optional}", place + 1, step.name, with_tools(step))
    });
    let values = [
        ("name", pattern.name.as_str()),
        ("description", &pattern.description),
        ("steps", &steps.collect::<Vec<_>>().join("\n")),
        ("fragments", &pattern.prompt_fragments.join("\n\n")),
    ];
    filled(HOW, &values).trim_end().to_owned()
}

/// What the task came with, which conditions ask for.
pub fn given(task: &TaskMessage) -> BTreeSet<Material> {
    let parts = [
        (Material::Attachments, task.attachments.is_empty()),
        (Material::Bindings, task.bindings.is_empty()),
        (Material::Guidance, task.guidance.is_empty()),
        (Material::Memories, task.memories.is_empty()),
    ];
    parts.into_iter().filter(|(_, is_empty)| !is_empty).map(|(material, _)| material).collect()
}

/// What the pattern has done next, before the model is asked.
pub fn next(state: &ExecutionState, around: &Around, form: Form) -> Option<Next> {
    let tracker = state.tracker.as_ref()?;
    if let Some(end @ (PlaceEnd::Stuck | PlaceEnd::Exhausted)) = tracker.end() {
        return Some(Next::Finish(Outcome::Failed(given_up(tracker, end))));
    }
    if let Some(stepped) = tracker.due(around) {
        let message = match form {
            Form::Native => stepped_words(tracker, &stepped),
            // It reads where it stands with every question.
            Form::Tactician => String::new(),
        };
        return Some(Next::Step(PatternStepped { message, ..stepped }));
    }
    let hint = tracker.owed()?.clone();
    let Hint::Repeats { step, tool } = &hint else { return None };
    let goes_on = match tracker.current() {
        Some(current) => format!("Go on with the step `{}`{}.", current.name, with_tools(current)),
        None => "All steps are over: say what came of it.".to_owned(),
    };
    let message = filled(REPEATS.trim(), &[("tool", tool), ("step", step), ("next", &goes_on)]);
    Some(Next::Nudge(PatternNudged { hint, message }))
}

/// What an agent hears that says it is done and is not; or the end, where it has heard it.
pub fn not_yet(state: &ExecutionState, around: &Around) -> Option<Next> {
    let tracker = state.tracker.as_ref()?;
    let step = tracker.unfinished(around)?;
    if tracker.hurried() >= MOST_HURRIES {
        let message = format!(
            "the agent says that it is done, but the step `{}` of the pattern `{}` is not",
            step.name,
            tracker.pattern().name
        );
        return Some(Next::Finish(Outcome::Failed(ErrorDetails::new(ErrorCode::Stuck, message))));
    }
    let message = filled(TOO_EARLY.trim(), &[("step", &step.name), ("tools", &with_tools(step))]);
    Some(Next::Nudge(PatternNudged { hint: Hint::TooEarly { step: step.name.clone() }, message }))
}

/// Why a pattern cannot be followed with these tools, whoever tries.
pub fn out_of_reach(pattern: &Pattern, has: impl Fn(&str) -> bool) -> Option<ErrorDetails> {
    let step = pattern.out_of_reach(has)?;
    let message = format!(
        "the step `{}` of the pattern `{}` needs one of {}, and this task has none of them",
        step.name,
        pattern.name,
        step.tools.join(", ")
    );
    let error = ErrorDetails::new(ErrorCode::Stuck, message).with_hint("choose another pattern, or configure the tool");
    Some(ErrorDetails { category: ErrorCategory::Permanent, ..error })
}

fn given_up(tracker: &Tracker, end: PlaceEnd) -> ErrorDetails {
    let Pattern { name, max_steps, .. } = tracker.pattern();
    let message = match end {
        PlaceEnd::Exhausted => {
            format!("the pattern `{name}` has changed its step {max_steps} times, which is all it may")
        }
        PlaceEnd::Stuck | PlaceEnd::Complete => {
            format!("a step of the pattern `{name}` has failed as often as it may")
        }
    };
    ErrorDetails::new(ErrorCode::Stuck, message)
        .with_hint("raise `retries` or `max_steps` in the pattern, or say in the goal what to do where it is stuck")
}

fn stepped_words(tracker: &Tracker, stepped: &PatternStepped) -> String {
    let to = stepped.to.as_deref().and_then(|to| tracker.pattern().place_of(to)).map(|at| &tracker.pattern().steps[at]);
    let why = stepped.why.as_str();
    match (to, stepped.end) {
        (Some(step), _) => {
            let values =
                [("from", stepped.from.as_str()), ("why", why), ("to", &step.name), ("tools", &with_tools(step))];
            filled(STEPPED.trim(), &values)
        }
        (None, Some(PlaceEnd::Complete)) => filled(COMPLETE.trim(), &[("from", &stepped.from), ("why", why)]),
        // The run ends here, and nobody hears it.
        (None, _) => String::new(),
    }
}

fn with_tools(step: &Step) -> String {
    match step.tools.as_slice() {
        [] => String::new(),
        tools => format!(" ({})", tools.join(", ")),
    }
}
