//! Markers: lines by which an agent that has no better channel tells its owner something (contracts §6). One line, a prefix that names
//! the scope, then strict JSON with the execution, the nonce of this launch, an event id, a kind and a payload. They are read only from
//! what the agent itself says, never from what its tools print; whatever is wrong with one is a diagnostic and nothing more.

use serde::Deserialize;
use serde_json::Value;
use windlass_domain::execution::{Claim, ClaimKind, Observation, Observed, Source};
use windlass_domain::{ExecutionId, ScopeKind};

/// Of one marker, all of its line.
const LONGEST: usize = 64 << 10;

/// What the markers of one launch have to say.
#[derive(Debug, Clone)]
pub struct Markers {
    pub execution: ExecutionId,
    /// Whose the execution is, and hence how each of its markers begins.
    pub scope: ScopeKind,
    pub nonce: String,
}

#[derive(Debug, PartialEq)]
pub enum Marker {
    Told(Observed),
    /// A line that looks like one and is none, and why.
    Refused(&'static str),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    execution: String,
    nonce: String,
    event: String,
    kind: ClaimKind,
    #[serde(default)]
    payload: Value,
}

impl Markers {
    /// What the agent is told about them.
    pub fn instructions(&self) -> String {
        let prefix = prefix(self.scope);
        let kinds = ClaimKind::ALL.map(payload).join(", ");
        format!(
            "To tell the runtime something, print one line of its own, outside of any code block, that begins with `{prefix}` and goes \
             on with one JSON object: {{\"execution\":\"{}\",\"nonce\":\"{}\",\"event\":\"{}-<a number, new each \
             time>\",\"kind\":\"<kind>\",\"payload\":{{…}}}}. Kinds, each with its payload: {kinds}. Use `needs_input` with your question when only a \
             person can answer it, `failed_claim` when you give up, and `progress` sparingly. A claim that you are done is checked by \
             programs; it is not believed.",
            self.execution,
            self.nonce,
            // What was told before it was started anew has other names.
            self.nonce.get(..4).unwrap_or(&self.nonce),
        )
    }

    /// The markers in something that the agent said.
    pub fn read<'a>(&'a self, said: &'a str) -> impl Iterator<Item = Marker> + 'a {
        said.lines().filter_map(|line| {
            let line = line.trim();
            let (scope, written) = ScopeKind::ALL.into_iter().find_map(|scope| {
                let written = line.strip_prefix(&prefix(scope))?;
                Some((scope, written))
            })?;
            Some(self.read_one(scope, written))
        })
    }

    fn read_one(&self, scope: ScopeKind, written: &str) -> Marker {
        if written.len() > LONGEST {
            return Marker::Refused("it is longer than 64 KiB");
        }
        let Ok(Written { execution, nonce, event, kind, payload }) = serde_json::from_str(written) else {
            return Marker::Refused("it is not the JSON object that was asked for");
        };
        if execution != self.execution.to_string() {
            return Marker::Refused("it names another execution");
        }
        if nonce != self.nonce {
            return Marker::Refused("its nonce is not that of this launch");
        }
        if scope != self.scope {
            return Marker::Refused("its prefix is that of another scope");
        }
        if event.is_empty() || event.len() > 256 {
            return Marker::Refused("it has no event id of reasonable length");
        }
        let observation = Observation::Claimed(Claim { kind, payload });
        Marker::Told(Observed { event_id: format!("marker:{event}"), source: Source::Marker, observation })
    }
}

/// A kind, and what its payload holds.
fn payload(kind: ClaimKind) -> String {
    let extra = kind.extra().map(|extra| format!(", and `{}` if you like", extra.name())).unwrap_or_default();
    format!("{} {{\"{}\":\"<text>\"}}{extra}", kind.as_str(), kind.words_in())
}

fn prefix(scope: ScopeKind) -> String {
    format!("@{}::", scope.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_domain::Wall;

    fn markers() -> Markers {
        Markers { execution: ExecutionId::new(Wall::default(), 7), scope: ScopeKind::Task, nonce: "n1".to_owned() }
    }

    fn check(line: &str, expected: Option<Result<ClaimKind, &str>>) {
        let markers = markers();
        let line = line.replace("EXEC", &markers.execution.to_string());
        let found: Vec<Marker> = markers.read(&line).collect();
        let found = found.first().map(|marker| match marker {
            Marker::Told(Observed { observation: Observation::Claimed(claim), .. }) => Ok(claim.kind),
            Marker::Told(other) => panic!("{other:?}"),
            Marker::Refused(why) => Err(*why),
        });
        match (found, expected) {
            (Some(Err(why)), Some(Err(part))) => assert!(why.contains(part), "{line}: {why}"),
            (found, expected) => assert_eq!(found, expected, "{line}"),
        }
    }

    #[test]
    fn a_marker_is_one_line_of_strict_json_with_the_execution_and_its_nonce() {
        let whole =
            r#"@task::{"execution":"EXEC","nonce":"n1","event":"1","kind":"progress","payload":{"message":"half"}}"#;
        check(whole, Some(Ok(ClaimKind::Progress)));
        check(&format!("words\n  {whole}  \nmore"), Some(Ok(ClaimKind::Progress)));
        check(&whole.replace("@task", "@mission"), Some(Err("another scope")));
        check(&format!("I print {whole}"), None);
        check(&whole.replace("n1", "n2"), Some(Err("nonce")));
        check(&whole.replace("EXEC", "0199f1c2-7d7e-7c1a-9a52-0d6c2f1b8e11"), Some(Err("another execution")));
        check(&whole.replace("progress", "approved"), Some(Err("JSON object")));
        check(&whole.replace("\"event\":\"1\"", "\"event\":\"\""), Some(Err("event id")));
        check(&whole.replace("\"kind\"", "\"extra\":1,\"kind\""), Some(Err("JSON object")));
        check("@task::{\"execution\":", Some(Err("JSON object")));
        check(&format!("@task::{}", "x".repeat(LONGEST + 1)), Some(Err("64 KiB")));
        check("@other::{}", None);
    }

    #[test]
    fn the_instructions_show_a_marker_that_is_read_whatever_the_scope_is() {
        for scope in ScopeKind::ALL {
            let markers = Markers { scope, ..markers() };
            let told = markers.instructions();
            let prefix = format!("@{}::", serde_json::to_string(&scope).expect("a word").trim_matches('"'));
            assert!(told.contains(&format!("begins with `{prefix}`")), "{told}");
            assert!(told.contains("\"event\":\"n1-"), "each start has names of its own: {told}");
            let begin = told.find("{\"execution\"").expect("an example");
            let end = told[begin..].find("}}").expect("its end") + begin + 2;
            let line =
                format!("{prefix}{}", told[begin..end].replace("<kind>", "note").replace("{…}", "{\"text\":\"so\"}"));
            assert!(matches!(markers.read(&line).next(), Some(Marker::Told(_))), "{line}");
            // Regression: they taught a field that no tool and no registry knows.
            for kind in ClaimKind::ALL {
                let taught = format!("{} {{\"{}\":", kind.as_str(), kind.words_in());
                assert!(told.contains(&taught), "{taught} is not in {told}");
            }
        }
    }
}
