//! `AgentResponse`: what a planner answers. A plan document on its own counts as one that proposes it. Of an answer in no form nothing
//! is made: a plan is either there or it is not.

use serde::{Deserialize, Deserializer, Serialize};

use super::object;

/// What a plan document begins with.
const FRONT_MATTER: &str = "---";
const FENCE: &str = "```";

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentResponse {
    #[serde(deserialize_with = "or_default")]
    pub message: String,
    pub plan_action: Option<PlanAction>,
    /// What it would like to have from the tenant's memory.
    #[serde(deserialize_with = "or_default")]
    pub memory_queries: Vec<String>,
    /// It goes on once its questions are answered.
    #[serde(deserialize_with = "or_default")]
    pub needs_research: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanAction {
    pub plan_markdown: String,
    #[serde(default)]
    pub continuation_of: Option<String>,
}

/// Models write null for what they leave out.
pub(super) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

impl AgentResponse {
    pub fn proposing(plan_markdown: impl Into<String>) -> Self {
        let plan_action = Some(PlanAction { plan_markdown: plan_markdown.into(), continuation_of: None });
        Self { plan_action, ..Self::default() }
    }
}

pub fn read_agent_response(text: &str) -> Result<AgentResponse, String> {
    if let Some(document) = document(text) {
        return Ok(AgentResponse::proposing(document));
    }
    let response: AgentResponse = object::read(text)?;
    match &response.plan_action {
        Some(action) if action.plan_markdown.trim().is_empty() => {
            Err("`plan_action.plan_markdown` is empty: put the whole plan document there, or leave `plan_action` out"
                .to_owned())
        }
        None if response.message.trim().is_empty() && !response.needs_research => {
            Err("it says nothing: give a `plan_action`, or a `message` that says why there is no plan".to_owned())
        }
        _ => Ok(response),
    }
}

/// The answer as a plan document, where it is one, be it in a fence.
fn document(text: &str) -> Option<&str> {
    let text = text.trim();
    let inside = text.strip_prefix(FENCE).and_then(|rest| {
        let (language, rest) = rest.split_once('\n')?;
        let rest = rest.strip_suffix(FENCE)?;
        matches!(language.trim(), "" | "markdown" | "md" | "yaml").then_some(rest)
    });
    let text = inside.map_or(text, str::trim);
    text.lines().next().is_some_and(|line| line.trim_end() == FRONT_MATTER).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "---\nid: a\ntype: task\ntitle: A\n---\n# What to do\nIt.";

    fn plan(text: &str) -> String {
        read_agent_response(text).unwrap().plan_action.unwrap().plan_markdown
    }

    #[test]
    fn a_plan_is_found_in_the_object_and_on_its_own() {
        let object = serde_json::json!({"message": "Here", "plan_action": {"plan_markdown": PLAN}}).to_string();
        for text in [object.clone(), format!("I have a plan.\n```json\n{object}\n```"), format!("So:\n\n{object}\n")] {
            assert_eq!(plan(&text), PLAN, "{text}");
        }
        for text in
            [PLAN.to_owned(), format!("\n{PLAN}\n"), format!("```markdown\n{PLAN}\n```"), format!("```\n{PLAN}\n```")]
        {
            assert_eq!(plan(&text), PLAN, "{text}");
        }
        let fenced = format!("{PLAN}\n```bash\nmake\n```");
        assert_eq!(plan(&fenced), fenced, "a document may hold fences of its own");
    }

    #[test]
    fn an_answer_without_a_plan_says_why_or_waits() {
        let read = |text: &str| read_agent_response(text).unwrap();
        assert!(read(r#"{"message": "Waiting.", "needs_research": true}"#).needs_research);
        assert!(read(r#"{"needs_research": true, "plan_action": null, "memory_queries": null}"#).needs_research);
        assert_eq!(read(r#"{"message": "It cannot be done: there is no such API."}"#).plan_action, None);
        assert_eq!(read(r#"{"message": "m", "memory_queries": ["stack"]}"#).memory_queries, ["stack"]);
    }

    #[test]
    fn what_is_wrong_is_said_so_that_it_can_be_mended() {
        let check = |text: &str, words: &str| {
            let said = read_agent_response(text).unwrap_err();
            assert!(said.contains(words), "{text}: {said}");
        };
        check("First I would look at the code, then change it.", "answer with one JSON object");
        check("----\nnot front matter", "answer with one JSON object");
        check("{}", "it says nothing");
        check(r#"{"plan_action": {"plan_markdown": ""}}"#, "`plan_action.plan_markdown` is empty");
        check(r#"{"plan_action": {}}"#, "missing field `plan_markdown`");
        check(r##"{"plan_action": "# Plan"}"##, "expected struct PlanAction");
        check(r#"{"plan": "x"}"#, "unknown field `plan`, expected one of `message`, `plan_action`");
        check(r#"{"message": "m", "needs_research": "yes"}"#, "expected a boolean");
    }
}
