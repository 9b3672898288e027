//! `context.md` (seed 003): where an execution stands, for whoever looks at it, and for a model that decides one call at a time. Made of
//! the journal and of what the execution was told; never read back. What others said is quoted line by line, so that none of it can
//! look like a heading.

use super::tracker::{Standing, Tracker};
use crate::attachment::Attachment;
use crate::execution::{ExecutionState, TaskMessage};
use crate::message::{Message, ToolCall, ToolResult};

/// Of what a call was given, so much is repeated.
const MOST_ARGUMENT_CHARS: usize = 200;
/// Of the request's share of a short page, at most this part.
const REQUEST_SHARE: u64 = 3;
/// Of what is known besides.
const KNOWN_SHARE: u64 = 8;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContextPage {
    pub request: String,
    pub analysis: String,
    pub gathered: String,
    pub plan: String,
    /// One for each call, the oldest first.
    pub results: Vec<String>,
}

pub fn context_page(task: &TaskMessage, state: &ExecutionState) -> ContextPage {
    let analysis = task.guidance.iter().chain(&task.previous_failures).map(|words| quoted(words));
    let attached = task.attachments.iter().map(|attachment| match attachment {
        Attachment::Text { name, text } => format!("Attached, {name}:\n{}", quoted(text)),
        Attachment::Image(image) => format!("Attached: an image, {}", image.digest),
    });
    let known = task
        .constraints
        .iter()
        .chain(&task.memories)
        .chain(&task.kept)
        .chain(&task.bindings)
        .map(|words| quoted(words));
    let checks = task.finish_line.iter().map(|check| format!("- done when: {check}"));
    ContextPage {
        request: std::iter::once(quoted(&task.goal)).chain(checks).collect::<Vec<_>>().join("\n"),
        analysis: analysis.collect::<Vec<_>>().join("\n\n"),
        gathered: known.chain(attached).chain(said(state)).collect::<Vec<_>>().join("\n\n"),
        plan: state.tracker.as_ref().map_or_else(|| "No steps are laid down.".to_owned(), where_it_stands),
        results: results(state),
    }
}

impl ContextPage {
    /// All of it.
    pub fn whole(&self) -> String {
        self.written(&self.request, &self.analysis, &self.gathered, &self.results.join("\n\n"))
    }

    /// As much of it as `most` tokens hold, as `tokens` counts them: the steps whole, the newest results before older ones.
    pub fn within(&self, most: u64, tokens: impl Fn(&str) -> u64) -> String {
        let request = cut(&self.request, most / REQUEST_SHARE, &tokens);
        let analysis = cut(&self.analysis, most / KNOWN_SHARE, &tokens);
        let gathered = cut(&self.gathered, most / KNOWN_SHARE, &tokens);
        let mut left = most.saturating_sub(tokens(&self.written(&request, &analysis, &gathered, "")));
        let mut newest_first = Vec::new();
        for result in self.results.iter().rev() {
            let shown = cut(result, left, &tokens);
            left = left.saturating_sub(tokens(&shown) + 1);
            if shown.is_empty() {
                break;
            }
            newest_first.push(shown);
        }
        newest_first.reverse();
        let page = self.written(&request, &analysis, &gathered, &newest_first.join("\n\n"));
        // A plan that is longer than all of it may be.
        cut(&page, most, &tokens)
    }

    fn written(&self, request: &str, analysis: &str, gathered: &str, results: &str) -> String {
        let sections = [
            ("§0 Request", request),
            ("§1 Analysis", analysis),
            ("§2 Gathered context", gathered),
            ("§3 Plan", &self.plan),
            ("§4 Results", results),
        ];
        let written = sections.map(|(heading, text)| {
            let text = if text.trim().is_empty() { "(nothing)" } else { text.trim_end() };
            format!("## {heading}\n\n{text}\n")
        });
        written.join("\n")
    }
}

/// The steps, how each stands, and the one that is current.
pub fn where_it_stands(tracker: &Tracker) -> String {
    let pattern = tracker.pattern();
    let current = tracker.current().map(|step| step.name.as_str());
    let steps = tracker.steps().enumerate().map(|(place, (step, standing))| {
        let is_current = current == Some(step.name.as_str());
        let state = match standing {
            _ if is_current => "now",
            Standing::Pending => "pending",
            Standing::Done => "done",
            Standing::Left => "left out",
            Standing::Failed => "failed",
        };
        let tools = if step.tools.is_empty() { String::new() } else { format!(" with {}", step.tools.join(", ")) };
        let tries = if is_current {
            format!("; {} of {} calls made", tracker.tries(), step.retries + 1)
        } else {
            String::new()
        };
        format!("{}. [{state}] {}{tools}{tries}", place + 1, step.name)
    });
    let head = format!("Pattern `{}`: {}", pattern.name, pattern.description);
    let end = match (tracker.end(), current) {
        (Some(end), _) => format!("The pattern is over: {}.", end.as_str()),
        (None, step) => format!(
            "Current step: {}. {} of {} changes of step made.",
            step.unwrap_or_default(),
            tracker.transitions(),
            pattern.max_steps
        ),
    };
    std::iter::once(head).chain(steps).chain([end]).collect::<Vec<_>>().join("\n")
}

/// What people, and the runtime, have said since the work began.
fn said(state: &ExecutionState) -> Option<String> {
    let messages = state.transcript.iter().skip(1);
    let said: Vec<String> = messages
        .filter_map(|message| match message.as_ref() {
            Message::User { text, .. } => Some(quoted(text)),
            Message::Assistant { .. } | Message::Tool(_) => None,
        })
        .collect();
    (!said.is_empty()).then(|| format!("Said since:\n{}", said.join("\n\n")))
}

fn results(state: &ExecutionState) -> Vec<String> {
    let mut asked: Vec<&ToolCall> = Vec::new();
    let mut results = Vec::new();
    for message in &state.transcript {
        match message.as_ref() {
            Message::Assistant { calls, .. } => asked.extend(calls),
            Message::Tool(result) => results.push(shown(result, &asked)),
            Message::User { .. } => {}
        }
    }
    results
}

fn shown(result: &ToolResult, asked: &[&ToolCall]) -> String {
    let call = asked.iter().find(|call| call.call_id == result.call_id);
    let arguments = call.map(|call| call.arguments.get().chars().take(MOST_ARGUMENT_CHARS).collect::<String>());
    let came = if result.is_error { "failed" } else { "ok" };
    format!("- {} {} → {came}\n{}", result.tool, arguments.unwrap_or_default(), quoted(&result.content))
}

/// No line of it begins like a line of ours.
fn quoted(text: &str) -> String {
    text.trim().lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}

fn cut(text: &str, most: u64, tokens: &impl Fn(&str) -> u64) -> String {
    const MARK: &str = " […]";
    if tokens(text) <= most {
        return text.to_owned();
    }
    let room = most.saturating_sub(tokens(MARK));
    let mut end = text.len();
    while end > 0 && tokens(&text[..end]) > room {
        let scaled = u128::from(room) * end as u128 / u128::from(tokens(&text[..end]).max(1));
        end = text.floor_char_boundary(usize::try_from(scaled).unwrap_or(end).min(end - 1));
    }
    if end == 0 { String::new() } else { format!("{}{MARK}", &text[..end]) }
}
