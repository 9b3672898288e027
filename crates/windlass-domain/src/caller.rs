//! What callers call their own things. Seed 000's clients choose `command_id`, `session_id` and `task_id` themselves, as strings; ours
//! are UUIDs. A caller's name that is a UUID is that id; any other stands for one that is made of the tenant, of what it names and of
//! the name, so that whoever hears it again means the same thing, and nobody means another tenant's. Its own words go back to the caller.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

const LONGEST: usize = 128;
const BESIDES_LETTERS: &str = "-_.:@/+=~";

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CallerName(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAName {
    #[error("an id is empty")]
    Empty,
    #[error("an id is longer than {LONGEST} characters")]
    TooLong,
    #[error("an id holds {0:?}: use letters, digits and {BESIDES_LETTERS}")]
    Odd(char),
}

impl CallerName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for CallerName {
    type Err = NotAName;

    fn from_str(text: &str) -> Result<Self, NotAName> {
        let is_fine = |letter: &char| letter.is_ascii_alphanumeric() || BESIDES_LETTERS.contains(*letter);
        match text.chars().find(|letter| !is_fine(letter)) {
            _ if text.is_empty() => Err(NotAName::Empty),
            _ if text.chars().count() > LONGEST => Err(NotAName::TooLong),
            Some(odd) => Err(NotAName::Odd(odd)),
            None => Ok(Self(text.to_owned())),
        }
    }
}

impl TryFrom<String> for CallerName {
    type Error = NotAName;

    fn try_from(text: String) -> Result<Self, NotAName> {
        text.parse()
    }
}

impl From<CallerName> for String {
    fn from(name: CallerName) -> Self {
        name.0
    }
}

impl fmt::Display for CallerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{SessionId, TaskId, Tenant};

    #[test]
    fn names_are_plain_and_short() {
        let check = |text: &str, expected: Option<NotAName>| assert_eq!(text.parse::<CallerName>().err(), expected);
        check("order-7", None);
        check("a:b/c@d.e+f=g~h_i", None);
        check(&"x".repeat(128), None);
        check("", Some(NotAName::Empty));
        check(&"x".repeat(129), Some(NotAName::TooLong));
        check("two words", Some(NotAName::Odd(' ')));
        check("line\n", Some(NotAName::Odd('\n')));
        check("caf\u{e9}", Some(NotAName::Odd('\u{e9}')));
    }

    #[test]
    fn a_name_stands_for_one_thing_of_one_tenant() {
        let name = |text: &str| text.parse::<CallerName>().unwrap();
        let (ours, theirs) = (Tenant::local(), Tenant::new("theirs"));
        let task = TaskId::called(&ours, &name("order-7"));
        assert_eq!(task, TaskId::called(&ours, &name("order-7")));
        assert_ne!(task, TaskId::called(&theirs, &name("order-7")));
        assert_ne!(task, TaskId::called(&ours, &name("order-8")));
        assert_ne!(task.to_string(), SessionId::called(&ours, &name("order-7")).to_string());
        let own = "0199f1c2-7d7e-7c1a-9a52-0d6c2f1b8e11";
        assert_eq!(TaskId::called(&theirs, &name(own)).to_string(), own, "a UUID is used as it is");
    }
}
