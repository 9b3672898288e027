//! What an agent must still know when its conversation has been shortened, gathered record by record: what people said, the
//! newest plan, questions without an answer, files it touched, and what went wrong, word for word. It is kept beside the
//! transcript, so that no number of compactions wears it down.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::call::{CallStatus, Effect, Finished};
use crate::execution::OpenCall;
use crate::message::{CallId, Message};

/// Errors that are kept, the newest of them.
const MOST_ERRORS: usize = 20;
/// Of one error: its beginning and its end, where commands say how it went.
const MOST_ERROR_BYTES: usize = 1_200;
const MOST_ARGUMENT_BYTES: usize = 200;
/// Files that are remembered by name; beyond these only their number is.
const MOST_FILES: usize = 500;
/// Written by the runtime for the agent, and known to it anyway.
const PLAN_FILE: &str = ".plan.md";

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Essentials {
    /// The very messages of the transcript.
    instructions: Vec<Arc<Message>>,
    /// As `update_plan` last put it.
    pub plan: Option<String>,
    /// In the order they were asked.
    pub questions: Vec<OpenQuestion>,
    /// Written, edited or published, the newest last.
    pub files: Vec<String>,
    pub more_files: u32,
    /// The newest last.
    pub errors: VecDeque<ErrorText>,
    pub more_errors: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenQuestion {
    pub call_id: CallId,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorText {
    pub tool: String,
    /// As much as is needed to know which call it was.
    pub arguments: String,
    pub text: String,
}

impl Essentials {
    /// What people said, word for word and in order, but for what stands in `recent` anyway.
    pub fn said_outside<'a>(&'a self, recent: &'a [Arc<Message>]) -> impl Iterator<Item = &'a str> {
        let stays = |message: &Arc<Message>| recent.iter().any(|kept| Arc::ptr_eq(kept, message));
        self.instructions.iter().filter(move |message| !stays(message)).filter_map(|message| match message.as_ref() {
            Message::User { text, .. } => Some(text.as_str()),
            Message::Assistant { .. } | Message::Tool(_) => None,
        })
    }

    pub(crate) fn hear(&mut self, instruction: Arc<Message>) {
        self.instructions.push(instruction);
    }

    /// An answer repeats the question that it is to.
    pub(crate) fn answer_question(&mut self, answer: &str) {
        self.questions.retain(|question| !answer.contains(&question.text));
    }

    pub(crate) fn finish(&mut self, finished: &Finished, call: Option<&OpenCall>) {
        match (finished.tool.as_str(), finished.status) {
            ("update_plan", CallStatus::Ok) => self.plan = Some(finished.content.clone()),
            ("ask_user", _) => self.questions.extend(call.and_then(question)),
            (_, CallStatus::Ok) => {}
            _ => self.fail(finished, call),
        }
        if let (CallStatus::Ok, Some(Effect::Probe(probe))) = (finished.status, call.and_then(OpenCall::started)) {
            self.touch(&probe.path);
        }
    }

    pub(crate) fn touch(&mut self, path: &str) {
        if path == PLAN_FILE {
            return;
        }
        self.files.retain(|known| known != path);
        self.files.push(path.to_owned());
        if self.files.len() > MOST_FILES {
            self.files.remove(0);
            self.more_files += 1;
        }
    }

    fn fail(&mut self, finished: &Finished, call: Option<&OpenCall>) {
        let arguments = call.map_or("", |open| open.call.arguments.get());
        let error = ErrorText {
            tool: finished.tool.clone(),
            arguments: shortened(arguments, MOST_ARGUMENT_BYTES),
            text: shortened(finished.content.trim(), MOST_ERROR_BYTES),
        };
        // The same again says nothing more than that it is still so.
        self.errors.retain(|known| *known != error);
        self.errors.push_back(error);
        if self.errors.len() > MOST_ERRORS {
            self.errors.pop_front();
            self.more_errors += 1;
        }
    }
}

fn question(open: &OpenCall) -> Option<OpenQuestion> {
    let arguments: serde_json::Value = serde_json::from_str(open.call.arguments.get()).ok()?;
    let text = arguments.get("question")?.as_str()?.to_owned();
    Some(OpenQuestion { call_id: open.call.call_id.clone(), text })
}

/// Both ends of a text, and how much is missing between them.
fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(most / 3)];
    let tail = &text[text.ceil_char_boundary(text.len() - most * 2 / 3)..];
    let missing = text.len() - head.len() - tail.len();
    format!("{head} [… {missing} bytes left out …] {tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(id: &str, tool: &str, status: CallStatus, content: &str) -> Finished {
        Finished {
            call_id: CallId(id.to_owned()),
            tool: tool.to_owned(),
            status,
            content: content.to_owned(),
            full_output: None,
            images: Vec::new(),
            taint: crate::Taint::Owner,
            duration_ms: 0,
        }
    }

    #[test]
    fn an_error_is_kept_with_both_its_ends() {
        let mut essentials = Essentials::default();
        let text = format!("Exit code: 2\n{}\nmain.c:7: no such thing", "x".repeat(5_000));
        essentials.finish(&finished("a", "bash", CallStatus::Error, &text), None);
        let kept = &essentials.errors[0].text;
        assert!(kept.starts_with("Exit code: 2\n") && kept.ends_with("main.c:7: no such thing"), "{kept}");
        assert!(kept.len() < 1_300 && kept.contains("bytes left out"), "{kept}");
    }

    #[test]
    fn errors_are_bounded_and_what_is_left_out_is_counted() {
        let mut essentials = Essentials::default();
        for number in 0..30 {
            essentials.finish(&finished("a", "bash", CallStatus::Error, &format!("error {number}")), None);
        }
        essentials.finish(&finished("a", "bash", CallStatus::Error, "error 29"), None);
        assert_eq!((essentials.errors.len(), essentials.more_errors), (20, 10), "the same error is kept once");
        assert_eq!(essentials.errors[19].text, "error 29");
    }

    #[test]
    fn a_question_is_open_until_its_answer_comes() {
        let mut essentials = Essentials::default();
        for (id, question) in [("a", "Which colour?"), ("b", "How many?")] {
            let arguments = serde_json::json!({ "question": question }).to_string();
            let call = OpenCall::new(crate::ToolCall::new(id, "ask_user", &arguments));
            essentials.finish(&finished(id, "ask_user", CallStatus::Ok, "The user has answered."), Some(&call));
        }
        essentials.answer_question("User responded to your question: red\n\n(You asked: Which colour?)");
        let open: Vec<&str> = essentials.questions.iter().map(|question| question.text.as_str()).collect();
        assert_eq!(open, ["How many?"]);
    }

    #[test]
    fn the_newest_plan_stands_and_files_are_named_once() {
        let mut essentials = Essentials::default();
        for plan in ["one", "two"] {
            essentials.finish(&finished("p", "update_plan", CallStatus::Ok, plan), None);
        }
        essentials.finish(&finished("p", "update_plan", CallStatus::Error, "no"), None);
        ["b", "a", "b", PLAN_FILE].iter().for_each(|path| essentials.touch(path));
        assert_eq!((essentials.plan.as_deref(), essentials.files), (Some("two"), vec!["a".to_owned(), "b".to_owned()]));
    }
}
