//! The way out of one sandbox: accepts on the sandbox's own loopback, one request per connection.

#![expect(
    clippy::disallowed_methods,
    reason = "deadlines and tasks here belong to real connections, which no simulated clock can hurry"
)]

use std::{
    fmt, io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::{JoinHandle, JoinSet},
    time::{sleep, timeout},
};

use super::{
    address::Spelling,
    dial::{Machine, Outside, dial},
    hosts::Hosts,
    refused::{Reason, Refused},
    request::{self, Bad, Kind, Request},
};

/// For a client to say what it wants.
const PATIENCE: Duration = Duration::from_secs(30);
const PIECE: usize = 16 << 10;
/// For a client to hear the end of it, and how much more it may say meanwhile.
const LINGER: Duration = Duration::from_secs(2);
const LINGER_BYTES: u64 = 1 << 20;

/// What a sandbox may reach. One may serve many sandboxes; what is spent is counted for each.
pub struct Egress {
    hosts: Hosts,
    limits: EgressLimits,
    outside: Arc<dyn Outside>,
    watcher: Arc<dyn Fn(&Refused) + Send + Sync>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EgressLimits {
    /// Both ways together.
    pub bytes_per_connection: u64,
    /// All connections of one sandbox.
    pub bytes_in_all: u64,
    /// At once; more wait.
    pub connections: usize,
    /// A connection on which nothing moves either way is closed.
    pub idle: Duration,
}

impl Default for EgressLimits {
    fn default() -> Self {
        Self { bytes_per_connection: 2 << 30, bytes_in_all: 16 << 30, connections: 64, idle: Duration::from_secs(120) }
    }
}

impl Egress {
    pub fn new(hosts: Hosts) -> Self {
        Self { hosts, limits: EgressLimits::default(), outside: Arc::new(Machine), watcher: Arc::new(|_| {}) }
    }

    #[must_use]
    pub fn limits(mut self, limits: EgressLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Instead of this machine's network.
    #[must_use]
    pub fn outside(mut self, outside: Arc<dyn Outside>) -> Self {
        self.outside = outside;
        self
    }

    /// Sees every refusal as it happens. To be quick about it: the client waits.
    #[must_use]
    pub fn watched_by(mut self, watcher: impl Fn(&Refused) + Send + Sync + 'static) -> Self {
        self.watcher = Arc::new(watcher);
        self
    }

    /// The same leave, with somebody else who sees every refusal of its own sandboxes.
    #[must_use]
    pub fn also_watched_by(&self, watcher: impl Fn(&Refused) + Send + Sync + 'static) -> Self {
        let first = Arc::clone(&self.watcher);
        let both = move |refused: &Refused| {
            first(refused);
            watcher(refused);
        };
        let (hosts, limits, outside) = (self.hosts.clone(), self.limits.clone(), Arc::clone(&self.outside));
        Self { hosts, limits, outside, watcher: Arc::new(both) }
    }

    pub fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    /// A connection to a host of the list.
    pub async fn connect(&self, host: &str, port: u16) -> Result<TcpStream, Refused> {
        match self.hosts.judge(&Spelling::of(host), port) {
            Ok(addresses) => dial(&*self.outside, host, port, addresses).await,
            Err(reason) => Err(Refused { host: host.to_owned(), port, reason }),
        }
    }
}

/// The same list and limits are the same leave: approvals are bound to what this says.
impl fmt::Debug for Egress {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Egress").field("hosts", &self.hosts).field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// Serves until it is dropped, which cuts all that goes through it.
pub(crate) struct Proxy(JoinHandle<()>);

impl Proxy {
    pub(crate) fn serve(listener: std::net::TcpListener, egress: Arc<Egress>) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let door = Arc::new(Door { egress, spent: AtomicU64::new(0) });
        Ok(Self(tokio::spawn(accept(listener, door))))
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.0.abort();
    }
}

struct Door {
    egress: Arc<Egress>,
    spent: AtomicU64,
}

async fn accept(listener: TcpListener, door: Arc<Door>) {
    let mut visits = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if visits.len() < door.egress.limits.connections => match accepted {
                Ok((client, _)) => drop(visits.spawn(visit(client, Arc::clone(&door)))),
                // Out of descriptors, most likely: some will be free again.
                Err(_) => sleep(Duration::from_millis(50)).await,
            },
            Some(_) = visits.join_next() => {}
        }
    }
}

/// A client that goes away in the middle is nobody's concern.
async fn visit(mut client: TcpStream, door: Arc<Door>) {
    match timeout(PATIENCE, hear(&mut client)).await {
        Ok(Ok(Some((request, read)))) => {
            if let Err(refused) = door.pass(&mut client, request, read).await {
                (door.egress.watcher)(&refused);
            }
        }
        Ok(Err(bad)) => drop(tell(&mut client, "400 Bad Request", bad.0).await),
        Ok(Ok(None)) | Err(_) => {}
    }
    part(client).await;
}

/// What the client wants, and what it has sent after saying so. `None` if it says nothing.
async fn hear(client: &mut TcpStream) -> Result<Option<(Request, Vec<u8>)>, Bad> {
    let mut read = Vec::new();
    loop {
        if let Some(end) = request::end_of_head(&read) {
            let after = read.split_off(end);
            return Request::parse(&read).map(|request| Some((request, after)));
        }
        if read.len() > request::LONGEST {
            return Err(Bad("the head of a request must be under 32 KiB"));
        }
        match client.read_buf(&mut read).await {
            Ok(length) if length > 0 => {}
            Ok(_) | Err(_) => return Ok(None),
        }
    }
}

impl Door {
    async fn pass(&self, client: &mut TcpStream, request: Request, read: Vec<u8>) -> Result<(), Refused> {
        let Request { host, port, kind } = request;
        let mut server = match self.egress.connect(&host, port).await {
            Ok(server) => server,
            Err(refused) => {
                let _ = tell(client, status(&refused.reason), &refused.to_string()).await;
                return Err(refused);
            }
        };
        let (first, to_server) = match kind {
            Kind::Tunnel => {
                if client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.is_err() {
                    return Ok(());
                }
                (read, u64::MAX)
            }
            Kind::Plain { head, body } => {
                if server.write_all(head.as_bytes()).await.is_err() {
                    return Ok(());
                }
                let mut first = read;
                // What comes after its body is not part of the request, and nobody judged it.
                first.truncate(usize::try_from(body).unwrap_or(usize::MAX));
                let left = body - first.len() as u64;
                (first, left)
            }
        };
        let relay = Relay { door: self, moved: AtomicU64::new(0) };
        let relayed = relay.both(client, &mut server, first, to_server).await;
        relayed.map_err(|reason| Refused { host, port, reason })
    }
}

fn status(reason: &Reason) -> &'static str {
    match reason {
        reason if reason.is_denial() => "403 Forbidden",
        Reason::TooSlow => "504 Gateway Timeout",
        _ => "502 Bad Gateway",
    }
}

async fn tell(client: &mut TcpStream, status: &str, why: &str) -> io::Result<()> {
    let body = format!("windlass: {why}\n");
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n");
    client.write_all(format!("{head}Connection: close\r\n\r\n{body}").as_bytes()).await
}

/// A connection that is closed with something unread in it is reset, and the client might not hear what it was told last.
async fn part(mut client: TcpStream) {
    if client.shutdown().await.is_ok() {
        let mut unread = client.take(LINGER_BYTES);
        let _ = timeout(LINGER, tokio::io::copy(&mut unread, &mut tokio::io::sink())).await;
    }
}

/// One connection through the door.
struct Relay<'a> {
    door: &'a Door,
    moved: AtomicU64,
}

/// Why nothing more goes one way.
enum Cut {
    /// One of the two went away, or nothing moved for too long.
    Over,
    Refused(Reason),
}

impl From<io::Error> for Cut {
    fn from(_: io::Error) -> Self {
        Self::Over
    }
}

impl Relay<'_> {
    /// Until both have said all they had to say, or one way is cut.
    async fn both(
        &self,
        client: &mut TcpStream,
        server: &mut TcpStream,
        first: Vec<u8>,
        to_server: u64,
    ) -> Result<(), Reason> {
        let (from_client, to_client) = client.split();
        let (from_server, mut into_server) = server.split();
        let forth = async {
            self.count(first.len())?;
            into_server.write_all(&first).await?;
            self.pump(from_client.take(to_server), into_server, End::of(to_server)).await
        };
        let back = self.pump(from_server, to_client, End::Shown);
        match tokio::try_join!(forth, back) {
            Err(Cut::Refused(reason)) => Err(reason),
            Ok(_) | Err(Cut::Over) => Ok(()),
        }
    }

    async fn pump<From, To>(&self, mut from: From, mut to: To, end: End) -> Result<(), Cut>
    where
        From: AsyncRead + Unpin,
        To: AsyncWrite + Unpin,
    {
        let mut piece = vec![0; PIECE];
        loop {
            let length = self.while_something_moves(from.read(&mut piece)).await?;
            if length == 0 {
                if end == End::Shown {
                    to.shutdown().await?;
                }
                return Ok(());
            }
            self.count(length)?;
            self.while_something_moves(to.write_all(&piece[..length])).await?;
        }
    }

    /// In either direction: who sends much hears little.
    async fn while_something_moves<T>(&self, step: impl Future<Output = io::Result<T>>) -> Result<T, Cut> {
        let mut step = std::pin::pin!(step);
        let idle = self.door.egress.limits.idle;
        loop {
            let before = self.moved.load(Ordering::Relaxed);
            match timeout(idle, &mut step).await {
                Ok(done) => return Ok(done?),
                Err(_) if self.moved.load(Ordering::Relaxed) == before => return Err(Cut::Over),
                Err(_) => {}
            }
        }
    }

    fn count(&self, length: usize) -> Result<(), Cut> {
        let EgressLimits { bytes_per_connection, bytes_in_all, .. } = self.door.egress.limits;
        let length = length as u64;
        if self.moved.fetch_add(length, Ordering::Relaxed) + length > bytes_per_connection {
            Err(Cut::Refused(Reason::TooMuch(bytes_per_connection)))
        } else if self.door.spent.fetch_add(length, Ordering::Relaxed) + length > bytes_in_all {
            Err(Cut::Refused(Reason::TooMuchInAll(bytes_in_all)))
        } else {
            Ok(())
        }
    }
}

/// Whether the other side is shown that nothing more comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Shown,
    /// A request whose end is known by its length: some servers take a half-closed connection for one given up.
    Known,
}

impl End {
    fn of(limit: u64) -> Self {
        if limit == u64::MAX { Self::Shown } else { Self::Known }
    }
}
