//! An agent's question at a terminal: one of its options by number, or any other words.

use windlass_engine::{Error, Message, OpenQuestion, Sent};

use super::dialogue::{Dialogue, Unanswered, tell};
use crate::show::question;

pub async fn put_question(dialogue: &mut Dialogue<'_>, open: &OpenQuestion) -> Result<(), Unanswered> {
    let windlass = dialogue.windlass;
    dialogue.show(&question(open, windlass.runtime.wall()));
    let asked = &open.asked;
    let prompt = match asked.asked.options.is_empty() {
        true => "your answer (Ctrl-C: later):",
        false => "a number, or your own answer (Ctrl-C: later):",
    };
    let text = loop {
        let line = dialogue.line(prompt).await?;
        match chosen(&asked.asked.options, &line) {
            "" => tell("type an answer; Ctrl-C leaves the question for later"),
            answer => break answer.to_owned(),
        }
    };
    let message = Message { text, question: Some(asked.request_id), by: windlass.user.clone() };
    match windlass.engine.send(asked.task_id, &message).await {
        Err(Error::TooLate(_)) => tell("answered elsewhere, and the agent is done"),
        Ok(Sent::TooLate(_)) => tell("answered elsewhere; the agent hears this as a message"),
        Err(Error::Over(_)) => {
            tell("the run has ended elsewhere");
            return Err(Unanswered::Over);
        }
        sent => drop(sent?),
    }
    Ok(())
}

/// An option's number stands for the option.
pub fn chosen<'a>(options: &'a [String], line: &'a str) -> &'a str {
    let number = line.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    number.and_then(|index| options.get(index)).map_or(line, String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_an_option_where_there_is_one_and_a_number_otherwise() {
        let options = ["yes".to_owned(), "no".to_owned()];
        for (line, expected) in [("1", "yes"), ("2", "no"), ("3", "3"), ("0", "0"), ("-1", "-1"), ("no!", "no!")] {
            assert_eq!(chosen(&options, line), expected);
        }
        assert_eq!(chosen(&[], "1"), "1");
    }
}
