//! What an agent that repeats itself is told (seed 000 §11.3), and how the run ends when it does not listen.

use windlass_domain::execution::{Doom, DoomLoopDetected, Outcome, Pattern};
use windlass_domain::{ErrorCode, ErrorDetails};

const FIRST: &str = include_str!("../../../prompts/doom/first.md");
const AGAIN: &str = include_str!("../../../prompts/doom/again.md");

/// The words, or the end.
pub fn answer(doom: Doom) -> Result<DoomLoopDetected, Outcome> {
    match doom {
        Doom::Tell { pattern, intervention } => {
            let words = if intervention == 1 { FIRST } else { AGAIN };
            let message = format!("{} ({pattern})", words.trim());
            Ok(DoomLoopDetected { pattern, intervention, message })
        }
        Doom::GiveUp(pattern) => Err(Outcome::Failed(gave_up(&pattern))),
    }
}

fn gave_up(pattern: &Pattern) -> ErrorDetails {
    let message = format!("the agent repeats itself and was told so three times: {pattern}");
    ErrorDetails::new(ErrorCode::DoomLoop, message)
        .with_hint("say in the goal what to do where it is stuck, or raise the limits in [doom_loop] of windlass.toml")
}
