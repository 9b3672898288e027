//! The commands that GitHub Copilot CLI leaves running behind a call that it calls done: begun in the background, moved there when a message
//! reaches it in the middle of one, or longer than it wants to wait. Such a call is over when the command is; until then only the name of its shell is known.

use std::collections::BTreeMap;

use serde_json::Value;
use windlass_domain::execution::Observation;

use crate::Event;
use crate::jsonrpc::{kept, list, number, observed, text};

#[derive(Debug, Default)]
pub struct Shells {
    /// Calls that are not done yet and say something about shells.
    calls: BTreeMap<String, Wants>,
    /// By the name of the shell, the call that its command runs for.
    left: BTreeMap<String, Left>,
}

#[derive(Debug)]
enum Wants {
    Run,
    Stop { shell: String },
}

#[derive(Debug)]
struct Left {
    call: String,
    output: String,
}

impl Shells {
    /// How many are remembered.
    pub fn open(&self) -> usize {
        self.calls.len() + self.left.len()
    }

    pub fn called(&mut self, call: &str, data: &Value) {
        let wants = match text(data, "/toolName") {
            "bash" => Wants::Run,
            "stop_bash" => Wants::Stop { shell: text(data, "/arguments/shellId").to_owned() },
            _ => return,
        };
        self.calls.insert(call.to_owned(), wants);
    }

    /// What the end of a call ends besides, by the id of the event; nothing at all where its command runs on.
    pub fn done(&mut self, id: &str, call: &str, data: &Value) -> Option<Vec<Event>> {
        let succeeded = data.get("success").and_then(Value::as_bool).unwrap_or_default();
        let said = text(data, "/result/content");
        match self.calls.remove(call) {
            Some(Wants::Run) if succeeded && exits(data).next().is_none() => {
                let Some(shell) = shell_in(said) else { return Some(Vec::new()) };
                self.left.insert(shell.to_owned(), Left { call: call.to_owned(), output: String::new() });
                None
            }
            Some(Wants::Stop { shell }) if succeeded => {
                let stopped = self.left.remove(&shell);
                Some(stopped.map(|left| ended(id, left.call, true, "stopped by the agent")).into_iter().collect())
            }
            _ => {
                let over: Vec<String> = exits(data).map(str::to_owned).collect();
                let ended = over.iter().filter_map(|shell| self.left.remove(shell)).map(|left| {
                    let id = format!("{id}:{}", left.call);
                    ended(&id, left.call, false, said)
                });
                Some(ended.collect())
            }
        }
    }

    /// All that a command has said so far.
    pub fn printed(&mut self, call: &str, data: &Value) {
        if let Some(left) = self.left.values_mut().find(|left| left.call == call) {
            left.output = kept(text(data, "/partialOutput"));
        }
    }

    /// As far as the agent has heard.
    pub fn runs_on(&self, shell: &str) -> bool {
        self.left.contains_key(shell)
    }

    /// A command in the background has ended by itself, as the program tells its agent.
    pub fn notified(&mut self, id: &str, data: &Value) -> Vec<Event> {
        let Some(left) = self.left.remove(text(data, "/kind/shellId")) else { return Vec::new() };
        let code = number(data, "/kind/exitCode");
        let said = format!("{}\n<completed in the background with exit code {code}>", left.output);
        vec![ended(id, left.call, false, said.trim_start())]
    }
}

fn ended(id: &str, call: String, is_error: bool, said: &str) -> Event {
    observed(format!("{id}:ended"), Observation::CallEnded { call, is_error, output: kept(said) })
}

/// The shells whose commands have ended, as the answer to a call has it.
fn exits(data: &Value) -> impl Iterator<Item = &str> {
    let contents = list(data, "/result/contents").iter();
    contents.filter(|content| text(content, "/type") == "shell_exit").map(|content| text(content, "/shellId"))
}

/// The shell in the last line of an answer, which is the program's own: before it stands whatever the command has said.
fn shell_in(said: &str) -> Option<&str> {
    let (_, note) = said.rsplit_once('<')?;
    let (_, named) = note.split_once("shellId: ")?;
    named.split([' ', '>', '.', ',']).next().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_is_known_by_what_the_program_says_last() {
        assert_eq!(shell_in("<command started in background with shellId: 0>"), Some("0"));
        assert_eq!(shell_in("<command started in detached background with shellId: s1>"), Some("s1"));
        assert_eq!(
            shell_in("<command with shellId: 7 moved to background by the user. You will be notified>"),
            Some("7")
        );
        assert_eq!(shell_in("<shellId: 3>\n<command with shellId: 4 is still running after 30 seconds>"), Some("4"));
        assert_eq!(shell_in("shellId: 3"), None);
        assert_eq!(shell_in("<done>"), None);
    }
}
