//! A tool as it is offered: its name, what it is for, and its parameters, of which both the JSON schema that a client is shown and the
//! check of what it then sends are made, so that the two cannot differ. Pure.

use serde_json::{Map, Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tool {
    pub name: &'static str,
    /// For a model.
    pub description: &'static str,
    pub parameters: &'static [Parameter],
    pub effect: Effect,
}

/// What a call changes, as clients like to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Reads,
    /// Something is said or begun, nothing is undone.
    Adds,
    /// Something ends that nobody brings back.
    Ends,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    pub name: &'static str,
    /// For a model.
    pub about: &'static str,
    pub kind: Kind,
    pub need: Need,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    Required,
    Optional,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// At least one letter, at most so many.
    Text {
        most: usize,
    },
    /// So many texts at most, each of so many letters.
    Texts {
        most: usize,
        each: usize,
    },
    Whole {
        least: i64,
        most: i64,
    },
    OneOf(&'static [&'static str]),
}

impl Tool {
    pub(crate) fn described(&self) -> Value {
        let properties: Map<String, Value> =
            self.parameters.iter().map(|parameter| (parameter.name.to_owned(), parameter.schema())).collect();
        let required: Vec<&str> =
            self.parameters.iter().filter(|parameter| parameter.need == Need::Required).map(|it| it.name).collect();
        json!({
            "name": self.name,
            "description": self.description,
            "inputSchema": {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            },
            "annotations": {
                "readOnlyHint": self.effect == Effect::Reads,
                "destructiveHint": self.effect == Effect::Ends,
                "openWorldHint": false,
            },
        })
    }

    /// Everything that is wrong with the arguments, a sentence each.
    pub fn problems(&self, arguments: &Map<String, Value>) -> Vec<String> {
        let known = |name: &str| self.parameters.iter().any(|parameter| parameter.name == name);
        let names: Vec<&str> = self.parameters.iter().map(|parameter| parameter.name).collect();
        let unknown = arguments.keys().filter(|name| !known(name)).map(|name| {
            let name: String = name.chars().take(40).collect();
            match names.as_slice() {
                [] => format!("`{name}` is not known: there are no arguments"),
                names => format!("`{name}` is not known: the arguments are {}", names.join(", ")),
            }
        });
        self.parameters.iter().filter_map(|parameter| parameter.problem(arguments)).chain(unknown).collect()
    }
}

impl Parameter {
    pub const fn required(name: &'static str, about: &'static str, kind: Kind) -> Self {
        Self { name, about, kind, need: Need::Required }
    }

    pub const fn optional(name: &'static str, about: &'static str, kind: Kind) -> Self {
        Self { name, about, kind, need: Need::Optional }
    }

    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Kind::Text { most } => json!({"type": "string", "minLength": 1, "maxLength": most}),
            Kind::Texts { most, each } => {
                json!({"type": "array", "maxItems": most, "items": {"type": "string", "minLength": 1, "maxLength": each}})
            }
            Kind::Whole { least, most } => json!({"type": "integer", "minimum": least, "maximum": most}),
            Kind::OneOf(words) => json!({"type": "string", "enum": words}),
        };
        schema["description"] = json!(self.about);
        schema
    }

    fn problem(&self, arguments: &Map<String, Value>) -> Option<String> {
        match (arguments.get(self.name), self.need) {
            // Models write null for what they leave out.
            (None | Some(Value::Null), Need::Optional) => None,
            (None | Some(Value::Null), Need::Required) => {
                Some(format!("`{}` is missing: it must be {}", self.name, self.kind.described()))
            }
            (Some(value), _) if self.kind.takes(value) => None,
            (Some(_), _) => Some(format!("`{}` must be {}", self.name, self.kind.described())),
        }
    }
}

impl Kind {
    fn takes(self, value: &Value) -> bool {
        let fits = |value: &Value, most: usize| {
            value.as_str().is_some_and(|text| !text.is_empty() && text.chars().nth(most).is_none())
        };
        match self {
            Self::Text { most } => fits(value, most),
            Self::Texts { most, each } => {
                value.as_array().is_some_and(|texts| texts.len() <= most && texts.iter().all(|text| fits(text, each)))
            }
            Self::Whole { least, most } => value.as_i64().is_some_and(|number| (least..=most).contains(&number)),
            Self::OneOf(words) => value.as_str().is_some_and(|word| words.contains(&word)),
        }
    }

    fn described(self) -> String {
        match self {
            Self::Text { most } => format!("a text of 1 to {most} letters"),
            Self::Texts { most, each } => format!("a list of at most {most} texts of 1 to {each} letters each"),
            Self::Whole { least, most } => format!("a whole number from {least} to {most}"),
            Self::OneOf(words) => format!("one of {}", words.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOL: Tool = Tool {
        name: "t",
        description: "d",
        parameters: &[
            Parameter::required("text", "a", Kind::Text { most: 3 }),
            Parameter::optional("number", "b", Kind::Whole { least: 1, most: 9 }),
            Parameter::optional("word", "c", Kind::OneOf(&["red", "blue"])),
            Parameter::optional("texts", "e", Kind::Texts { most: 2, each: 2 }),
        ],
        effect: Effect::Reads,
    };

    fn problems(arguments: Value) -> Vec<String> {
        let Value::Object(arguments) = arguments else { panic!("{arguments}") };
        TOOL.problems(&arguments)
    }

    #[test]
    fn what_fits_has_no_problems() {
        for good in [
            json!({"text": "a"}),
            json!({"text": "äöü", "number": null}),
            json!({"text": "a", "number": 9, "word": "red", "texts": ["a", "bb"]}),
        ] {
            assert_eq!(problems(good.clone()), [""; 0], "{good}");
        }
    }

    #[test]
    fn every_problem_is_said_at_once() {
        assert_eq!(
            problems(json!({"number": 0, "word": "green", "texts": ["a", "b", "c"], "txt": 1})),
            [
                "`text` is missing: it must be a text of 1 to 3 letters",
                "`number` must be a whole number from 1 to 9",
                "`word` must be one of red, blue",
                "`texts` must be a list of at most 2 texts of 1 to 2 letters each",
                "`txt` is not known: the arguments are text, number, word, texts",
            ]
        );
        for bad in [json!({"text": ""}), json!({"text": "abcd"}), json!({"text": 7}), json!({"text": null})] {
            assert_eq!(problems(bad.clone()).len(), 1, "{bad}");
        }
        for bad in [json!(1.5), json!("1"), json!(10), json!(1e30), json!(u64::MAX)] {
            assert_eq!(problems(json!({"text": "a", "number": bad})).len(), 1, "{bad}");
        }
    }

    #[test]
    fn the_schema_says_what_is_checked() {
        let described = TOOL.described();
        let schema = &described["inputSchema"];
        assert_eq!(schema["required"], json!(["text"]));
        assert_eq!(schema["additionalProperties"], json!(false));
        assert_eq!(schema["properties"]["text"]["maxLength"], 3);
        assert_eq!(schema["properties"]["number"]["maximum"], 9);
        assert_eq!(schema["properties"]["texts"]["items"]["maxLength"], 2);
        assert_eq!(schema["properties"]["word"]["enum"], json!(["red", "blue"]));
    }
}
