//! A tool as its server defines it, kept as it came: what a person accepts is everything a model will be shown and everything
//! it may be misled by, so that the digest covers all of it, fields we do not know included.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windlass_domain::Digest;

/// What model providers allow for a tool's name, and what stands between a server's name and its tool's.
const LONGEST_NAME: usize = 64;
const BETWEEN: &str = "__";
/// Leaves room for the tool's.
const LONGEST_SERVER_NAME: usize = 20;

#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    pub name: String,
    pub description: String,
    pub input_schema: Value,
    /// All of it.
    pub raw: Value,
    /// Of all of it, in canonical form.
    pub digest: Digest,
}

/// What a server says it has.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listing {
    pub tools: BTreeMap<String, Definition>,
    pub unusable: Vec<Unusable>,
}

/// A tool that cannot be offered, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    pub name: String,
    pub reason: String,
}

/// As the agent sees it.
pub fn full_name(server: &str, tool: &str) -> String {
    format!("{server}{BETWEEN}{tool}")
}

/// What is wrong with the name of a server.
pub fn name_problem(server: &str) -> Option<String> {
    let fits = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    let is_good = (1..=LONGEST_SERVER_NAME).contains(&server.len()) && server.chars().all(fits);
    (!is_good).then(|| format!("a server's name is 1 to {LONGEST_SERVER_NAME} lower-case letters, digits and hyphens"))
}

impl Definition {
    pub fn read(server: &str, raw: Value) -> Result<Self, Unusable> {
        let name = raw["name"].as_str().unwrap_or_default().to_owned();
        let unusable = |reason: &str| Unusable { name: name.clone(), reason: reason.to_owned() };
        let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
        if name.is_empty() || !name.chars().all(fits) || full_name(server, &name).len() > LONGEST_NAME {
            return Err(unusable("its name does not fit: models take letters, digits, `_` and `-`, 64 in all"));
        }
        let input_schema = match &raw["inputSchema"] {
            Value::Null => json!({"type": "object"}),
            schema if schema["type"] == "object" => schema.clone(),
            _ => return Err(unusable("its inputSchema does not describe an object")),
        };
        let canonical = serde_json_canonicalizer::to_vec(&raw)
            .map_err(|error| unusable(&format!("its definition has no canonical form: {error}")))?;
        let description = raw["description"].as_str().unwrap_or_default().to_owned();
        Ok(Self { description, input_schema, digest: Digest::of(&canonical), name, raw })
    }
}

impl Listing {
    /// Of two tools with one name neither is usable: which one would be called is the server's secret.
    pub fn of(server: &str, raw: Vec<Value>) -> Self {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for name in raw.iter().filter_map(|tool| tool["name"].as_str()) {
            *seen.entry(name.to_owned()).or_default() += 1;
        }
        let mut listing = Self::default();
        for tool in raw {
            match Definition::read(server, tool) {
                Ok(tool) if seen.get(&tool.name).is_some_and(|times| *times > 1) => {
                    let reason = "the server has several tools of this name".to_owned();
                    listing.unusable.push(Unusable { name: tool.name, reason });
                }
                Ok(tool) => {
                    listing.tools.insert(tool.name.clone(), tool);
                }
                Err(unusable) => listing.unusable.push(unusable),
            }
        }
        listing.unusable.sort_by(|one, other| one.name.cmp(&other.name));
        listing.unusable.dedup();
        listing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(raw: Value) -> Digest {
        Definition::read("s", raw).unwrap().digest
    }

    #[test]
    fn the_digest_covers_everything_but_the_order_of_keys() {
        let text =
            r#"{"name":"t","description":"d","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#;
        let turned =
            r#"{"annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"},"description":"d","name":"t"}"#;
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(digest(read(text)), digest(read(turned)));
        for (pointer, value) in [
            ("description", json!("D")),
            ("inputSchema", json!({"type": "object", "title": "x"})),
            ("annotations", json!({"readOnlyHint": false})),
            ("whatever", json!(1)),
        ] {
            let mut other = read(text);
            other[pointer] = value;
            assert_ne!(digest(other), digest(read(text)), "{pointer}");
        }
    }

    #[test]
    fn names_that_do_not_fit_and_doubles_are_not_offered() {
        let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
        let long = "x".repeat(62);
        let listing = Listing::of(
            "s",
            vec![
                tool("good"),
                tool("twice"),
                tool("twice"),
                tool("a.b"),
                tool(""),
                tool(&long),
                tool("a\u{202e}"),
                json!({"name": "list", "inputSchema": {"type": "array"}}),
                json!(7),
            ],
        );
        assert_eq!(listing.tools.keys().collect::<Vec<_>>(), ["good"]);
        let unusable: Vec<&str> = listing.unusable.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(unusable, ["", "a.b", "a\u{202e}", "list", "twice", long.as_str()]);
    }

    #[test]
    fn names_of_servers() {
        assert_eq!(name_problem("my-server2"), None);
        for name in ["", "a__b", "A", "a b", "a-very-long-name-of-a-server"] {
            assert!(name_problem(name).is_some(), "{name}");
        }
    }
}
