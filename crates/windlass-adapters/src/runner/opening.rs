//! What a program is begun with, from the fold alone: a run that goes on after a crash, a card or a message says the same as one
//! that was never interrupted would have heard by then.

use windlass_domain::MessageId;
use windlass_domain::execution::{ExecutionState, News};

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

const MAYBE_HEARD: &str =
    "You may have heard what follows already, right before you were interrupted. What it asks for, do once:";
const GO_ON: &str = "You were interrupted. Look at how things stand in the workspace and go on with your task.";

const BEGUN_BEFORE: &str = "You have worked on this before, and were interrupted: nobody can go on with that conversation. Look at how things stand in the \
workspace and go on from there.";
const TOLD_BEFORE: &str = "What you were told in that conversation, oldest first:";

/// `task` is what a new conversation begins with.
pub fn opening(state: &ExecutionState, task: &str) -> Opening {
    let foreign = &state.foreign;
    let words = || foreign.news.iter().filter(|news| news.is_words());
    let delivers = words().filter_map(|news| news.message_id).collect();
    match &foreign.session_id {
        Some(session) => {
            let mut news: Vec<String> = words().map(again).collect();
            if news.is_empty() {
                news.push(GO_ON.to_owned());
            }
            Opening { resumes: Some(session.clone()), forks: None, prompt: news.join("\n\n"), delivers }
        }
        None => {
            let news = words().map(|news| news.text.as_str());
            let prompt = [task].into_iter().chain(news).collect::<Vec<_>>().join("\n\n");
            Opening { resumes: None, forks: foreign.forks.clone(), prompt, delivers }
        }
    }
}

/// What a program is told that cannot go on with its conversation: all that it has to know, since nothing of that is left but the files.
pub fn anew(state: &ExecutionState, task: &str) -> String {
    let news: Vec<&str> =
        state.foreign.news.iter().filter(|news| news.is_words()).map(|news| news.text.as_str()).collect();
    let is_known = |words: &str| task.contains(words) || news.iter().any(|news| news.contains(words));
    let told =
        state.essentials.said_outside(&[]).filter(|said| !is_known(said.words)).map(|said| match said.to_question {
            Some(question) => format!("To your question `{question}`: {}", said.words),
            None => said.words.to_owned(),
        });
    let mut told: Vec<String> = told.collect();
    if !told.is_empty() {
        told.insert(0, TOLD_BEFORE.to_owned());
    }
    let words = [task.to_owned(), BEGUN_BEFORE.to_owned()].into_iter().chain(told);
    words.chain(news.into_iter().map(str::to_owned)).collect::<Vec<_>>().join("\n\n")
}

/// To a conversation that may hold it.
fn again(news: &News) -> String {
    match news.may_be_heard {
        true => format!("{MAYBE_HEARD}\n\n{}", news.text),
        false => news.text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use windlass_domain::Wall;
    use windlass_domain::execution::{Delivery, MessageDelivery, MessageKind};

    use super::*;

    #[test]
    fn what_may_have_been_heard_is_said_to_be_that_to_the_same_conversation_alone() {
        let mut state = ExecutionState::default();
        let message_id = MessageId::new(Wall::default(), 1);
        state.foreign.tell(Some(message_id), MessageKind::Prompt, "go left");
        let mut check = |outcome: Delivery, session: Option<&str>, expected: &str| {
            state.foreign.deliver(&MessageDelivery { message_id, outcome });
            state.foreign.session_id = session.map(str::to_owned);
            let opening = opening(&state, "The task.");
            assert_eq!(opening.prompt, expected);
            assert_eq!(opening.delivers, [message_id]);
        };
        check(Delivery::Attempted, None, "The task.\n\ngo left");
        check(Delivery::Attempted, Some("s"), &format!("{MAYBE_HEARD}\n\ngo left"));
        // It was not taken: nobody has heard it.
        check(Delivery::Deferred { reason: String::new() }, Some("s"), "go left");
    }
}
