//! `git`: options before the command, settings that make it run programs, options that name programs, and commands that run
//! others.

use super::shell::Arg;
use super::table::Table;
use windlass_domain::risk::Level;

#[derive(Default)]
pub struct Found<'a> {
    pub reasons: Vec<(Level, String)>,
    /// What it would run: one argument is a shell's line, more are a program.
    pub command: &'a [Arg],
}

pub fn look<'a>(table: &Table, args: &'a [Arg]) -> Found<'a> {
    let mut found = Found::default();
    let code = table.shell.code;
    let mut at = 0;
    while let Some(arg) = args.get(at).filter(|arg| arg.text.starts_with('-')) {
        match arg.text.as_str() {
            "-C" => at += 1,
            "-c" => {
                let setting = args.get(at + 1).map(|arg| arg.text.as_str()).unwrap_or_default();
                found.reasons.push((code, format!("git is given the setting {setting}")));
                at += 1;
            }
            "--no-pager" | "--version" | "--help" | "-P" | "--no-optional-locks" | "--literal-pathspecs" => {}
            other => found.reasons.push((code, format!("git is given the option {other}"))),
        }
        at += 1;
    }
    let Some((command, rest)) = args.get(at..).and_then(<[Arg]>::split_first) else { return found };
    if !command.fixed {
        found.reasons.push((table.shell.dynamic, "which command git runs is known only when it runs".to_owned()));
    }
    if let Some(level) = table.shell.git_commands.get(&command.text) {
        found.reasons.push((*level, format!("it runs git {}", command.text)));
    }
    found.reasons.extend(rest.iter().filter_map(|arg| option_risk(&command.text, &arg.text)).map(|why| (code, why)));
    match command.text.as_str() {
        "config" => found.reasons.extend(settings_risk(table, rest).map(|why| (code, why))),
        "bisect" => found.command = after(rest, "run"),
        "submodule" => found.command = after(rest, "foreach"),
        "reset" if rest.iter().any(|arg| "--hard".starts_with(&arg.text) && arg.text.len() > 3) => {
            found.reasons.push((Level::High, "it runs git reset with hard".to_owned()));
        }
        _ => {}
    }
    found
}

fn after<'a>(args: &'a [Arg], word: &str) -> &'a [Arg] {
    let start = args.iter().position(|arg| arg.text == word).map_or(args.len(), |at| at + 1);
    let options = args[start..].iter().take_while(|arg| arg.text.starts_with('-')).count();
    &args[start + options..]
}

/// Options, and addresses, that name a program.
fn option_risk(command: &str, text: &str) -> Option<String> {
    const PROGRAMS: [&str; 9] = [
        "--upload-pack",
        "--receive-pack",
        "--exec",
        "--ext-diff",
        "--textconv",
        "--open-files-in-pager",
        "--output",
        "--template",
        "--config",
    ];
    let name = text.split('=').next().unwrap_or(text);
    let long = name.len() > 4 && PROGRAMS.iter().any(|program| program.starts_with(name));
    let short = match command {
        "grep" => text.starts_with("-O"),
        "clone" | "fetch" | "ls-remote" => text.starts_with("-u"),
        "rebase" => text.starts_with("-x"),
        _ => false,
    };
    let address = text.starts_with("ext::") || text.contains("=ext::") || text.starts_with("fd::");
    (long || short || address).then(|| format!("git is given {text}"))
}

/// Whether a setting is written that makes git run something.
fn settings_risk(table: &Table, args: &[Arg]) -> Option<String> {
    const READS: [&str; 6] = ["--get", "--get-all", "--get-regexp", "--list", "-l", "--show-origin"];
    if args.iter().any(|arg| READS.contains(&arg.text.as_str())) {
        return None;
    }
    args.iter().find_map(|arg| {
        let name = arg.text.to_ascii_lowercase();
        let known = table.shell.git_settings.iter().any(|setting| name.starts_with(setting.as_str()));
        (known || !arg.fixed).then(|| format!("git config sets {}", arg.text))
    })
}
