//! The program under test, started with nothing of this process's environment but the way to other programs.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::home::Home;

pub struct Program {
    command: Command,
}

impl Program {
    pub fn new(home: &Home, words: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
        command.args(words).current_dir(home.workspace()).stdin(Stdio::null()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", home.path()).env("WINDLASS_DATA_DIR", home.data());
        // Its lines carry times and ids; who wants to see them says so.
        command.env("WINDLASS_LOG", "off");
        Self { command }
    }

    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// So many files may it have open.
    #[must_use]
    pub fn with_open_files(self, most: u64) -> Self {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(format!("ulimit -n {most} && exec \"$0\" \"$@\"")).arg(self.command.get_program());
        command.args(self.command.get_args()).stdin(Stdio::null()).env_clear();
        command.envs(self.command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.current_dir(self.command.get_current_dir().expect("it was said"));
        Self { command }
    }

    /// Started in this folder instead of the workspace.
    #[must_use]
    pub fn inside(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// What it says goes there instead of to the test.
    #[must_use]
    pub fn saying_into(mut self, stdout: impl Into<Stdio>) -> Self {
        self.command.stdout(stdout);
        self
    }

    /// With this on its standard input.
    #[must_use]
    pub fn hearing(mut self, words: &str) -> Self {
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(words.as_bytes()).and_then(|()| file.rewind()).expect("it is written");
        self.command.stdin(file);
        self
    }

    pub fn run(mut self) -> Ended {
        let output = self.command.output().expect("the program starts");
        Ended { status: output.status, stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    pub fn start(mut self) -> Running {
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().expect("the program starts");
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        Running { child, stdout, said: String::new() }
    }

    /// Started with all that it says going there.
    pub fn start_into(mut self, log: &Path) -> Child {
        let open = || File::options().create(true).append(true).open(log).expect("a log");
        self.command.stdout(open()).stderr(open()).spawn().expect("the program starts")
    }

    /// Started with nobody to hear what it says.
    pub fn start_unheard(mut self) -> Child {
        self.command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts")
    }
}

/// How it ended and what it said.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| panic!("ended by a signal: {self:?}"))
    }

    pub fn was_killed(&self) -> bool {
        self.status.signal() == Some(Signal::KILL.as_raw())
    }

    /// Fails the test unless it exited with `code`.
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.status.code(), Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// The same with only the end of what it said: of several who work at once nobody knows who speaks first.
    pub fn last_lines(mut self, count: usize) -> Self {
        let lines: Vec<&str> = self.stdout.lines().collect();
        self.stdout = lines[lines.len().saturating_sub(count)..].join("\n");
        self
    }

    /// Standard output as `--json` promises it: one object a line.
    pub fn objects(&self) -> Vec<Value> {
        objects(&self.stdout)
    }

    /// The last line of `--json`.
    pub fn result(&self) -> Value {
        let last = self.objects().pop().unwrap_or_default();
        assert_eq!(last["type"], "result", "the last line is the result: {last}\nstderr:\n{}", self.stderr);
        last
    }
}

pub fn objects(text: &str) -> Vec<Value> {
    let parse = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"));
        assert!(value.is_object(), "not an object: {line}");
        value
    };
    text.lines().map(parse).collect()
}

/// A program that has not ended. One that a failing test leaves behind is killed.
pub struct Running {
    child: Child,
    stdout: BufReader<ChildStdout>,
    said: String,
}

impl Running {
    /// Waits for the first line that `wanted` accepts.
    pub fn wait_for(&mut self, wanted: impl Fn(&str) -> bool) -> String {
        loop {
            let mut line = String::new();
            let length = self.stdout.read_line(&mut line).expect("standard output is text");
            assert!(length > 0, "it ended before it said what was waited for; it said:\n{}", self.said);
            self.said.push_str(&line);
            if wanted(line.trim_end()) {
                return line.trim_end().to_owned();
            }
        }
    }

    /// Waits for a record of this type; the program was started with `--json`.
    pub fn wait_for_record(&mut self, kind: &str) -> Value {
        let mark = format!("\"type\":\"{kind}\"");
        let line = self.wait_for(|line| line.contains(&mark));
        serde_json::from_str(&line).expect("a JSON line")
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).expect("it has not been waited for");
    }

    /// Waits for its end without reading what it says.
    pub fn end_unread(mut self) -> Ended {
        let mut stderr = String::new();
        self.child.stderr.take().expect("piped").read_to_string(&mut stderr).expect("standard error is text");
        let status = self.child.wait().expect("waited for");
        Ended { status, stdout: String::new(), stderr }
    }

    pub fn end(mut self) -> Ended {
        let mut stdout = std::mem::take(&mut self.said);
        self.stdout.read_to_string(&mut stdout).expect("standard output is text");
        let mut stderr = String::new();
        self.child.stderr.take().expect("piped").read_to_string(&mut stderr).expect("standard error is text");
        let status = self.child.wait().expect("waited for");
        Ended { status, stdout, stderr }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _over = self.child.kill();
        let _over = self.child.wait();
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the program prints text")
}
