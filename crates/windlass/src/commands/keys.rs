//! `windlass keys init | rotate | list`: the keys that approvals and audits are signed with. Private halves are never shown.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_domain::Wall;
use windlass_runtime::TokioRuntime;

use crate::arguments::Keys;
use crate::config::Config;
use crate::exit::{Exit, WrongUse};
use crate::keys::{FileKeyring, KnownKey};
use crate::show::{Line, Screen, Style, print_json};
use crate::wiring::create_private;

pub fn keys(arguments: &Keys) -> anyhow::Result<Exit> {
    let config = Config::look()?;
    create_private(&config.data_dir)?;
    let ring = FileKeyring::new(&config.data_dir, Arc::new(TokioRuntime::current()));
    match arguments {
        Keys::Init(output) => {
            let made = ring.init().map_err(WrongUse::from)?.ok_or_else(|| {
                WrongUse::new("there is a key already").hint("`windlass keys rotate` makes another in its place")
            })?;
            tell(&made, "made", output.json);
        }
        Keys::Rotate(output) => {
            let made = ring.rotate().map_err(WrongUse::from)?.ok_or_else(|| {
                WrongUse::new("there is no key to put another in the place of")
                    .hint("`windlass keys init` makes the first one")
            })?;
            tell(&made, "made; what earlier keys signed still counts", output.json);
        }
        Keys::List(output) => list(&ring.list().map_err(WrongUse::from)?, output.json),
    }
    Ok(Exit::Completed)
}

fn tell(made: &KnownKey, what: &str, json: bool) {
    if json {
        return print_json(&as_json(made, "result"));
    }
    Screen::new().print(&Line::new().plain(format!("key {} ", made.key_id)).dim(what));
}

fn list(known: &[KnownKey], json: bool) {
    if json {
        known.iter().for_each(|key| print_json(&as_json(key, "key")));
        return print_json(&json!({"type": "result", "keys": known.len()}));
    }
    let mut screen = Screen::new();
    if known.is_empty() {
        screen
            .print(&Line::new().plain("No keys yet.").dim("  `windlass keys init` makes one; so does the first use."));
    }
    for key in known {
        let (style, word) = match key.retired_at {
            None => (Style::Good, "current".to_owned()),
            Some(at) => (Style::Dim, format!("retired {}", at.to_rfc3339())),
        };
        let made = format!("{}  made {}  ", key.key_id, key.created_at.to_rfc3339());
        screen.print(&Line::new().plain(made).add(style, word));
    }
}

fn as_json(key: &KnownKey, kind: &str) -> Value {
    json!({
        "type": kind,
        "key_id": key.key_id,
        "public": key.public,
        "created_at": key.created_at.to_rfc3339(),
        "retired_at": key.retired_at.map(Wall::to_rfc3339),
    })
}
