//! What a call asks of the browser: the arguments, and what has to be there for which action.

use serde::Deserialize;
use serde_json::{Value, json};

use super::address::Place;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Verb {
    Navigate,
    Click,
    Type,
    Submit,
    Screenshot,
    Read,
}

#[derive(Deserialize)]
pub(super) struct Arguments {
    action: Verb,
    url: Option<String>,
    selector: Option<String>,
    text: Option<String>,
    #[serde(default)]
    fields: Vec<Field>,
}

/// One thing to fill in.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Field {
    pub selector: String,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    Navigate,
    Click { selector: String },
    Type(Field),
    Submit { selector: String, fields: Vec<Field> },
    Screenshot,
    Read,
}

/// An action, and where: on the page that is open where no place is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    pub action: Action,
    pub place: Option<Place>,
}

impl Action {
    /// Whether it only looks at the page that is open.
    pub const fn looks(&self) -> bool {
        matches!(self, Self::Screenshot | Self::Read)
    }
}

impl Arguments {
    pub fn wanted(self) -> Result<Wanted, String> {
        let Self { action, url, selector, text, fields } = self;
        let place = url.as_deref().map(Place::parse).transpose()?;
        let missing = |what: &str| format!("`{what}` is missing: this action needs it");
        let selector = || selector.ok_or_else(|| missing("selector"));
        if action != Verb::Submit && !fields.is_empty() {
            return Err("`fields` is for submit; fill in one field at a time with type".to_owned());
        }
        if action != Verb::Type && text.is_some() {
            return Err("`text` is for type; submit has `fields`".to_owned());
        }
        let action = match action {
            Verb::Navigate if place.is_none() => return Err(missing("url")),
            Verb::Submit if place.is_none() => {
                return Err("`url` is missing: name the page that the form is on, so that whoever is asked sees it; \
                            it is opened again where the browser is no longer there"
                    .to_owned());
            }
            Verb::Navigate => Action::Navigate,
            Verb::Click => Action::Click { selector: selector()? },
            Verb::Type => Action::Type(Field { selector: selector()?, text: text.ok_or_else(|| missing("text"))? }),
            Verb::Submit => Action::Submit { selector: selector()?, fields },
            Verb::Screenshot => Action::Screenshot,
            Verb::Read => Action::Read,
        };
        Ok(Wanted { action, place })
    }
}

pub(super) fn parameters() -> Value {
    let text = |description: &str| json!({ "type": "string", "description": description });
    json!({
        "type": "object",
        "properties": {
            "action": { "type": "string", "enum": ["navigate", "click", "type", "submit", "screenshot", "read"] },
            "url": text("The page: where to navigate to; for submit, the page with the form; otherwise it is opened first \
                         unless it is open. Begins with https://, http:// or file:///workspace/"),
            "selector": text("click, type, submit: a CSS selector, as read shows them"),
            "text": text("type: what to fill in instead of what is there; for a list, the option to choose"),
            "fields": {
                "type": "array",
                "description": "submit: everything to fill in first, also what was typed before, so that whoever is asked sees it",
                "items": {
                    "type": "object",
                    "properties": { "selector": { "type": "string" }, "text": { "type": "string" } },
                    "required": ["selector", "text"],
                    "additionalProperties": false,
                },
            },
        },
        "required": ["action"],
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(arguments: Value) -> Result<Wanted, String> {
        serde_json::from_value::<Arguments>(arguments).expect("they fit the schema").wanted()
    }

    #[test]
    fn each_action_has_what_it_needs() {
        let page = "https://example.org/";
        for arguments in [
            json!({"action": "navigate", "url": page}),
            json!({"action": "read"}),
            json!({"action": "screenshot", "url": page}),
            json!({"action": "click", "selector": "a"}),
            json!({"action": "type", "selector": "a", "text": ""}),
            json!({"action": "submit", "url": page, "selector": "form", "fields": [{"selector": "a", "text": "b"}]}),
        ] {
            assert!(wanted(arguments.clone()).is_ok(), "{arguments}");
        }
        for (arguments, said) in [
            (json!({"action": "navigate"}), "`url` is missing"),
            (json!({"action": "navigate", "url": "javascript:x"}), "`url`: it must begin"),
            (json!({"action": "click"}), "`selector` is missing"),
            (json!({"action": "type", "selector": "a"}), "`text` is missing"),
            (json!({"action": "submit", "selector": "form"}), "`url` is missing"),
            (json!({"action": "submit", "url": page}), "`selector` is missing"),
            (json!({"action": "click", "selector": "a", "text": "x"}), "`text` is for type"),
            (json!({"action": "read", "fields": [{"selector": "a", "text": "b"}]}), "`fields` is for submit"),
        ] {
            let error = wanted(arguments.clone()).expect_err("it lacks something");
            assert!(error.starts_with(said), "{arguments}: {error}");
        }
    }
}
