//! What a user saw, for snapshots: exit code, standard output, standard error, with everything that differs from run to run
//! replaced by its name in brackets.

use std::sync::LazyLock;

use regex::Regex;

use super::home::Home;
use super::program::Ended;

static CHANGING: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    let patterns = [
        (r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "[ID]"),
        (
            r"\b(task|card|log|graph|resume|start|stop|cancel|approve|deny|edit|send|question|type) [0-9a-f]{8}\b",
            "$1 [SHORT]",
        ),
        (r"(?m)^[0-9a-f]{8}(  \w)", "[SHORT]$1"),
        (r"\b\d+ h \d\d min\b|\b\d+ min \d\d s\b|\b\d+\.\d s\b|\b\d+ ms\b", "[TIME]"),
        (r"\b\d{4}-\d\d-\d\dT[0-9:.]+Z", "[WHEN]"),
        (r"(?m)^( *)\d\d:\d\d:\d\d(  |$)", "$1[CLOCK]$2"),
        (r" +\[TIME\] ago", " [TIME] ago"),
        (r"process \d+ on \S+", "process [PID] on [HOST]"),
        (r"127\.0\.0\.1:\d+", "127.0.0.1:[PORT]"),
        (r"\bport \d+ of", "port [PORT] of"),
    ];
    let compile = |(pattern, name)| (Regex::new(pattern).expect("a pattern written here"), name);
    patterns.into_iter().map(compile).collect()
});

static TOKENS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[0-9,]+ tokens").expect("a pattern written here"));

pub fn shown_but_tokens(home: &Home, ended: &Ended) -> String {
    TOKENS.replace_all(&shown(home, ended), "[TOKENS] tokens").into_owned()
}

pub fn shown(home: &Home, ended: &Ended) -> String {
    let code = ended.status.code().map_or_else(|| ended.status.to_string(), |code| code.to_string());
    let part = |name: &str, text: &str| match text.trim_end() {
        "" => String::new(),
        text => format!("--- {name}\n{text}\n"),
    };
    let whole = format!("exit code {code}\n{}{}", part("stdout", &ended.stdout), part("stderr", &ended.stderr));
    let whole = whole.replace(&*home.path().to_string_lossy(), "[HOME]");
    CHANGING.iter().fold(whole, |text, (pattern, name)| pattern.replace_all(&text, *name).into_owned())
}
