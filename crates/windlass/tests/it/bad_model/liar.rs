//! A model server that does as it is told: one act for each request, whatever was asked; the last one for ever.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

/// What is done with one request. Every answer closes its connection.
#[derive(Debug, Clone)]
pub enum Act {
    /// A whole answer.
    Say(String),
    /// The same, when the test has seen what it wanted to see.
    SayLater(String),
    /// One that is made of what was asked.
    Answer(fn(&str) -> String),
    /// The beginning of one, which is all that ever comes.
    HangUp(String),
    /// The same, with the connection left open.
    FallSilent(String),
    /// The beginning, and then the same piece for as long as anybody listens.
    GoOn(String, String),
}

pub struct Liar {
    pub url: String,
    progress: Arc<Progress>,
}

/// How far it has come, for the test and for every connection.
#[derive(Default)]
struct Progress {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    requests: Vec<String>,
    released: bool,
}

impl Liar {
    pub fn playing(acts: Vec<Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let progress = Arc::new(Progress::default());
        let shared = Arc::clone(&progress);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (acts, progress) = (acts.clone(), Arc::clone(&shared));
                std::thread::spawn(move || serve(stream, &acts, &progress));
            }
        });
        Self { url, progress }
    }

    /// The bodies of the requests so far.
    pub fn requests(&self) -> Vec<String> {
        self.progress.state.lock().expect("no thread panicked").requests.clone()
    }

    /// Waits until it was asked this often.
    pub fn is_asked(&self, times: usize) {
        self.progress.wait_until(|state| state.requests.len() >= times);
    }

    /// Lets it say what it was to say later.
    pub fn release(&self) {
        self.progress.change(|state| state.released = true);
    }
}

impl Progress {
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let changed = change(&mut self.state.lock().expect("no thread panicked"));
        self.changed.notify_all();
        changed
    }

    fn wait_until(&self, holds: impl Fn(&State) -> bool) {
        let state = self.state.lock().expect("no thread panicked");
        drop(self.changed.wait_while(state, |state| !holds(state)).expect("no thread panicked"));
    }
}

fn serve(mut stream: TcpStream, acts: &[Act], progress: &Progress) {
    let Some(request) = read_request(&mut stream) else { return };
    let asked = request.clone();
    let number = progress.change(|state| {
        state.requests.push(request);
        state.requests.len() - 1
    });
    let act = &acts[number.min(acts.len() - 1)];
    if matches!(act, Act::SayLater(_)) {
        progress.wait_until(|state| state.released);
    }
    // Whoever asked may leave at any time, and that ends it.
    let _gone = perform(&mut stream, act, &asked);
}

fn perform(stream: &mut TcpStream, act: &Act, asked: &str) -> std::io::Result<()> {
    let begun = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n";
    let whole =
        |stream: &mut TcpStream, body: &str| write!(stream, "{begun}content-length: {}\r\n\r\n{body}", body.len());
    match act {
        Act::Say(body) | Act::SayLater(body) => whole(stream, body),
        Act::Answer(answer) => whole(stream, &answer(asked)),
        Act::HangUp(part) => write!(stream, "{begun}content-length: {}\r\n\r\n{part}", part.len() + 100_000),
        Act::FallSilent(part) => {
            write!(stream, "{begun}\r\n{part}")?;
            stream.read(&mut [0; 64]).map(drop)
        }
        Act::GoOn(part, again) => {
            write!(stream, "{begun}\r\n{part}")?;
            loop {
                stream.write_all(again.as_bytes())?;
            }
        }
    }
}

fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut portion = vec![0; 1 << 16];
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok())?;
            if bytes.len() >= end + 4 + length {
                return Some(String::from_utf8_lossy(&bytes[end + 4..]).into_owned());
            }
        }
        match stream.read(&mut portion) {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&portion[..count]),
        }
    }
}
