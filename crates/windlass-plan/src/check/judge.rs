//! The rule that decides whether what was seen satisfies a check. It is total and knows nothing but its arguments: running
//! the command and looking at the file is the engine's work.
//!
//! Output means standard output, judged whatever the exit code, since `grep -c` prints a good answer and exits with 1. A
//! command that was not found, was killed, ran out of time or says that it could not look proves nothing, so it fails even
//! a check that expects failure. Likewise output that was cut off satisfies only what the part we have already proves.

use windlass_domain::{Check, CheckProbe, Expectation, FileExpectation};

use super::pattern;
use super::shell;

/// What carrying out one check showed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Observed<'a> {
    /// The run of the check's command, if it has one.
    pub ran: Option<Ran<'a>>,
    /// The check's path (`Check::path`), if it names one, as it was after the run.
    pub file: Option<FileSeen>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran<'a> {
    pub end: RunEnd,
    pub stdout: &'a str,
    /// There was more output than was kept.
    pub cut: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnd {
    Exited(i32),
    Killed {
        signal: i32,
    },
    TimedOut,
    /// The sandbox could not start it, and why.
    NotStarted(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSeen {
    Absent,
    File {
        bytes: u64,
    },
    Folder {
        entries: u64,
    },
    /// A link leads out of the workspace, or it is neither a file nor a folder.
    Foreign,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    pub passed: bool,
    /// Why, in one sentence for a person or a model.
    pub reason: String,
}

pub fn judge(check: &Check, observed: &Observed<'_>) -> Judgement {
    let reason = match (&check.probe, &observed.ran) {
        (CheckProbe::File { path, expect }, _) => of_file(path, *expect, observed.file),
        (CheckProbe::Run { .. }, Some(Ran { end: RunEnd::TimedOut, .. })) => Err(format!(
            "the command did not end within {} and was stopped",
            counted(check.timeout_seconds, "second", "seconds")
        )),
        (CheckProbe::Run { run, expect }, Some(ran)) => of_run(run, expect, ran, observed.file),
        (CheckProbe::Run { .. }, None) => Err("the command was not run".to_owned()),
    };
    match reason {
        Ok(reason) => Judgement { passed: true, reason },
        Err(reason) => Judgement { passed: false, reason },
    }
}

/// The reason, as `Ok` when the check passes.
type Reason = Result<String, String>;

pub(super) fn of_run(run: &str, expect: &Expectation, ran: &Ran<'_>, file: Option<FileSeen>) -> Reason {
    let code = exit_code(&ran.end)?;
    match expect {
        Expectation::ExitCode(expected) => exited_with(run, *expected, code),
        Expectation::NonZero => failed(run, code),
        Expectation::FileExists(path) => {
            exited_with(run, 0, code)?;
            of_file(path, FileExpectation::Exists, file)
        }
        expect => {
            has_looked(run, code)?;
            of_output(expect, ran)
        }
    }
}

fn exit_code(end: &RunEnd) -> Result<i32, String> {
    match end {
        RunEnd::Exited(code) => Ok(*code),
        RunEnd::Killed { signal } => Err(format!("the command was killed by signal {signal} before it ended")),
        RunEnd::TimedOut => Err("the command did not end in time and was stopped".to_owned()),
        RunEnd::NotStarted(why) => Err(format!("the command could not be started: {why}")),
    }
}

fn exited_with(run: &str, expected: i32, code: i32) -> Reason {
    if code == expected {
        return Ok(format!("the command exited with {code}"));
    }
    let meaning = has_looked(run, code).err().map(|why| format!(": {why}")).unwrap_or_default();
    Err(format!("the command exited with {code}, expected {expected}{meaning}"))
}

fn failed(run: &str, code: i32) -> Reason {
    if code == 0 {
        return Err("the command succeeded, expected it to fail".to_owned());
    }
    has_looked(run, code).map(|()| format!("the command failed as expected, with exit code {code}"))
}

/// Whether this exit code can be an answer. A shell says 126 and 127 when it had nothing to run and 128 and more when a
/// program was killed, git says 128 where there is no repository, and `grep` says 2 where there is nothing to search: none
/// of them may pass for an answer of no.
fn has_looked(run: &str, code: i32) -> Result<(), String> {
    let why = match code {
        126 => "a program in it may not be executed",
        127 => "a program in it was not found",
        128.. => "a program in it gave up or was killed; there is no git repository here, for one",
        2.. if shell::answers_with_0_or_1(run) => "of this program, more than 1 means that it could not look",
        _ => return Ok(()),
    };
    Err(format!("the check could not be made: {why} (exit code {code})"))
}

fn of_output(expect: &Expectation, ran: &Ran<'_>) -> Reason {
    let trimmed = ran.stdout.trim();
    let whole = || {
        if ran.cut { Err(TOO_LONG.to_owned()) } else { Ok(trimmed) }
    };
    match expect {
        Expectation::Equals(text) => equals(text.trim(), whole()?),
        Expectation::Regex(regex) => matches(regex, whole()?),
        Expectation::OutputLt(limit) => compare(whole()?, "less", *limit, |number| number < *limit),
        Expectation::OutputGt(limit) => compare(whole()?, "more", *limit, |number| number > *limit),
        Expectation::Contains(text) if ran.stdout.contains(text.as_str()) => {
            Ok(format!("the output contains {}", shown(text)))
        }
        Expectation::Contains(text) => {
            Err(format!("the output does not contain {}; it was {}", shown(text), shown(whole()?)))
        }
        Expectation::NotEmpty if trimmed.is_empty() => whole().and(Err("the output was empty".to_owned())),
        Expectation::NotEmpty => Ok(format!("the output was {}", shown(trimmed))),
        Expectation::ExitCode(_) | Expectation::NonZero | Expectation::FileExists(_) => {
            Err("the output says nothing about this".to_owned())
        }
    }
}

const TOO_LONG: &str = "there was more output than is kept, so it cannot be judged; let the command print less";

fn equals(expected: &str, output: &str) -> Reason {
    if output == expected {
        return Ok(format!("the output was {}", shown(output)));
    }
    Err(format!("the output was {}, expected {}", shown(output), shown(expected)))
}

fn matches(regex: &str, output: &str) -> Reason {
    let compiled = pattern::compile(regex).map_err(|why| format!("the regex /{regex}/ cannot be used: {why}"))?;
    if compiled.is_match(output) {
        return Ok(format!("the output matches /{regex}/"));
    }
    Err(format!("the output does not match /{regex}/; it was {}", shown(output)))
}

fn compare(output: &str, word: &str, limit: f64, holds: impl Fn(f64) -> bool) -> Reason {
    let number = output.parse::<f64>().ok().filter(|number| number.is_finite());
    match number {
        None => Err(format!("the output must be a single number {word} than {limit}; it was {}", shown(output))),
        Some(number) if holds(number) => Ok(format!("the output was {number}, {word} than {limit}")),
        Some(number) => Err(format!("the output was {number}, expected {word} than {limit}")),
    }
}

fn of_file(path: &str, expect: FileExpectation, seen: Option<FileSeen>) -> Reason {
    let seen = seen.ok_or_else(|| format!("{path} was not looked at"))?;
    match (expect, seen) {
        (_, FileSeen::Foreign) => Err(format!("{path} is not a file or folder inside the workspace")),
        (FileExpectation::Absent, FileSeen::Absent) => Ok(format!("{path} does not exist")),
        (FileExpectation::Absent, _) => Err(format!("{path} exists, expected it not to")),
        (_, FileSeen::Absent) => Err(format!("{path} does not exist")),
        (FileExpectation::NotEmpty, FileSeen::File { bytes: 0 } | FileSeen::Folder { entries: 0 }) => {
            Err(format!("{path} is empty"))
        }
        (_, FileSeen::File { bytes }) => Ok(format!("{path} exists, {}", counted(bytes, "byte", "bytes"))),
        (_, FileSeen::Folder { entries }) => {
            Ok(format!("{path} is a folder with {}", counted(entries, "entry", "entries")))
        }
    }
}

fn counted(number: u64, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

/// Text in a reason: quoted, on one line, and not too much of it.
fn shown(text: &str) -> String {
    const SHOWN: usize = 120;
    if text.is_empty() {
        return "empty".to_owned();
    }
    match text.char_indices().nth(SHOWN) {
        None => format!("{text:?}"),
        Some((cut, _)) => format!("{:?} and {} more bytes", &text[..cut], text.len() - cut),
    }
}
