//! Messages out of parts, which the three languages divide differently: an answer is one message with us, and so is each result.

use std::collections::BTreeMap;

use windlass_domain::{CallId, Message, ToolCall, ToolResult};

use crate::gateway::translate::picture::Shown;
use crate::gateway::translate::told::{Line, Untold, malformed};

#[derive(Default)]
pub struct Composer {
    system: Vec<String>,
    lines: Vec<Line>,
    user: Option<(String, Vec<Shown>)>,
    assistant: Option<(String, Vec<ToolCall>)>,
    /// Which tool each call was for.
    calls: BTreeMap<String, String>,
}

impl Composer {
    /// What stands before the conversation is the system prompt. Of what comes later nobody else knows the rank, so that it says it.
    pub fn system(&mut self, text: &str) {
        if self.lines.is_empty() && self.user.is_none() && self.assistant.is_none() {
            self.system.push(text.to_owned());
        } else {
            self.end();
            self.user_text(&format!("<system>\n{text}\n</system>"));
            self.end();
        }
    }

    /// Text that follows a picture begins another message, so that the order is kept.
    pub fn user_text(&mut self, text: &str) {
        self.end_answer();
        if self.user.as_ref().is_some_and(|(_, pictures)| !pictures.is_empty()) {
            self.end();
        }
        append(&mut self.user.get_or_insert_default().0, text);
    }

    pub fn user_picture(&mut self, picture: Shown) {
        self.end_answer();
        self.user.get_or_insert_default().1.push(picture);
    }

    pub fn answer_text(&mut self, text: &str) {
        self.end_question();
        append(&mut self.assistant.get_or_insert_default().0, text);
    }

    pub fn call(&mut self, id: &str, tool: &str, arguments: &str) {
        self.end_question();
        self.calls.insert(id.to_owned(), tool.to_owned());
        self.assistant.get_or_insert_default().1.push(ToolCall::new(id, tool, arguments));
    }

    pub fn result(&mut self, id: &str, text: &str, pictures: Vec<Shown>, is_error: bool) -> Result<(), Untold> {
        self.end();
        let Some(tool) = self.calls.get(id).cloned() else {
            return malformed(format!("there is a result for the call `{id}`, which nobody made"));
        };
        let (images, pictures) = Shown::apart(pictures);
        let call_id = CallId(id.to_owned());
        let message = Message::Tool(ToolResult { call_id, tool, content: text.to_owned(), is_error, images });
        self.lines.push(Line { message, pictures });
        Ok(())
    }

    /// Here a message ends.
    pub fn end(&mut self) {
        self.end_answer();
        self.end_question();
    }

    fn end_question(&mut self) {
        if let Some((text, pictures)) = self.user.take() {
            let (images, pictures) = Shown::apart(pictures);
            self.lines.push(Line { message: Message::User { text, images }, pictures });
        }
    }

    fn end_answer(&mut self) {
        if let Some((text, calls)) = self.assistant.take() {
            self.lines.push(Line { message: Message::assistant(text, calls), pictures: Vec::new() });
        }
    }

    pub fn finish(mut self) -> (String, Vec<Line>) {
        self.end();
        (self.system.join("\n\n"), self.lines)
    }
}

fn append(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}
