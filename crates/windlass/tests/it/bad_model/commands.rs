//! Commands that would never end: each ends at its deadline, the model hears how, memory stays flat and nothing is left.

use super::liar::Act;
use super::trial::once;
use super::wire::Wire;
use crate::support::none_left;

/// What the command is, and how its call ends.
const COMMANDS: [(&str, &str); 4] = [
    ("head -c 10G /dev/zero", "timed_out"),
    // There is nothing to read, so that it ends at once.
    ("cat", "ok"),
    ("trap '' TERM; while true; do sleep 0.01; done", "timed_out"),
    ("setsid sleep 1000 & echo begun", "ok"),
];

#[test]
fn commands_that_flood_wait_ignore_signals_or_leave_a_child_behind() {
    let arguments = COMMANDS.map(|(command, _)| format!("{{\"command\":\"{command}\",\"timeout_seconds\":1}}"));
    let calls: Vec<_> = arguments.iter().map(|arguments| ("bash", arguments.as_str())).collect();
    let trial = once(Wire::Chat, Act::Say(Wire::Chat.calls(&calls)));
    trial.is_completed();
    let ends: Vec<_> = trial.data("tool.finished").iter().map(|result| result["status"].clone()).collect();
    assert_eq!(ends, COMMANDS.map(|(_, end)| end), "{:?}", trial.data("tool.finished"));
    none_left(&trial.home);
}
