//! `windlass token add | list | revoke`: who else may use `windlass serve`, and for what. A token is shown once, when it is made.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use windlass_api::Scope;
use windlass_domain::coordinate::is_nobodys;
use windlass_domain::{Runtime as _, Wall};
use windlass_runtime::TokioRuntime;

use crate::arguments::{Token, TokenAdd};
use crate::config::Config;
use crate::exit::{Exit, WrongUse};
use crate::show::{Line, Screen, Style, print_json};
use crate::tokens::{FileTokens, LONGEST_NAME, NamedToken, Wanted, is_plain};
use crate::wiring::create_private;

const DAY: Duration = Duration::from_secs(86_400);

pub fn token(arguments: &Token) -> anyhow::Result<Exit> {
    let config = Config::look()?;
    create_private(&config.data_dir)?;
    let tokens = FileTokens::new(&config.data_dir, &config.user);
    match arguments {
        Token::Add(arguments) => add(&tokens, &config.user, arguments)?,
        Token::List(output) => list(&tokens.named().map_err(WrongUse::from)?, output.json),
        Token::Revoke(arguments) => {
            tokens.revoke(&arguments.name)?;
            match arguments.output.json {
                true => print_json(&json!({"type": "result", "name": arguments.name, "revoked": true})),
                false => Screen::new().print(&Line::new().plain(format!("`{}` is taken back", arguments.name))),
            }
        }
    }
    Ok(Exit::Completed)
}

fn add(tokens: &FileTokens, user: &str, arguments: &TokenAdd) -> Result<(), WrongUse> {
    let runtime = TokioRuntime::current();
    let expires_at =
        arguments.expires.map(|days| runtime.wall() + DAY.saturating_mul(u32::try_from(days).unwrap_or(u32::MAX)));
    let wanted = Wanted {
        name: whose(word("the name", &arguments.name)?, user)?,
        tenant: word("--tenant", &arguments.tenant)?,
        scopes: scopes(&arguments.scope)?,
        expires_at,
    };
    let token = tokens.add(wanted, &runtime)?;
    if arguments.output.json {
        print_json(&json!({"type": "result", "name": arguments.name, "token": token}));
        return Ok(());
    }
    let mut screen = Screen::new();
    screen.print(&Line::new().plain(token));
    screen.print(&Line::new().dim("It is not shown again: only its digest is kept."));
    Ok(())
}

/// Records know whoever has it by that name, and must not take them for somebody else.
fn whose(name: String, user: &str) -> Result<String, WrongUse> {
    let taken = match () {
        () if name.eq_ignore_ascii_case(user) => {
            "yours, by which records know what you do here and with the token in the data directory"
        }
        () if is_nobodys(&name) => "no person's: records have it for what has nobody's name",
        () => return Ok(name),
    };
    Err(WrongUse::new(format!("the name `{name}` is {taken}"))
        .hint(format!("give the token another one, such as {name}-laptop or {name}-ci")))
}

/// It stands in records and, for a tenant, in names of files.
fn word(what: &str, said: &str) -> Result<String, WrongUse> {
    match is_plain(said) {
        true => Ok(said.to_owned()),
        false => Err(WrongUse::new(format!(
            "{what} `{said}` must be 1 to {LONGEST_NAME} letters, digits, `-`, `_`, `.` or `@`"
        ))),
    }
}

fn scopes(words: &[String]) -> Result<BTreeSet<Scope>, WrongUse> {
    words
        .iter()
        .map(|word| {
            word.trim().parse().map_err(|unknown: windlass_api::UnknownScope| WrongUse::new(unknown.to_string()))
        })
        .collect()
}

fn list(named: &[NamedToken], json: bool) {
    if json {
        named.iter().for_each(|token| print_json(&as_json(token)));
        return print_json(&json!({"type": "result", "tokens": named.len()}));
    }
    let mut screen = Screen::new();
    if named.is_empty() {
        screen.print(&Line::new().plain("No tokens yet.").dim("  `windlass token add NAME` makes one."));
    }
    for token in named {
        let good_for = token.scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(",");
        let until = token.expires_at.map_or_else(String::new, |end| format!("  until {}", end.to_rfc3339()));
        screen.print(
            &Line::new()
                .add(Style::Accent, &token.name)
                .plain(format!("  {good_for}"))
                .dim(format!("  {}{until}", token.tenant)),
        );
    }
}

fn as_json(token: &NamedToken) -> Value {
    json!({
        "type": "token",
        "name": token.name,
        "tenant": token.tenant,
        "scopes": token.scopes,
        "created_at": token.created_at.to_rfc3339(),
        "expires_at": token.expires_at.map(Wall::to_rfc3339),
    })
}
