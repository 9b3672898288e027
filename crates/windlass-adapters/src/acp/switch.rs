//! How an agent over the protocol is told to use another model: by a method of its own in older versions, by an option in newer ones, and
//! by neither in some. Only what it offered can be chosen.

use serde_json::{Value, json};

use crate::Undeliverable;
use crate::jsonrpc::{list, text};

#[derive(Debug, Default)]
pub enum Switch {
    #[default]
    None,
    Model {
        offered: Vec<String>,
    },
    Option {
        name: String,
        offered: Vec<String>,
    },
}

impl Switch {
    /// What is offered with a session that was just opened.
    pub fn offered(opened: &Value) -> Self {
        let model = list(opened, "/configOptions").iter().find(|option| text(option, "/category") == "model");
        match model {
            Some(option) => Self::Option {
                name: text(option, "/id").to_owned(),
                offered: names(list(option, "/options"), "/value"),
            },
            None if opened.get("models").is_some_and(Value::is_object) => {
                Self::Model { offered: names(list(opened, "/models/availableModels"), "/modelId") }
            }
            None => Self::None,
        }
    }

    /// The method and its parameters.
    pub fn to(&self, session: &str, model: &str) -> Result<(&'static str, Value), Undeliverable> {
        match self {
            Self::None => Err(Undeliverable::NotAble),
            Self::Model { offered } => {
                Ok(("session/set_model", json!({ "sessionId": session, "modelId": among(offered, model)? })))
            }
            Self::Option { name, offered } => Ok((
                "session/set_config_option",
                json!({ "sessionId": session, "configId": name, "value": among(offered, model)? }),
            )),
        }
    }
}

fn names(offered: &[Value], pointer: &str) -> Vec<String> {
    offered.iter().map(|offered| text(offered, pointer).to_owned()).collect()
}

/// The agent's name for a model: some put a provider before ours.
fn among<'a>(offered: &'a [String], model: &str) -> Result<&'a str, Undeliverable> {
    let ours = |name: &&String| name.as_str() == model || name.ends_with(&format!("/{model}"));
    offered.iter().find(ours).map(String::as_str).ok_or(Undeliverable::NotAble)
}
