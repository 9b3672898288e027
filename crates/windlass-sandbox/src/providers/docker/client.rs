//! As much of Docker's API as a sandbox needs, over the daemon's Unix socket. Each request has a connection of its own and is
//! of HTTP/1.0, which answers it plainly and closes: there is nothing to reuse and nothing to decode.

#![expect(
    clippy::disallowed_methods,
    reason = "deadlines here belong to a real daemon, which no simulated clock can hurry"
)]

use std::{
    fmt::Write as _,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, BufReader},
    net::UnixStream,
    time::timeout,
};

use super::refusal;
use crate::Error;

/// A daemon under load takes its time.
const PATIENCE: Duration = Duration::from_secs(60);
const LONGEST_HEAD: usize = 32 << 10;
const LONGEST_BODY: u64 = 16 << 20;

#[derive(Debug, Clone)]
pub(crate) struct Client {
    socket: PathBuf,
}

/// Why the daemon did not do what it was asked.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// It could not be asked.
    Io {
        socket: PathBuf,
        source: io::Error,
    },
    Refused {
        status: u16,
        message: String,
    },
}

impl Trouble {
    /// Whether it might be otherwise in a moment.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Io { source, .. } => source.kind() == io::ErrorKind::TimedOut,
            Self::Refused { status, .. } => *status >= 500,
        }
    }

    pub(crate) fn is_absence(&self) -> bool {
        matches!(self, Self::Refused { status: 404, .. })
    }
}

impl Client {
    /// The given socket, or the first that is there of those where daemons listen.
    pub(crate) fn find(given: Option<&Path>) -> Result<Self, Error> {
        let user = rustix::process::getuid().as_raw();
        let usual = [
            "/var/run/docker.sock".to_owned(),
            format!("/run/user/{user}/docker.sock"),
            "/run/podman/podman.sock".to_owned(),
            format!("/run/user/{user}/podman/podman.sock"),
        ];
        let sockets = given.map_or_else(|| usual.iter().map(PathBuf::from).collect(), |socket| vec![socket.to_owned()]);
        let socket = sockets.iter().find(|socket| socket.exists());
        socket.map(|socket| Self { socket: socket.clone() }).ok_or_else(|| refusal::no_daemon(&sockets[0]))
    }

    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Value, Trouble> {
        self.call("GET", path, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: Option<&Value>) -> Result<Value, Trouble> {
        self.call("POST", path, body).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Result<Value, Trouble> {
        self.call("DELETE", path, None).await
    }

    /// What comes after the answer's head, for as long as it comes.
    pub(crate) async fn stream(&self, path: &str) -> Result<BufReader<UnixStream>, Trouble> {
        let (status, mut rest) = self.within(self.ask("POST", path, None)).await?;
        match status {
            200..300 => Ok(rest),
            status => Err(self.within(refused(status, &mut rest)).await?),
        }
    }

    async fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, Trouble> {
        let answer = async {
            let (status, mut rest) = self.ask(method, path, body).await?;
            match status {
                200..300 | 304 => Ok(Ok(read_json(&mut rest).await?)),
                status => Ok(Err(refused(status, &mut rest).await?)),
            }
        };
        self.within(answer).await?
    }

    async fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> io::Result<(u16, BufReader<UnixStream>)> {
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut request = format!("{method} {path} HTTP/1.0\r\nHost: docker\r\nContent-Type: application/json\r\n");
        let _ = write!(request, "Content-Length: {}\r\n\r\n{body}", body.len());
        let mut stream = UnixStream::connect(&self.socket).await?;
        stream.write_all(request.as_bytes()).await?;
        let mut rest = BufReader::new(stream);
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            if head.len() > LONGEST_HEAD {
                return Err(io::ErrorKind::InvalidData.into());
            }
            head.push(rest.read_u8().await?);
        }
        let status = str::from_utf8(&head).ok().and_then(|head| head.split(' ').nth(1)?.parse().ok());
        status.map(|status| (status, rest)).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    async fn within<T>(&self, step: impl Future<Output = io::Result<T>>) -> Result<T, Trouble> {
        let done = timeout(PATIENCE, step).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        done.map_err(|source| Trouble::Io { socket: self.socket.clone(), source })
    }
}

async fn refused(status: u16, rest: &mut BufReader<UnixStream>) -> io::Result<Trouble> {
    let body = read_json(rest).await?;
    let message = body["message"].as_str().unwrap_or("it gives no reason").to_owned();
    Ok(Trouble::Refused { status, message })
}

/// Nothing, and what is no JSON, is null.
async fn read_json(rest: &mut BufReader<UnixStream>) -> io::Result<Value> {
    let mut body = Vec::new();
    rest.take(LONGEST_BODY).read_to_end(&mut body).await?;
    Ok(serde_json::from_slice(&body).unwrap_or(Value::Null))
}

/// For a path or a query.
pub(crate) fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b':' => {
                encoded.push(char::from(byte));
            }
            byte => drop(write!(encoded, "%{byte:02X}")),
        }
    }
    encoded
}
