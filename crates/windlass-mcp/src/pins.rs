//! Which definitions the operator has accepted, by server and tool. A definition that differs from its pin, and a tool without
//! one, are not offered and not called. Pure; whoever has the file reads and writes it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::definition::{Definition, Listing};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pins {
    servers: BTreeMap<String, BTreeMap<String, Definition>>,
}

/// How a tool stands to its pin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Pinned,
    /// Nobody has accepted it.
    New,
    Changed,
    /// It was accepted, and the server does not offer it.
    Gone,
}

impl Standing {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pinned => "pinned",
            Self::New => "new",
            Self::Changed => "changed",
            Self::Gone => "gone",
        }
    }
}

impl Pins {
    /// Or why this is no file of pins.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let raw: BTreeMap<String, BTreeMap<String, Value>> =
            serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let mut servers = BTreeMap::new();
        for (server, tools) in raw {
            let mut pinned = BTreeMap::new();
            for (name, tool) in tools {
                let tool =
                    Definition::read(&server, tool).map_err(|bad| format!("{server}, {name}: {}", bad.reason))?;
                pinned.insert(tool.name.clone(), tool);
            }
            servers.insert(server, pinned);
        }
        Ok(Self { servers })
    }

    /// For a person to read, too: what was accepted stands there in full.
    pub fn written(&self) -> Vec<u8> {
        let raw: BTreeMap<&String, BTreeMap<&String, &Value>> = self
            .servers
            .iter()
            .map(|(server, tools)| (server, tools.iter().map(|(name, tool)| (name, &tool.raw)).collect()))
            .collect();
        serde_json::to_vec_pretty(&raw).expect("maps of JSON values with text for keys are JSON")
    }

    /// What is accepted of a server; none where nobody ever looked.
    pub fn of(&self, server: &str) -> Option<&BTreeMap<String, Definition>> {
        self.servers.get(server)
    }

    /// Accepts all that a server has now, and nothing that it had.
    pub fn accept(&mut self, server: &str, listing: &Listing) {
        self.servers.insert(server.to_owned(), listing.tools.clone());
    }
}

pub fn compare(pinned: &BTreeMap<String, Definition>, listing: &Listing) -> BTreeMap<String, Standing> {
    let gone = pinned.keys().map(|name| (name.clone(), Standing::Gone));
    let there = listing.tools.iter().map(|(name, tool)| {
        let standing = match pinned.get(name) {
            None => Standing::New,
            Some(pin) if pin.digest == tool.digest => Standing::Pinned,
            Some(_) => Standing::Changed,
        };
        (name.clone(), standing)
    });
    gone.chain(there).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn listing(tools: &[(&str, &str)]) -> Listing {
        let raw = tools.iter().map(|(name, description)| json!({"name": name, "description": description}));
        Listing::of("s", raw.collect())
    }

    #[test]
    fn pins_survive_being_written() {
        let mut pins = Pins::default();
        pins.accept("s", &listing(&[("a", "1"), ("b", "2")]));
        assert_eq!(Pins::read(&pins.written()), Ok(pins));
        assert!(Pins::read(b"[]").is_err());
        assert!(Pins::read(br#"{"s":{"a":{"name":"no good"}}}"#).is_err());
    }

    #[test]
    fn every_difference_is_seen() {
        let mut pins = Pins::default();
        pins.accept("s", &listing(&[("same", "1"), ("changed", "1"), ("gone", "1")]));
        let now = listing(&[("same", "1"), ("changed", "2"), ("new", "1")]);
        let seen: Vec<_> =
            compare(pins.of("s").unwrap(), &now).into_iter().map(|(name, is)| (name, is.as_str())).collect();
        let told = [("changed", "changed"), ("gone", "gone"), ("new", "new"), ("same", "pinned")];
        assert_eq!(seen, told.map(|(name, is)| (name.to_owned(), is)));
    }
}
