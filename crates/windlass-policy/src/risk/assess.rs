//! Where judging begins: a tool call, a command line or an argument list. A command's risk is the worst of all that it could
//! run; nothing that is added to it makes it less.

use serde_json::Value;

use windlass_domain::risk::Level;

use super::level::Risk;
use super::paths::{Place, Placement, is_sensitive, placement};
use super::shell::{self, Arg, Defect, Redirect, RedirectKind, Script, Simple};
use super::table::Table;

/// What is carried along while one command is judged.
pub(super) struct Assessor<'a> {
    pub table: &'a Table,
    pub place: &'a Place,
    /// None once the command has gone somewhere unknown.
    pub cwd: Option<String>,
    /// A variable holds what may be an option, so that an expansion may be one.
    pub options_in_variables: bool,
    pub risk: Risk,
}

/// `arguments` are the call's, as the tool's schema has them.
pub fn assess_call(table: &Table, tool: &str, arguments: &Value, place: &Place) -> Risk {
    match (tool, &arguments["command"]) {
        ("bash", Value::String(command)) => return assess_command(table, command, &within(place, arguments)),
        ("bash", Value::Array(words)) => {
            let argv: Option<Vec<String>> = words.iter().map(|word| word.as_str().map(str::to_owned)).collect();
            return match argv {
                Some(argv) => assess_argv(table, &argv, &within(place, arguments)),
                None => unreadable(table),
            };
        }
        ("bash", _) => return unreadable(table),
        _ => {}
    }
    let matches = |rule: &&super::table::CallRule| {
        let value = arguments[&rule.field].as_str();
        rule.tool == tool && value.is_some_and(|value| rule.values.iter().any(|known| known == value))
    };
    if let Some(rule) = table.calls.iter().find(matches) {
        let mut risk = Risk::least(rule.level);
        risk.raise(rule.level, &format!("{tool} with {} {}", rule.field, arguments[&rule.field]));
        return risk;
    }
    match table.tools.get(tool) {
        Some(level) => Risk::least(*level),
        None => {
            let mut risk = Risk::least(Level::High);
            risk.raise(Level::High, &format!("the tool {tool} is not in the table of risks"));
            risk
        }
    }
}

fn unreadable(table: &Table) -> Risk {
    let mut risk = Risk::least(table.shell.general);
    risk.raise(table.shell.unparsed, "the call has no command that can be read");
    risk
}

/// Where the call says it wants to run.
fn within(place: &Place, arguments: &Value) -> Place {
    match arguments["cwd"].as_str() {
        Some(cwd) if cwd.starts_with('/') => Place { cwd: cwd.to_owned(), ..place.clone() },
        Some(cwd) => Place { cwd: format!("{}/{cwd}", place.cwd), ..place.clone() },
        None => place.clone(),
    }
}

pub fn assess_command(table: &Table, command: &str, place: &Place) -> Risk {
    let mut assessor = Assessor::new(table, place);
    assessor.script(command, 0);
    assessor.risk
}

/// An argument list that no shell will see.
pub fn assess_argv(table: &Table, argv: &[String], place: &Place) -> Risk {
    let mut assessor = Assessor::new(table, place);
    if argv.iter().map(String::len).sum::<usize>() > table.shell.max_bytes {
        assessor.too_large();
        return assessor.risk;
    }
    let args: Vec<Arg> = argv.iter().map(|text| Arg { text: text.clone(), fixed: true }).collect();
    assessor.program(&args, 0);
    assessor.risk
}

impl<'a> Assessor<'a> {
    fn new(table: &'a Table, place: &'a Place) -> Self {
        let risk = Risk::least(table.shell.general);
        Self { table, place, cwd: Some(place.cwd.clone()), options_in_variables: false, risk }
    }

    fn too_large(&mut self) {
        self.risk.raise(self.table.shell.too_large, "the command is too large to be judged");
    }

    pub fn too_deep(&mut self) {
        self.risk.raise(self.table.shell.too_large, "the command is nested too deep to be judged");
    }

    /// Text that a shell will read.
    pub fn script(&mut self, text: &str, depth: usize) {
        if text.len() > self.table.shell.max_bytes {
            return self.too_large();
        }
        let Script { commands, functions, defect } = shell::read(text);
        match defect {
            Some(Defect::TooDeep) => self.too_deep(),
            Some(Defect::Syntax(what)) => {
                self.risk.raise(self.table.shell.unparsed, &format!("the command cannot be read: {what}"));
            }
            None => {}
        }
        for name in functions.iter().filter(|name| is_taken(self.table, name)) {
            self.risk.raise(self.table.shell.poison, &format!("it gives the name {name} a new meaning"));
        }
        for command in &commands {
            self.simple(command, depth);
        }
    }

    fn simple(&mut self, command: &Simple, depth: usize) {
        for (name, value) in &command.assignments {
            // `IFS= read line` parts that line and no other.
            if name != "IFS" || command.words.first().and_then(shell::Word::plain) != Some("read") {
                self.assigned(name);
            }
            let value = value.whole();
            self.sensitive(&value);
            self.options_in_variables |= holds_an_option(value.text.split_once('=').map_or("", |(_, value)| value));
            if shell::holds_code_for_arithmetic(&value.text) {
                self.risk.raise(self.table.shell.code, &format!("{name} holds code that arithmetic runs"));
            }
        }
        for redirect in &command.redirects {
            self.redirect(redirect);
        }
        if command.words.iter().any(shell::Word::has_separator) {
            self.risk.raise(self.table.shell.dynamic, "words are parted by an expansion of IFS");
        }
        let args: Vec<Arg> = command.words.iter().flat_map(shell::Word::args).collect();
        self.program(&args, depth);
    }

    /// A variable gets a value, which later commands may obey.
    pub fn assigned(&mut self, name: &str) {
        let shell = &self.table.shell;
        let poisons = shell.poison_names.iter().any(|known| known == name)
            || shell.poison_prefixes.iter().any(|prefix| name.starts_with(prefix));
        if poisons {
            self.risk.raise(shell.poison, &format!("{name} changes what later commands do"));
        }
    }

    pub fn sensitive(&mut self, arg: &Arg) {
        if is_sensitive(self.table, self.cwd.as_deref(), arg) {
            self.risk.raise(self.table.shell.sensitive_level, &format!("it names {}", arg.text));
        }
    }

    fn redirect(&mut self, redirect: &Redirect) {
        let target = redirect.target.whole();
        match redirect.kind {
            RedirectKind::Text => {}
            RedirectKind::Read | RedirectKind::Write
                if target.text.starts_with("/dev/tcp/") || target.text.starts_with("/dev/udp/") =>
            {
                self.risk.raise(self.table.shell.outside, "it opens a network connection");
            }
            RedirectKind::Read => self.sensitive(&target),
            RedirectKind::Write => self.written(&target),
        }
    }

    /// A path that is written to.
    pub fn written(&mut self, path: &Arg) {
        let shell = &self.table.shell;
        let device = |device: &String| *device == path.text || path.text.starts_with("/dev/fd/");
        if path.fixed && shell.devices.iter().any(device) {
            return;
        }
        let why = match placement(self.table, self.place, self.cwd.as_deref(), path) {
            Placement::Inside => return,
            Placement::Outside => format!("it writes outside the workspace: {}", path.text),
            Placement::Unknown => "it writes where is known only when it runs".to_owned(),
            Placement::Protected => format!("it writes to {}", path.text),
        };
        self.risk.raise(shell.outside, &why);
    }
}

/// `-delete`, and `. -delete`.
fn holds_an_option(value: &str) -> bool {
    let is_option =
        |word: &str| word.trim_start_matches('-').len() < word.len() && word.ends_with(char::is_alphanumeric);
    value.split_ascii_whitespace().any(is_option)
}

/// Whether a function of this name stands in the way of something else. What is in its body is judged in any case.
fn is_taken(table: &Table, name: &str) -> bool {
    const BUILTINS: [&str; 24] = [
        "cd", "echo", "printf", "test", "exit", "return", "source", "eval", "exec", "export", "set", "unset",
        "command", "builtin", "trap", "read", "pwd", "true", "false", "env", "sh", "bash", "git", "sudo",
    ];
    let word = name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-'));
    name.is_empty() || !word || BUILTINS.contains(&name) || super::program::rule(table, name).is_some()
}
