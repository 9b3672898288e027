//! What is made of a program that is not as Windlass was tried with it. Another version is said to be one, and believed for as long as it is
//! understood. A channel that is not understood is never read on a guess: the agent goes on on its own screen, where that loses nothing and
//! lets it do nothing that it would have had to ask for.

use windlass_domain::execution::ExecutionState;

use crate::{Agent, Permissions};

/// What to say of a version that this adapter was not tried with; nothing where nobody has tried any.
pub fn of_version(agent: &Agent, version: &str) -> Option<String> {
    if agent.tried.is_empty() || agent.tried.contains(&version) {
        return None;
    }
    let Agent { display_name, .. } = agent;
    let tried = agent.tried.join(", ");
    Some(format!(
        "Windlass was not tried with {display_name} {version}, only with {tried}: what it says is believed for as long as it is understood"
    ))
}

/// What to say of a channel that cannot be read.
pub fn of_channel(agent: &Agent, why: &str) -> String {
    format!(
        "what {} says over its structured channel cannot be read, and it goes on on its own screen: `windlass attach` shows it, and \
         whoever sits there answers what it asks. {}: {why}",
        agent.display_name,
        tried(agent)
    )
}

/// With which versions it is known to work.
pub fn tried(agent: &Agent) -> String {
    match agent.tried {
        [] => "no version of it was tried".to_owned(),
        tried => format!("Windlass was tried with {} {}", agent.display_name, tried.join(", ")),
    }
}

/// Whether an agent whose channel cannot be read may go on on its screen; otherwise why it may not.
pub fn screen_instead(state: &ExecutionState, agent: &Agent, has_screen: bool) -> Result<(), &'static str> {
    if !has_screen {
        return Err("it has no screen to go on on");
    }
    if agent.permissions == Permissions::Hooked {
        // On its screen nobody would know that it asks for nothing any more.
        return Err("it asks before it acts by a hook of ours, which this version may not heed");
    }
    if state.foreign.has_something_to_lose {
        return Err("on its screen it would begin anew, and what it was doing would be lost");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use windlass_domain::execution::{Delivery, ExecutionState, MessageDelivery};
    use windlass_domain::{MessageId, Wall};

    use super::*;
    use crate::{Adapter as _, ClaudeCode, Codex, Pi};

    #[test]
    fn a_version_is_doubted_where_others_were_tried() {
        let agent = ClaudeCode.agent();
        assert_eq!(of_version(agent, agent.tried[0]), None);
        let said = of_version(agent, "9.9.9").expect("a doubt");
        assert!(said.contains("Claude Code 9.9.9") && said.contains(agent.tried[0]), "{said}");
        assert!(of_version(agent, "of an unknown version").is_some());
        let untried = Agent { tried: &[], ..*agent };
        assert_eq!(of_version(&untried, "9.9.9"), None);
    }

    #[test]
    fn the_screen_is_for_who_has_one_asks_by_itself_and_loses_nothing() {
        let (fresh, mut spoken_to) = (ExecutionState::default(), ExecutionState::default());
        let message_id = MessageId::new(Wall::default(), 1);
        spoken_to.foreign.deliver(&MessageDelivery { message_id, outcome: Delivery::Delivered });
        for (state, agent, has_screen, expected) in [
            (&fresh, ClaudeCode.agent(), true, None),
            (&fresh, Codex.agent(), true, None),
            (&fresh, ClaudeCode.agent(), false, Some("no screen")),
            (&fresh, Pi.agent(), true, Some("a hook of ours")),
            (&spoken_to, ClaudeCode.agent(), true, Some("would be lost")),
        ] {
            let said = screen_instead(state, agent, has_screen).err();
            let is_as_expected = match (said, expected) {
                (Some(said), Some(expected)) => said.contains(expected),
                (said, expected) => said == expected,
            };
            assert!(is_as_expected, "{}: {said:?}, not {expected:?}", agent.display_name);
        }
    }
}
