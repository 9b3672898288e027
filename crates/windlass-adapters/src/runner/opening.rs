//! What a program is begun with, from the fold alone: a run that goes on after a crash, a card or a message says the same as one
//! that was never interrupted would have heard by then.

use windlass_domain::MessageId;
use windlass_domain::execution::ExecutionState;

#[derive(Debug, PartialEq, Eq)]
pub struct Opening {
    /// The conversation to go on with; none for a new one.
    pub resumes: Option<String>,
    /// The one that a new conversation begins as a copy of.
    pub forks: Option<String>,
    pub prompt: String,
    /// The messages that are part of the prompt.
    pub delivers: Vec<MessageId>,
}

const GO_ON: &str = "You were interrupted. Look at how things stand in the workspace and go on with your task.";

/// `task` is what a new conversation begins with.
pub fn opening(state: &ExecutionState, task: &str) -> Opening {
    let foreign = &state.foreign;
    let words = || foreign.news.iter().filter(|news| news.is_words());
    let delivers = words().filter_map(|news| news.message_id).collect();
    let mut news: Vec<&str> = words().map(|news| news.text.as_str()).collect();
    match &foreign.session_id {
        Some(session) => {
            if news.is_empty() {
                news.push(GO_ON);
            }
            Opening { resumes: Some(session.clone()), forks: None, prompt: news.join("\n\n"), delivers }
        }
        None => {
            let prompt = [task].into_iter().chain(news).collect::<Vec<_>>().join("\n\n");
            Opening { resumes: None, forks: foreign.forks.clone(), prompt, delivers }
        }
    }
}
