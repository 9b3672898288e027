//! Between a store and its server: passes everything on, counts the statements, and cuts the connection at one of them, before
//! the server has it or after. Afterwards it passes everything on again, or nobody any more.

#![expect(clippy::disallowed_methods, reason = "it copies between sockets on threads of its own")]

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

use tempfile::TempDir;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// The server never has the statement.
    Before,
    /// The server has it and nobody hears what it answers.
    After,
}

/// Which statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// From 1.
    Number(u64),
    /// The first that says this.
    Word(&'static str),
}

#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub cut: Cut,
    pub at: At,
    /// Whoever connects afterwards is turned away.
    pub for_good: bool,
}

#[derive(Default)]
struct State {
    plan: Option<Plan>,
    statements: u64,
    has_struck: bool,
    is_closed: bool,
}

pub struct Proxy {
    folder: TempDir,
    state: Arc<Mutex<State>>,
}

impl Proxy {
    /// Before the server whose socket is in this folder.
    pub fn before(server: &Path) -> Self {
        let folder = tempfile::Builder::new().prefix("proxy").tempdir_in("/tmp").expect("a folder");
        let state = Arc::new(Mutex::new(State::default()));
        let listener = UnixListener::bind(socket(folder.path())).expect("a socket");
        let (shared, server) = (Arc::clone(&state), socket(server));
        thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, UnixStream::connect(&server)) else { continue };
                if !shared.lock().expect("no panic").is_closed {
                    pass_on(&client, &server, &shared);
                }
            }
        });
        Self { folder, state }
    }

    pub fn url(&self, database: &str) -> String {
        let folder = self.folder.path().display().to_string().replace('/', "%2F");
        format!("postgres://postgres@{folder}/{database}")
    }

    pub fn plan(&self, plan: Plan) {
        *self.state.lock().expect("no panic") = State { plan: Some(plan), ..State::default() };
    }

    /// From now on it only passes on.
    pub fn pass(&self) {
        *self.state.lock().expect("no panic") = State::default();
    }

    pub fn has_struck(&self) -> bool {
        self.state.lock().expect("no panic").has_struck
    }
}

fn socket(folder: &Path) -> PathBuf {
    folder.join(".s.PGSQL.5432")
}

fn pass_on(client: &UnixStream, server: &UnixStream, state: &Arc<Mutex<State>>) {
    let clone = |stream: &UnixStream| stream.try_clone().expect("a descriptor");
    let (mut from_server, mut to_client) = (clone(server), clone(client));
    thread::spawn(move || {
        // Either end may be gone at any time.
        let _ = std::io::copy(&mut from_server, &mut to_client);
        let _ = to_client.shutdown(Shutdown::Both);
    });
    let (client, server, state) = (clone(client), clone(server), Arc::clone(state));
    thread::spawn(move || {
        let _ = statements(&client, &server, &state);
        let _ = client.shutdown(Shutdown::Both);
        let _ = server.shutdown(Shutdown::Write);
    });
}

/// Passes on what the client says, message by message: the first has no letter.
fn statements(mut client: &UnixStream, mut server: &UnixStream, state: &Mutex<State>) -> std::io::Result<()> {
    let mut has_begun = false;
    loop {
        let mut message = Vec::new();
        if has_begun {
            message.resize(1, 0);
            client.read_exact(&mut message)?;
        }
        let mut length = [0; 4];
        client.read_exact(&mut length)?;
        message.extend(length);
        let body = message.len();
        message.resize(body + u32::from_be_bytes(length) as usize - 4, 0);
        client.read_exact(&mut message[body..])?;
        // A query of one message, or the end of one of several.
        let is_statement = has_begun && matches!(message[0], b'Q' | b'S');
        has_begun = true;
        match is_statement.then(|| strikes(&mut state.lock().expect("no panic"), &message)).flatten() {
            None => server.write_all(&message)?,
            Some(Cut::Before) => return Ok(()),
            Some(Cut::After) => {
                // First the client, so that it can hear nothing.
                client.shutdown(Shutdown::Both)?;
                return server.write_all(&message);
            }
        }
    }
}

fn strikes(state: &mut State, message: &[u8]) -> Option<Cut> {
    state.statements += 1;
    let plan = state.plan.filter(|plan| match plan.at {
        At::Number(number) => number == state.statements,
        At::Word(word) => !state.has_struck && message.get(5..).is_some_and(|said| said.starts_with(word.as_bytes())),
    })?;
    state.has_struck = true;
    state.is_closed = plan.for_good;
    Some(plan.cut)
}
