//! One program with its arguments: wrappers first, then the small languages, then the table.

use super::assess::Assessor;
use super::flags::{Flags, flags};
use super::paths::entered;
use super::shell::{Arg, holds_substitution};
use super::table::{ProgramRule, Table};
use super::{awk, git, sed};

/// More wrappers round a program than anybody needs.
pub(super) const MAX_WRAPPERS: usize = 16;

/// Programs whose options are read here, and not by the table.
const SMALL_LANGUAGES: [&str; 6] = ["git", "sed", "gsed", "awk", "gawk", "mawk"];

/// A program's name without the folder it stands in.
pub(super) fn name_of(arg: &Arg) -> &str {
    arg.text.rsplit('/').next().unwrap_or(&arg.text)
}

impl Assessor<'_> {
    pub fn program(&mut self, args: &[Arg], depth: usize) {
        let Some((head, rest)) = args.split_first() else { return };
        if depth > MAX_WRAPPERS {
            return self.too_deep();
        }
        if !head.fixed || head.text.is_empty() {
            self.risk.raise(self.table.shell.dynamic, "which program runs is known only when it runs");
        }
        for arg in rest {
            self.sensitive(arg);
        }
        if self.unwrapped(name_of(head), rest, depth) {
            return;
        }
        self.risk.programs.push(args.iter().map(|arg| arg.text.clone()).collect());
        self.judge(name_of(head), rest, depth);
    }

    /// A program that is no wrapper.
    pub fn judge(&mut self, name: &str, rest: &[Arg], depth: usize) {
        let rule = rule(self.table, name);
        let own: Vec<Arg>;
        let options = match name {
            "find" => {
                own = without_commands(rest);
                &own
            }
            _ => rest,
        };
        let given = flags(options, rule);
        if let Some(rule) = rule {
            self.by_table(name, rule, &given);
        }
        let obeys =
            rule.is_some_and(|rule| !rule.when.is_empty() || !rule.code.is_empty()) || SMALL_LANGUAGES.contains(&name);
        let unknown = |arg: &Arg| !arg.fixed && matches!(arg.text.as_str(), "" | "-" | "--");
        if obeys && self.options_in_variables && rest.iter().any(unknown) {
            self.risk
                .raise(self.table.shell.dynamic, &format!("which options {name} is given is known only when it runs"));
        }
        self.by_name(name, rest, &given, depth);
    }

    fn by_table(&mut self, name: &str, rule: &ProgramRule, given: &Flags<'_>) {
        let shell = &self.table.shell;
        if let Some(level) = rule.level {
            self.risk.raise(level, &format!("it runs {name}"));
        }
        for when in rule.when.iter().filter(|when| when.flags.iter().all(|flag| given.has(flag))) {
            let flags: Vec<&str> = when.flags.iter().map(|flag| flag.rsplit('|').next().unwrap_or(flag)).collect();
            self.risk.raise(when.level, &format!("it runs {name} with {}", flags.join(" and ")));
        }
        if let Some(flag) = rule.code.iter().find(|flag| given.has(flag)) {
            let flag = flag.rsplit('|').next().unwrap_or(flag);
            self.risk.raise(shell.code, &format!("{name} is given code to run by its option {flag}"));
        }
        let mut code_files = rule.code_from.iter().flat_map(|names| given.values_of(names));
        if (rule.reads_code && reads_its_code(rule, given)) || code_files.any(|file| is_input(&file.text)) {
            self.risk.raise(shell.code, &format!("{name} runs what it reads"));
        }
        if let Some(command) = given.operands.first().filter(|first| rule.code_commands.contains(&first.text)) {
            self.risk.raise(shell.code, &format!("{name} is given code to run by its command {}", command.text));
        }
        if let Some(flag) = &given.unknown {
            self.risk.raise(shell.unknown_flag, &format!("{name} has no known option {flag}"));
        }
        for path in rule.output.iter().flat_map(|names| given.values_of(names)) {
            self.written(path);
        }
        if rule.writes {
            for operand in given.operands.iter().filter(|operand| !operand.text.starts_with("if=")) {
                let path = operand.text.strip_prefix("of=").unwrap_or(&operand.text);
                self.written(&Arg { text: path.to_owned(), fixed: operand.fixed });
            }
        }
    }

    fn by_name(&mut self, name: &str, rest: &[Arg], given: &Flags<'_>, depth: usize) {
        match name {
            "cd" | "pushd" => {
                let home = Arg { text: "~".to_owned(), fixed: true };
                let target = given.operands.first().copied().unwrap_or(&home);
                self.cwd = entered(self.cwd.as_deref(), target);
            }
            "popd" => self.cwd = None,
            "export" | "declare" | "typeset" | "local" | "readonly" | "read" | "mapfile" | "readarray" | "unset" => {
                self.named_variables(given);
                if given.short.contains(&'n') {
                    // Another name for a variable: what is assigned to one is assigned to the other.
                    given
                        .operands
                        .iter()
                        .filter_map(|operand| operand.text.split_once('='))
                        .for_each(|(_, name)| self.assigned(name));
                }
            }
            "printf" if given.short.contains(&'v') => {
                self.named_variables(given);
                self.expands_what_was_quoted(name, rest);
            }
            "find" => self.find(rest, depth),
            "sed" | "gsed" => self.small_language("sed", sed::why_risky(rest)),
            "awk" | "gawk" | "mawk" | "nawk" => self.small_language("awk", awk::why_risky(rest)),
            "git" => self.git(rest, depth),
            _ => {}
        }
        // These read a subscript as arithmetic, and arithmetic expands what was quoted.
        let evaluates = matches!(
            name,
            "let"
                | "test"
                | "["
                | "[["
                | "export"
                | "declare"
                | "typeset"
                | "local"
                | "readonly"
                | "read"
                | "unset"
                | "set"
                | "wait"
        );
        if evaluates {
            self.expands_what_was_quoted(name, rest);
        }
        if matches!(name, "mapfile" | "readarray") && given.short.contains(&'C') {
            self.risk.raise(self.table.shell.code, &format!("{name} runs a command for every line"));
        }
        if self.table.shell.poison_builtins.iter().any(|builtin| builtin == name) {
            self.risk.raise(self.table.shell.poison, &format!("{name} changes what later commands do"));
        }
    }

    fn expands_what_was_quoted(&mut self, name: &str, rest: &[Arg]) {
        if rest.iter().any(|arg| holds_substitution(&arg.text)) {
            self.risk.raise(self.table.shell.code, &format!("{name} expands what was quoted"));
        }
    }

    fn named_variables(&mut self, given: &Flags<'_>) {
        for operand in &given.operands {
            let name = operand.text.split(['=', '+', '[']).next().unwrap_or_default();
            self.assigned(name);
            if !operand.fixed && !operand.text.contains('=') {
                self.risk.raise(self.table.shell.dynamic, "which variable is set is known only when it runs");
            }
        }
    }

    fn small_language(&mut self, name: &str, why: Option<&'static str>) {
        if let Some(why) = why {
            self.risk.raise(self.table.shell.code, &format!("a script of {name} {why}"));
        }
    }

    /// Commands after `-exec` and its like run for every file found.
    fn find(&mut self, rest: &[Arg], depth: usize) {
        if find_may_get_an_option(rest) {
            self.risk.raise(self.table.shell.dynamic, "which options find is given is known only when it runs");
        }
        for part in parts_of_find(rest) {
            if let Part::Command(command) = part {
                let command: Vec<Arg> = command.iter().map(filled_in).collect();
                self.program(&command, depth + 1);
            }
        }
    }

    fn git(&mut self, rest: &[Arg], depth: usize) {
        let found = git::look(self.table, rest);
        for (level, why) in found.reasons {
            self.risk.raise(level, &why);
        }
        if !found.command.is_empty() {
            match found.command {
                [script] => self.code(script, depth),
                command => self.program(command, depth + 1),
            }
        }
    }
}

/// `python3.12` is judged like `python`, and `mkfs.ext4` like `mkfs`; `find.sh` is a script of that name.
pub(super) fn rule<'a>(table: &'a Table, name: &str) -> Option<&'a ProgramRule> {
    let programs = &table.programs;
    let unversioned = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-'));
    let kind = name.split_once('.').map(|(kind, _)| kind).filter(|kind| *kind == "mkfs");
    programs.get(name).or_else(|| programs.get(kind.unwrap_or(unversioned)))
}

/// Code comes from standard input where no file is named, or that one; options such as `--version` need none.
fn reads_its_code(rule: &ProgramRule, given: &Flags<'_>) -> bool {
    match given.operands.first() {
        Some(file) => is_input(&file.text),
        None => !rule.no_code.iter().any(|flag| given.has(flag)),
    }
}

/// Whether a file is what is being read, from a pipe or from the script itself.
fn is_input(file: &str) -> bool {
    matches!(file, "-" | "/dev/stdin") || file.starts_with("/dev/fd/") || file.starts_with("/proc/self/fd/")
}

enum Part<'a> {
    Own(&'a Arg),
    Command(&'a [Arg]),
}

/// The arguments of `find`, its own and the commands that it would run.
fn parts_of_find(rest: &[Arg]) -> Vec<Part<'_>> {
    const RUNS: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];
    let mut parts = Vec::new();
    let mut rest = rest;
    while let Some((first, after)) = rest.split_first() {
        parts.push(Part::Own(first));
        rest = after;
        if RUNS.contains(&first.text.as_str()) {
            let end = after.iter().position(|arg| matches!(arg.text.as_str(), ";" | "+")).unwrap_or(after.len());
            parts.push(Part::Command(&after[..end]));
            rest = after.get(end + 1..).unwrap_or_default();
        }
    }
    parts
}

/// An expansion may be `-delete` wherever neither the first path nor a test's value stands.
fn find_may_get_an_option(rest: &[Arg]) -> bool {
    const ALONE: [&str; 27] = [
        "-empty",
        "-depth",
        "-d",
        "-mount",
        "-xdev",
        "-prune",
        "-print",
        "-print0",
        "-ls",
        "-not",
        "-and",
        "-or",
        "-a",
        "-o",
        "-true",
        "-false",
        "-follow",
        "-quit",
        "-nouser",
        "-nogroup",
        "-readable",
        "-writable",
        "-executable",
        "-daystart",
        "-H",
        "-L",
        "-P",
    ];
    let own = without_commands(rest);
    let is_value =
        |at: usize| at == 0 || (own[at - 1].text.starts_with('-') && !ALONE.contains(&own[at - 1].text.as_str()));
    own.iter().enumerate().any(|(at, arg)| !arg.fixed && matches!(arg.text.as_str(), "" | "-") && !is_value(at))
}

fn without_commands(rest: &[Arg]) -> Vec<Arg> {
    let own = |part| match part {
        Part::Own(arg) => Some(arg.clone()),
        Part::Command(_) => None,
    };
    parts_of_find(rest).into_iter().filter_map(own).collect()
}

/// `{}` is replaced by what was found.
fn filled_in(arg: &Arg) -> Arg {
    match arg.text.contains("{}") {
        true => Arg { text: arg.text.replace("{}", ""), fixed: false },
        false => arg.clone(),
    }
}
