//! `RouteDecision`: what a proxy makes of what the user said. Of an answer that is none, the words themselves go to the user.

use serde::{Deserialize, Serialize};

use super::object;
use crate::plan::InteractionMode;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouteDecision {
    pub route: Route,
    /// For the user.
    #[serde(default)]
    pub response: Option<String>,
    /// As the proxy wrote it; whether there is such a task is the runtime's to find out.
    #[serde(default)]
    pub task_id: Option<String>,
    #[serde(default)]
    pub reason: Option<String>,
    #[serde(default)]
    pub interaction_register: Option<InteractionRegister>,
    #[serde(default)]
    pub interaction_mode: Option<InteractionMode>,
    #[serde(default)]
    pub continuation_of: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Route {
    Direct,
    Planner,
    NewTask,
    InjectIntoActive,
    CancelTask,
    PauseTask,
    ResumeTask,
    SmallTalk,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InteractionRegister {
    Exploration,
    Execution,
    Review,
    Status,
}

impl RouteDecision {
    /// What an answer in no form means.
    pub fn direct(words: &str) -> Self {
        Self {
            route: Route::Direct,
            response: Some(words.trim().to_owned()),
            task_id: None,
            reason: None,
            interaction_register: None,
            interaction_mode: None,
            continuation_of: None,
        }
    }

    /// What a text means, whatever its form.
    pub fn of(text: &str) -> Self {
        read_route_decision(text).unwrap_or_else(|_| Self::direct(text))
    }

    fn objection(&self) -> Option<&'static str> {
        let is_said = |field: &Option<String>| field.as_ref().is_some_and(|text| !text.trim().is_empty());
        match self.route {
            Route::Direct | Route::SmallTalk if !is_said(&self.response) => {
                Some("`response` is missing: with this route it is what the user reads")
            }
            Route::InjectIntoActive | Route::CancelTask | Route::PauseTask | Route::ResumeTask
                if !is_said(&self.task_id) =>
            {
                Some("`task_id` is missing: say which task this route is about")
            }
            _ => None,
        }
    }
}

pub fn read_route_decision(text: &str) -> Result<RouteDecision, String> {
    let decision: RouteDecision = object::read(text)?;
    decision.objection().map_or(Ok(()), |objection| Err(objection.to_owned()))?;
    Ok(decision)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_is_read_with_what_it_needs() {
        let check = |text: &str, expected: Route| assert_eq!(read_route_decision(text).unwrap().route, expected);
        check(r#"{"route": "direct", "response": "Yes."}"#, Route::Direct);
        check(r#"{"route": "small_talk", "response": "Hello."}"#, Route::SmallTalk);
        check(r#"{"route": "planner", "reason": "several steps", "task_id": null}"#, Route::Planner);
        check(r#"{"route": "new_task", "interaction_mode": "confirm_always"}"#, Route::NewTask);
        check(r#"{"route": "inject_into_active", "task_id": "t", "response": "Passed on."}"#, Route::InjectIntoActive);
        check(r#"{"route": "cancel_task", "task_id": "t"}"#, Route::CancelTask);
        check(r#"{"route": "pause_task", "task_id": "t", "interaction_register": "status"}"#, Route::PauseTask);
        check(r#"{"route": "resume_task", "task_id": "t", "continuation_of": "plan"}"#, Route::ResumeTask);
    }

    #[test]
    fn what_is_wrong_is_said_so_that_it_can_be_mended() {
        let check = |text: &str, words: &str| {
            let said = read_route_decision(text).unwrap_err();
            assert!(said.contains(words), "{text}: {said}");
        };
        check("Sure, let me look.", "answer with one JSON object");
        check("{}", "missing field `route`");
        check(r#"{"route": "plan"}"#, "unknown variant `plan`, expected one of `direct`, `planner`");
        check(r#"{"route": "planner", "why": "x"}"#, "unknown field `why`");
        check(r#"{"route": "direct"}"#, "`response` is missing");
        check(r#"{"route": "direct", "response": " "}"#, "`response` is missing");
        check(r#"{"route": "cancel_task"}"#, "`task_id` is missing");
    }

    #[test]
    fn an_answer_in_no_form_goes_to_the_user() {
        let decision = RouteDecision::of(" The tests pass. ");
        assert_eq!((decision.route, decision.response.as_deref()), (Route::Direct, Some("The tests pass.")));
        assert_eq!(RouteDecision::of(r#"{"route": "planner"}"#).route, Route::Planner);
    }
}
