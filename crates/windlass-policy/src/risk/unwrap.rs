//! Programs that run other programs. A wrapper is taken off and what is left is judged, again and again, until it is no
//! wrapper. An option that the wrapper does not have makes it unclear where the command begins: then it is high, and every
//! place where it could begin is looked at.

use super::assess::Assessor;
use super::program::{MAX_WRAPPERS, name_of, rule};
use super::shell::Arg;

/// How a wrapper's own arguments end.
struct Wrapper {
    names: &'static [&'static str],
    /// Letters of options without and with a value.
    short: &'static str,
    short_value: &'static str,
    long: &'static [&'static str],
    long_value: &'static [&'static str],
    /// Operands of its own before the command.
    operands: usize,
}

const PLAIN: Wrapper = Wrapper { names: &[], short: "", short_value: "", long: &[], long_value: &[], operands: 0 };

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        names: &["timeout", "gtimeout"],
        short: "vfp",
        short_value: "ks",
        long: &["foreground", "preserve-status", "verbose"],
        long_value: &["kill-after", "signal"],
        operands: 1,
    },
    Wrapper { names: &["nice"], short: "0123456789", short_value: "n", long_value: &["adjustment"], ..PLAIN },
    Wrapper { names: &["nohup", "builtin", "busybox", "toybox", "unbuffer", "caffeinate"], ..PLAIN },
    Wrapper { names: &["command"], short: "pvV", ..PLAIN },
    Wrapper { names: &["exec"], short: "cl", short_value: "a", ..PLAIN },
    Wrapper { names: &["setsid"], short: "cfw", long: &["ctty", "fork", "wait"], ..PLAIN },
    Wrapper { names: &["stdbuf"], short_value: "ioe", long_value: &["input", "output", "error"], ..PLAIN },
    Wrapper {
        names: &["ionice"],
        short: "t",
        short_value: "cnpPu",
        long: &["ignore"],
        long_value: &["class", "classdata"],
        ..PLAIN
    },
    Wrapper { names: &["chrt"], short: "bdfiorRv", short_value: "TPD", operands: 1, ..PLAIN },
    Wrapper { names: &["taskset"], short: "ac", operands: 1, ..PLAIN },
    Wrapper {
        names: &["time", "gtime"],
        short: "apqvV",
        short_value: "fo",
        long: &["append", "portability", "verbose", "quiet"],
        long_value: &["format", "output"],
        ..PLAIN
    },
    Wrapper {
        names: &["strace"],
        short: "fFqtTvxyrCcwknidzZYD",
        short_value: "eosuEPbOXaISU",
        long: &["follow-forks"],
        long_value: &["output"],
        ..PLAIN
    },
    Wrapper { names: &["ltrace"], short: "cCfLirStTV", short_value: "aAbDeFlnopsuwxX", ..PLAIN },
    Wrapper {
        names: &["xargs", "gxargs"],
        short: "0rtpxoeil",
        short_value: "aEILnPsd",
        long: &["null", "no-run-if-empty", "verbose", "interactive", "exit", "open-tty", "eof", "replace", "max-lines"],
        long_value: &["arg-file", "delimiter", "max-args", "max-procs", "max-chars", "process-slot-var"],
        ..PLAIN
    },
    Wrapper {
        names: &["sudo", "doas", "pkexec", "su", "runuser"],
        short: "AbEeHhiKklnPSsVv",
        short_value: "ugCcDpRrtTU",
        long: &["login", "preserve-env", "non-interactive", "stdin", "set-home", "shell", "background"],
        long_value: &["user", "group", "command", "chdir", "chroot", "prompt", "host", "role", "type"],
        operands: 0,
    },
    Wrapper { names: &["chroot"], long_value: &["userspec", "groups"], operands: 1, ..PLAIN },
    Wrapper { names: &["faketime"], short: "fm", operands: 1, ..PLAIN },
    Wrapper {
        names: &["flock"],
        short: "nosuxeF",
        short_value: "wE",
        long: &["nonblock", "close", "shared", "exclusive", "no-fork"],
        long_value: &["timeout", "conflict-exit-code"],
        operands: 1,
    },
    Wrapper {
        names: &["unshare"],
        short: "imnpuUCfrcT",
        short_value: "RwSG",
        long: &["fork", "map-root-user", "mount", "net", "pid", "user", "uts", "ipc"],
        long_value: &["root", "wd"],
        operands: 0,
    },
    Wrapper { names: &["nsenter"], short: "amnpuUCiFZ", short_value: "tSG", long_value: &["target"], ..PLAIN },
];

/// At how many of its arguments a command may begin when a wrapper is not understood.
const LOOKED_AT: usize = 16;

const SHELLS: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "ksh93",
    "mksh",
    "lksh",
    "rksh",
    "ash",
    "hush",
    "yash",
    "posh",
    "osh",
    "fish",
    "rbash",
    "csh",
    "tcsh",
    "pwsh",
    "nu",
    "xonsh",
    "elvish",
    "bash-static",
    "zsh-static",
];
const SUPERUSER: &[&str] = &["sudo", "doas", "pkexec", "su", "runuser"];

impl Assessor<'_> {
    /// Whether `name` is a wrapper; what it wraps has then been judged.
    pub fn unwrapped(&mut self, name: &str, rest: &[Arg], depth: usize) -> bool {
        if SUPERUSER.contains(&name) {
            self.risk.raise(self.table.shell.superuser, &format!("it runs {name}"));
        }
        match name {
            "env" => self.env(rest, depth),
            "eval" => {
                let dashes = usize::from(rest.first().is_some_and(|arg| arg.text == "--"));
                self.joined("", &rest[dashes..], depth);
            }
            "watch" | "parallel" | "script" | "entr" => {
                self.risk.raise(self.table.shell.code, &format!("{name} hands a line to a shell"));
                self.might_run(rest, depth);
                self.joined("", rest, depth);
            }
            "trap" => self.trap(rest, depth),
            "source" | "." => self.sourced(rest),
            "exec" | "command" if rest.is_empty() => return false,
            _ if SHELLS.contains(&name) => self.shell_program(name, rest, depth),
            _ if self.table.shell.wrappers.iter().any(|wrapper| wrapper == name) || name.starts_with("ld-linux") => {
                self.might_run(rest, depth);
                return false;
            }
            _ => match WRAPPERS.iter().find(|wrapper| wrapper.names.contains(&name)) {
                Some(wrapper) => return self.wrapper(name, wrapper, rest, depth),
                None => return false,
            },
        }
        true
    }

    fn wrapper(&mut self, name: &str, wrapper: &Wrapper, rest: &[Arg], depth: usize) -> bool {
        if let Some(level) = rule(self.table, name).and_then(|rule| rule.level) {
            self.risk.raise(level, &format!("it runs {name}"));
        }
        if name == "command" && rest.first().is_some_and(|arg| matches!(arg.text.as_str(), "-v" | "-V")) {
            return false;
        }
        let mut at = 0;
        while let Some(arg) = rest.get(at) {
            if !arg.fixed && at == 0 && arg.text.is_empty() {
                self.risk.raise(self.table.shell.dynamic, &format!("what {name} runs is known only when it runs"));
            }
            match own_option(wrapper, &arg.text) {
                Own::End => break,
                Own::Dashes => {
                    at += 1;
                    break;
                }
                Own::Flag => at += 1,
                Own::FlagWithValue => {
                    // `su -c` and `flock -c` hold a script, whatever else the letter means.
                    if matches!(arg.text.as_str(), "-c" | "--command")
                        && let Some(script) = rest.get(at + 1)
                    {
                        self.code(script, depth);
                    }
                    at += 2;
                }
                Own::Unknown => {
                    let why = format!("{name} has no known option {}", arg.text);
                    self.risk.raise(self.table.shell.unknown_flag, &why);
                    self.anywhere(&rest[at + 1..]);
                    at += 1;
                }
            }
        }
        at += wrapper.operands;
        let command = rest.get(at..).unwrap_or_default();
        let command = after_assignments(command);
        if command.is_empty() {
            return false;
        }
        if name == "flock" && command[0].text == "-c" {
            if let Some(script) = command.get(1) {
                self.code(script, depth);
            }
            return true;
        }
        if matches!(name, "xargs" | "gxargs") {
            // More arguments come from what it reads; behind another wrapper they are the program.
            let more = Arg { text: String::new(), fixed: false };
            let options = &rest[..rest.len() - command.len()];
            if options.iter().any(|option| !option.fixed) {
                self.risk.raise(self.table.shell.dynamic, &format!("what {name} replaces is known only when it runs"));
            }
            let replaced = replaced_by_xargs(options);
            let filled_in = |arg: &Arg| match replaced.iter().any(|mark| arg.text.contains(mark)) {
                true => Arg {
                    text: replaced.iter().fold(arg.text.clone(), |text, mark| text.replace(mark, "")),
                    fixed: false,
                },
                false => arg.clone(),
            };
            let command: Vec<Arg> = command.iter().map(filled_in).chain([more]).collect();
            self.program(&command, depth + 1);
            return true;
        }
        self.program(command, depth + 1);
        true
    }

    /// A wrapper whose options are not known here: what follows may be a program anywhere, or a line for a shell.
    fn might_run(&mut self, rest: &[Arg], depth: usize) {
        self.anywhere(rest);
        for line in rest.iter().take(LOOKED_AT).filter(|arg| arg.text.contains(' ')) {
            self.code(line, depth);
        }
    }

    /// The command may begin at any of the next arguments: none of them may be worse than what is reported.
    fn anywhere(&mut self, rest: &[Arg]) {
        for at in 0..rest.len().min(LOOKED_AT) {
            self.judge_shallow(&rest[at..]);
        }
    }

    fn judge_shallow(&mut self, args: &[Arg]) {
        let Some((head, rest)) = args.split_first() else { return };
        let name = name_of(head).to_owned();
        if SUPERUSER.contains(&name.as_str()) {
            self.risk.raise(self.table.shell.superuser, &format!("it runs {name}"));
        }
        if !matches!(name.as_str(), "find" | "git" | "cd" | "pushd" | "popd") {
            self.judge(&name, rest, MAX_WRAPPERS);
        }
    }

    /// `env [-i] [-u NAME] [-C DIR] [-S STRING] [NAME=VALUE]… command`.
    fn env(&mut self, rest: &[Arg], depth: usize) {
        let mut at = 0;
        while let Some(arg) = rest.get(at) {
            let text = arg.text.as_str();
            match text {
                "--" => {
                    at += 1;
                    break;
                }
                "-" | "-i" | "-0" | "-v" | "--ignore-environment" | "--null" | "--debug" => at += 1,
                "-u" | "-C" | "--unset" | "--chdir" => at += 2,
                "-S" | "--split-string" => {
                    return self.joined("env ", &rest[at + 1..], depth);
                }
                _ if ["--unset=", "--chdir=", "-u", "-C"].iter().any(|option| text.starts_with(option)) => at += 1,
                _ if text.starts_with("--split-string=") || text.starts_with("-S") || clustered(text) => {
                    let attached = text.split_once('=').filter(|_| text.starts_with("--")).map(|(_, line)| line);
                    let attached = attached.or_else(|| text.split_once('S').map(|(_, line)| line)).unwrap_or_default();
                    let mut line = vec![Arg { text: attached.to_owned(), fixed: arg.fixed }];
                    line.extend_from_slice(&rest[at + 1..]);
                    return self.joined("env ", &line, depth);
                }
                _ if text.starts_with('-') => {
                    self.risk.raise(self.table.shell.unknown_flag, &format!("env has no known option {text}"));
                    self.anywhere(&rest[at + 1..]);
                    at += 1;
                }
                _ => match text.split_once('=') {
                    Some((name, _)) => {
                        self.assigned(name);
                        at += 1;
                    }
                    None => break,
                },
            }
        }
        let command = after_assignments_of(self, rest.get(at..).unwrap_or_default());
        if command.is_empty() {
            self.risk.programs.push(vec!["env".to_owned()]);
        }
        self.program(command, depth + 1);
    }

    /// Arguments that are put together and read by a shell, or by `env`, which parts them again and obeys its own options.
    fn joined(&mut self, before: &str, rest: &[Arg], depth: usize) {
        let fixed = rest.iter().all(|arg| arg.fixed);
        let text = rest.iter().map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" ");
        self.code(&Arg { text: format!("{before}{text}"), fixed }, depth);
    }

    /// Text that a shell will run.
    pub fn code(&mut self, script: &Arg, depth: usize) {
        if !script.fixed {
            self.risk.raise(self.table.shell.dynamic, "a shell runs what is known only when it runs");
        }
        if depth > MAX_WRAPPERS {
            return self.too_deep();
        }
        self.script(&script.text, depth + 1);
    }

    fn shell_program(&mut self, name: &str, rest: &[Arg], depth: usize) {
        let mut reads_script = false;
        let mut args = rest.iter();
        while let Some(arg) = args.next() {
            let text = arg.text.as_str();
            match text {
                "--rcfile" | "--init-file" => {
                    self.risk.raise(self.table.shell.code, &format!("{name} runs a file first"));
                    args.next();
                }
                _ if text.starts_with("--command=") => {
                    let line = text.trim_start_matches("--command=").to_owned();
                    return self.code(&Arg { text: line, fixed: arg.fixed }, depth);
                }
                _ if text.starts_with("--") => {}
                "-o" | "+o" | "-O" | "+O" => {
                    args.next();
                }
                _ if text.starts_with(['-', '+']) && text.len() > 1 => {
                    reads_script |= text.contains('c');
                    if text.contains('o') {
                        args.next();
                    }
                    if text.contains('s') && !text.contains('c') {
                        break;
                    }
                }
                _ if reads_script => return self.code(arg, depth),
                _ => return self.script_file(name, arg),
            }
        }
        self.risk.raise(self.table.shell.code, &format!("{name} runs what it reads"));
    }

    fn script_file(&mut self, name: &str, file: &Arg) {
        let read = !file.fixed || matches!(file.text.as_str(), "-" | "/dev/stdin") || file.text.starts_with("/dev/fd/");
        if read {
            self.risk.raise(self.table.shell.code, &format!("{name} runs what it reads"));
        }
        self.risk.programs.push(vec![name.to_owned(), file.text.clone()]);
    }

    fn sourced(&mut self, rest: &[Arg]) {
        match rest.iter().find(|arg| arg.text != "--") {
            Some(file) => self.script_file("source", file),
            None => self.risk.raise(self.table.shell.unparsed, "source without a file"),
        }
    }

    fn trap(&mut self, rest: &[Arg], depth: usize) {
        if let Some(script) = rest.iter().find(|arg| !matches!(arg.text.as_str(), "-" | "--" | "-p" | "-l" | "")) {
            self.code(script, depth);
        }
    }
}

/// What `xargs` replaces in its command by what it reads: the marks of `-I%`, `-I %`, `-i` and `--replace`.
fn replaced_by_xargs(options: &[Arg]) -> Vec<&str> {
    let mut marks = Vec::new();
    for (at, arg) in options.iter().enumerate() {
        let long = arg
            .text
            .strip_prefix("--")
            .filter(|long| !long.is_empty() && "replace".starts_with(long.split('=').next().unwrap_or(long)));
        let letter = arg.text.find(['I', 'i']).filter(|_| arg.text.starts_with('-') && !arg.text.starts_with("--"));
        let attached = match (long, letter) {
            (Some(long), _) => long.split_once('=').map_or("", |(_, mark)| mark),
            (None, Some(letter)) => &arg.text[letter + 1..],
            (None, None) => continue,
        };
        let follows = letter.is_some_and(|letter| arg.text[letter..].starts_with('I'));
        marks.push(match options.get(at + 1) {
            _ if !attached.is_empty() => attached,
            Some(next) if follows => next.text.as_str(),
            _ => "{}",
        });
    }
    marks.retain(|mark| !mark.is_empty());
    marks
}

/// `env -iS 'rm -rf /'`.
fn clustered(text: &str) -> bool {
    let letters = text.strip_prefix('-').unwrap_or_default();
    letters.split_once('S').is_some_and(|(before, _)| before.chars().all(|letter| matches!(letter, 'i' | '0' | 'v')))
}

/// `sudo NAME=value command`.
fn after_assignments(command: &[Arg]) -> &[Arg] {
    let is_assignment = |arg: &&Arg| arg.text.contains('=') && !arg.text.starts_with(['-', '/', '.']);
    let count = command.iter().take_while(is_assignment).count();
    &command[count..]
}

fn after_assignments_of<'a>(assessor: &mut Assessor<'_>, command: &'a [Arg]) -> &'a [Arg] {
    let left = after_assignments(command);
    for assigned in &command[..command.len() - left.len()] {
        assessor.assigned(assigned.text.split('=').next().unwrap_or_default());
    }
    left
}

enum Own {
    Flag,
    FlagWithValue,
    /// `--`.
    Dashes,
    Unknown,
    End,
}

fn own_option(wrapper: &Wrapper, text: &str) -> Own {
    if text == "--" {
        return Own::Dashes;
    }
    if let Some(long) = text.strip_prefix("--") {
        let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
        let among = |names: &[&str]| names.iter().any(|known| known.starts_with(name));
        return match (among(wrapper.long), among(wrapper.long_value), value) {
            (_, true, None) => Own::FlagWithValue,
            (true, ..) | (_, true, Some(_)) => Own::Flag,
            (false, false, _) => Own::Unknown,
        };
    }
    let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
        return Own::End;
    };
    for (index, letter) in letters.char_indices() {
        if wrapper.short_value.contains(letter) {
            let attached = index + letter.len_utf8() < letters.len();
            return if attached { Own::Flag } else { Own::FlagWithValue };
        }
        if !wrapper.short.contains(letter) {
            return Own::Unknown;
        }
    }
    Own::Flag
}
