//! An agent that exits at once, hangs silently, floods, says half of something, claims another execution's id, answers a permission twice, changes its
//! format, needs a login, leaves children behind, or is killed, in each language that Windlass speaks besides Claude Code's, for which `bad_agents`
//! has it: a stand-in for each program, and the same table for all of them.

use super::bad_agents::{Stand, calls_made, has_noticed};

/// Each with what every stand-in does behind what it speaks.
macro_rules! stand_in {
    ($file:literal) => {
        concat!(include_str!(concat!("bad_wires/", $file)), include_str!("bad_wires/acts.py"))
    };
}

const CODEX: Stand<'static> = Stand { agent: "codex", file: "codex", program: stand_in!("codex.py") };
const COPILOT: Stand<'static> = Stand { agent: "copilot", file: "copilot", program: stand_in!("copilot.py") };
pub const OPENCODE: Stand<'static> = Stand { agent: "opencode", file: "opencode", program: stand_in!("opencode.py") };
const PI: Stand<'static> = Stand { agent: "pi", file: "pi", program: stand_in!("pi.py") };

const LANGUAGES: [Stand<'static>; 4] = [CODEX, COPILOT, OPENCODE, PI];

/// All of them at once, since most of it is waiting.
pub fn in_any_language(check: impl Fn(&Stand<'_>) + Sync) {
    std::thread::scope(|threads| {
        for language in &LANGUAGES {
            threads.spawn(|| check(language));
        }
    });
}

/// The control: what the stand-ins say is understood.
#[test]
fn a_stand_in_that_does_its_work_is_done_at_once() {
    in_any_language(|language| drop(language.is_done_at_once("good")));
}

/// Before it has heard a word; so does the next one, and what is left to do is a person's.
#[test]
fn an_agent_that_exits_at_once_in_any_language() {
    in_any_language(|language| {
        let seen = language.carried_out("exits", 1);
        assert_eq!(seen.launches(), 2, "{}: {}", language.agent, seen.stdout);
        assert!(seen.reasons().contains("no licence for today"), "{}: {}", language.agent, seen.reasons());
    });
}

#[test]
fn an_agent_that_hangs_silently_in_any_language() {
    in_any_language(|language| language.is_tried_again("silent", "says nothing and does nothing"));
}

#[test]
fn an_agent_that_floods_in_any_language() {
    in_any_language(|language| language.is_tried_again("floods", "it tells more than anybody could read"));
}

#[test]
fn an_agent_that_says_half_of_something_in_any_language() {
    in_any_language(|language| language.is_tried_again("half", "ended in the middle of its work"));
}

#[test]
fn an_agent_that_claims_another_executions_id_in_any_language() {
    in_any_language(|language| {
        let story = language.is_done_at_once("another");
        assert!(has_noticed(&story, "names another execution"), "{}", language.agent);
    });
}

#[test]
fn an_agent_that_answers_a_permission_twice_in_any_language() {
    in_any_language(|language| {
        assert_eq!(calls_made(&language.is_done_at_once("twice")), (1, 1), "{}", language.agent);
    });
}

/// Regression: of Codex it was let pass, and of all where what they did had failed.
#[test]
fn an_agent_that_acts_without_asking_in_any_language() {
    in_any_language(|language| {
        for mode in ["unasked", "unasked_and_fails"] {
            language.is_tried_in_another_way(mode, "it has done `bash` without asking");
        }
    });
}

#[test]
fn an_agent_that_changes_its_format_in_any_language() {
    in_any_language(|language| language.is_tried_in_another_way("changes", "cannot be read"));
}

#[test]
fn an_agent_that_needs_a_login_in_any_language() {
    in_any_language(|language| language.is_tried_in_another_way("login", "Invalid API key"));
}

#[test]
fn an_agent_that_leaves_children_behind_in_any_language() {
    in_any_language(|language| drop(language.is_done_at_once("children")));
}

#[test]
fn an_agent_that_is_killed_in_any_language() {
    in_any_language(|language| language.is_tried_again("killed", "ended in the middle of its work"));
}
