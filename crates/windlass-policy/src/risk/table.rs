//! The table of risks: the one shipped with Windlass (`risk.toml`), and what an operator lays over it. An operator's table has
//! the same form and says only what differs; a program it names is replaced whole.

use std::collections::BTreeMap;

use serde::Deserialize;

use windlass_domain::risk::Level;

const SHIPPED: &str = include_str!("risk.toml");
const MAX_BYTES: usize = 256 * 1024;

#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub(super) tools: BTreeMap<String, Level>,
    pub(super) calls: Vec<CallRule>,
    pub(super) shell: Shell,
    pub(super) programs: BTreeMap<String, ProgramRule>,
}

/// A table that cannot be used; the position counts lines and columns from one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct BadTable {
    pub line: usize,
    pub column: usize,
    pub message: String,
}

/// As it is written. Everything may be left out.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    tools: BTreeMap<String, Level>,
    call: Vec<CallRule>,
    shell: Option<ShellChange>,
    program: BTreeMap<String, ProgramRule>,
}

/// A tool's call whose `field` is one of `values`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CallRule {
    pub tool: String,
    pub field: String,
    pub values: Vec<String>,
    pub level: Level,
}

macro_rules! shell_settings {
    ($($(#[$doc:meta])* $name:ident: $kind:ty,)+) => {
        #[derive(Debug, Clone, PartialEq)]
        pub(super) struct Shell { $($(#[$doc])* pub $name: $kind,)+ }

        #[derive(Debug, Default, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        struct ShellChange { $($name: Option<$kind>,)+ }

        impl Shell {
            fn change(&mut self, change: ShellChange) {
                $(if let Some(value) = change.$name { self.$name = value; })+
            }
        }

        impl ShellChange {
            fn complete(self) -> Option<Shell> {
                Some(Shell { $($name: self.$name?,)+ })
            }
        }
    };
}

shell_settings! {
    max_bytes: usize,
    general: Level,
    unparsed: Level,
    too_large: Level,
    dynamic: Level,
    code: Level,
    unknown_flag: Level,
    outside: Level,
    poison: Level,
    sensitive_level: Level,
    superuser: Level,
    poison_names: Vec<String>,
    poison_prefixes: Vec<String>,
    poison_builtins: Vec<String>,
    inside: Vec<String>,
    devices: Vec<String>,
    protected: Vec<String>,
    sensitive: Vec<String>,
    /// Names that hold secrets in whatever folder they stand.
    sensitive_names: Vec<String>,
    wrappers: Vec<String>,
    git_settings: Vec<String>,
    git_commands: BTreeMap<String, Level>,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ProgramRule {
    pub level: Option<Level>,
    /// Options that change the level.
    pub when: Vec<FlagRule>,
    /// Options that give the program code to run.
    pub code: Vec<String>,
    /// Options that name a file with code; standard input is one that nobody has seen.
    pub code_from: Vec<String>,
    /// Its first word, where that is a command which is followed by code.
    pub code_commands: Vec<String>,
    /// Without a file, or with `-`, it runs what it reads.
    pub reads_code: bool,
    /// Options with which it reads no code though no file is named.
    pub no_code: Vec<String>,
    /// Options whose value is a path that is written to.
    pub output: Vec<String>,
    /// Its operands are written to.
    pub writes: bool,
    /// The only options it may have, once any are named.
    pub short: String,
    pub short_value: String,
    pub long: Vec<String>,
    pub long_value: Vec<String>,
    pub one_dash_words: bool,
}

impl ProgramRule {
    pub fn names_its_options(&self) -> bool {
        !self.short.is_empty() || !self.long.is_empty()
    }
}

/// All of `flags` given; each is `r|R|recursive`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FlagRule {
    pub flags: Vec<String>,
    pub level: Level,
}

impl Table {
    pub fn shipped() -> Self {
        let file = read(SHIPPED).expect("the shipped table is well-formed, as a test shows");
        let shell = file.shell.and_then(ShellChange::complete);
        Self {
            tools: file.tools,
            calls: file.call,
            shell: shell.expect("the shipped table is complete, as a test shows"),
            programs: file.program,
        }
    }

    /// This table with what `text` says laid over it.
    pub fn changed_by(mut self, text: &str) -> Result<Self, BadTable> {
        let file = read(text)?;
        self.tools.extend(file.tools);
        // The operator's rules are asked first.
        self.calls.splice(0..0, file.call);
        if let Some(change) = file.shell {
            self.shell.change(change);
        }
        self.programs.extend(file.program);
        Ok(self)
    }
}

fn read(text: &str) -> Result<File, BadTable> {
    if text.len() > MAX_BYTES {
        let message = format!("the table is larger than {} KiB", MAX_BYTES / 1024);
        return Err(BadTable { line: 1, column: 1, message });
    }
    toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        BadTable {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: error.message().to_owned(),
        }
    })
}
