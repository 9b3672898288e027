//! A Redis of the test's own, on a socket of its own; and just enough of a client for it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// A guard against hanging, far beyond what is expected.
const GUARD: Duration = Duration::from_secs(120);
const LOOK_EVERY: Duration = Duration::from_millis(20);

pub struct Redis {
    folder: TempDir,
    child: Child,
    more: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    Nil,
    Number(i64),
    Text(String),
    List(Vec<Self>),
    Error(String),
}

impl Redis {
    pub fn start() -> Self {
        Self::start_with(&["--appendonly", "no"])
    }

    /// Without these it forgets everything when it ends.
    pub fn remembering() -> Self {
        Self::start_with(&["--appendonly", "yes", "--appendfsync", "always"])
    }

    pub fn start_with(more: &[&str]) -> Self {
        let folder = TempDir::with_prefix("windlass-redis-").expect("a temporary folder");
        let more: Vec<String> = more.iter().map(|word| (*word).to_owned()).collect();
        let child = start(folder.path(), &more);
        Self { folder, child, more }
    }

    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    pub fn url(&self) -> String {
        format!("redis+unix://{}", self.socket().display())
    }

    /// As a power cut would have it.
    pub fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it has ended");
    }

    pub fn start_again(&mut self) {
        self.child = start(self.folder.path(), &self.more);
    }

    pub fn ask(&self, words: &[&str]) -> Reply {
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        self.ask_bytes(&words)
    }

    pub fn ask_bytes(&self, words: &[&[u8]]) -> Reply {
        ask(&self.socket(), words)
    }

    pub fn put(&self, stream: &str, entry: &Value) {
        let reply = self.ask(&["XADD", stream, "*", "json", &entry.to_string()]);
        assert!(matches!(reply, Reply::Text(_)), "{reply:?}");
    }

    /// Every entry of a stream, oldest first.
    pub fn entries(&self, stream: &str) -> Vec<Value> {
        let Reply::List(entries) = self.ask(&["XRANGE", stream, "-", "+"]) else { panic!("{stream} is no stream") };
        let json = |entry: Reply| match entry {
            Reply::List(parts) => match &parts[1] {
                Reply::List(fields) => match &fields[1] {
                    Reply::Text(json) => serde_json::from_str(json).expect("JSON"),
                    other => panic!("{other:?}"),
                },
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        };
        entries.into_iter().map(json).collect()
    }

    /// Waits for the first entry that is meant.
    pub fn wait_for(&self, stream: &str, is_meant: impl Fn(&Value) -> bool) -> Value {
        let found = self.until(|| self.entries(stream).into_iter().find(&is_meant));
        found.unwrap_or_else(|| panic!("nothing such came on {stream}: {:#?}", self.entries(stream)))
    }

    pub fn wait_until(&self, words: &[&str], expected: &Reply) {
        let found = self.until(|| Some(self.ask(words)).filter(|reply| reply == expected));
        assert!(found.is_some(), "{words:?} is {:?}", self.ask(words));
    }

    pub fn wait_for_reply(&self, words: &[&str], is_meant: impl Fn(Reply) -> bool) {
        let found = self.until(|| is_meant(self.ask(words)).then_some(()));
        assert!(found.is_some(), "{words:?} is {:?}", self.ask(words));
    }

    fn until<T>(&self, look: impl Fn() -> Option<T>) -> Option<T> {
        let begun = Instant::now();
        while begun.elapsed() < GUARD {
            if let Some(found) = look() {
                return Some(found);
            }
            std::thread::sleep(LOOK_EVERY);
        }
        None
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _over = self.child.kill();
        let _over = self.child.wait();
    }
}

fn start(folder: &Path, more: &[String]) -> Child {
    let socket = folder.join("socket");
    let child = Command::new("redis-server")
        .args(["--port", "0", "--save", "", "--unixsocket"])
        .arg(&socket)
        .arg("--dir")
        .arg(folder)
        .args(more)
        .stdout(Stdio::null())
        .spawn()
        .expect("redis-server is installed: scripts/setup redis");
    let begun = Instant::now();
    while UnixStream::connect(&socket).is_err() {
        assert!(begun.elapsed() < GUARD, "it does not listen");
        std::thread::sleep(LOOK_EVERY);
    }
    // It answers before it has read what it remembers.
    let is_loading = || matches!(ask(&socket, &[b"PING"]), Reply::Error(why) if why.starts_with("LOADING"));
    while is_loading() {
        assert!(begun.elapsed() < GUARD, "it is not ready");
        std::thread::sleep(LOOK_EVERY);
    }
    child
}

fn ask(socket: &Path, words: &[&[u8]]) -> Reply {
    let mut stream = UnixStream::connect(socket).expect("it listens");
    let mut request = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        request.extend(format!("${}\r\n", word.len()).into_bytes());
        request.extend_from_slice(word);
        request.extend(b"\r\n");
    }
    stream.write_all(&request).expect("it reads");
    read(&mut BufReader::new(stream))
}

fn read(stream: &mut BufReader<UnixStream>) -> Reply {
    let mut line = String::new();
    stream.read_line(&mut line).expect("it answers");
    let (kind, rest) = line.trim_end().split_at(1);
    let number = || rest.parse::<i64>().expect("a number");
    match kind {
        "+" => Reply::Text(rest.to_owned()),
        "-" => Reply::Error(rest.to_owned()),
        ":" => Reply::Number(number()),
        "$" if number() < 0 => Reply::Nil,
        "$" => {
            let mut bytes = vec![0; usize::try_from(number()).expect("a length") + 2];
            stream.read_exact(&mut bytes).expect("all of it");
            bytes.truncate(bytes.len() - 2);
            Reply::Text(String::from_utf8(bytes).expect("text"))
        }
        "*" if number() < 0 => Reply::Nil,
        "*" => Reply::List((0..number()).map(|_| read(stream)).collect()),
        other => panic!("{other} is no reply"),
    }
}
