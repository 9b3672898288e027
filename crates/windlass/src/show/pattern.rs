//! What is told of a pattern: each step that is left, and each time an agent is told to keep to it.

use windlass_domain::pattern::{Hint, PatternNudged, PatternStepped, PlaceEnd, Why};

use super::line::Line;
use super::style::Style;

pub fn stepped(stepped: &PatternStepped) -> Line {
    let PatternStepped { from, to, why, end, .. } = stepped;
    let style = match (why, end) {
        (_, Some(PlaceEnd::Stuck | PlaceEnd::Exhausted)) => Style::Bad,
        (Why::Failed, _) => Style::Warn,
        (Why::Done | Why::Skipped | Why::Passed, _) => Style::Accent,
    };
    let goes_on = match (to, end) {
        (Some(step), _) => format!("now {step}"),
        (None, Some(PlaceEnd::Complete) | None) => "all steps are done".to_owned(),
        (None, Some(PlaceEnd::Stuck)) => "it cannot go on".to_owned(),
        (None, Some(PlaceEnd::Exhausted)) => "no more steps may be made".to_owned(),
    };
    Line::marked(style, "» ")
        .plain(format!("step {from} {}", why.as_str()))
        .point(Style::Dim)
        .facts(Style::Dim, [goes_on])
}

pub fn nudged(nudged: &PatternNudged) -> Line {
    let about = match &nudged.hint {
        Hint::Repeats { step, tool } => format!("{tool} repeats the step {step}, which is finished"),
        Hint::TooEarly { step } => format!("the step {step} is not done"),
    };
    Line::marked(Style::Warn, "! ").plain("told to keep to its pattern").point(Style::Dim).facts(Style::Dim, [about])
}
