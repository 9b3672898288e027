//! A network of our own: names that lead where a test says, and one server that answers, however badly, at every address.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use windlass_domain::Runtime as _;
use windlass_sandbox::{Addresses, BoxFuture, Hosts, Outside, dial};
use windlass_tools::web::{Dialer, FetchLimits, Fetcher, Public, Tls};
use windlass_tools::{Confinement, Kit, Toolset};

use crate::support::Bench;

/// What the server does with one connection, after the request's head.
#[derive(Clone)]
pub enum Act {
    /// Says this and closes.
    Say(Vec<u8>),
    /// Says this and nothing more, with the connection open.
    FallSilent(Vec<u8>),
    /// Says the first, then the second for as long as anybody listens.
    Forever(Vec<u8>, Vec<u8>),
}

pub fn page(headers: &str, body: impl AsRef<[u8]>) -> Act {
    let head = format!("HTTP/1.1 200 OK\r\n{headers}content-length: {}\r\n\r\n", body.as_ref().len());
    Act::Say([head.as_bytes(), body.as_ref()].concat())
}

pub fn redirect(to: &str) -> Act {
    Act::Say(format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n").into_bytes())
}

/// Everything outside: every address is the one server.
pub struct Elsewhere {
    names: Mutex<BTreeMap<String, VecDeque<Vec<IpAddr>>>>,
    server: SocketAddr,
    pub asked: Arc<Mutex<Vec<String>>>,
    pub reached: Mutex<Vec<SocketAddr>>,
}

impl Elsewhere {
    /// `acts` are played one for each connection, the last one for ever.
    pub fn new(bench: &Bench, acts: Vec<Act>) -> Arc<Self> {
        let listener = bench.wait(TcpListener::bind("127.0.0.1:0")).unwrap();
        let server = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heads = Arc::clone(&asked);
        let runtime = bench.runtime();
        let spawner = bench.runtime();
        runtime.spawn(Box::pin(async move {
            let mut acts = VecDeque::from(acts);
            while let Ok((stream, _)) = listener.accept().await {
                let act = if acts.len() > 1 { acts.pop_front() } else { acts.front().cloned() };
                spawner.spawn(Box::pin(serve(stream, act.unwrap(), Arc::clone(&heads))));
            }
        }));
        Arc::new(Self { names: Mutex::default(), server, asked, reached: Mutex::default() })
    }

    pub fn server(&self) -> SocketAddr {
        self.server
    }

    /// What the name leads to, each time it is asked for; the last for ever.
    pub fn name(&self, name: &str, answers: &[&str]) {
        let answers = answers.iter().map(|all| all.split(' ').map(|one| one.parse().unwrap()).collect()).collect();
        self.names.lock().unwrap().insert(name.to_owned(), answers);
    }
}

async fn serve(mut stream: TcpStream, act: Act, heads: Arc<Mutex<Vec<String>>>) {
    let mut head = Vec::new();
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        match stream.read_buf(&mut head).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
    heads.lock().unwrap().push(String::from_utf8_lossy(&head).into_owned());
    match act {
        Act::Say(bytes) => drop(stream.write_all(&bytes).await),
        Act::FallSilent(bytes) => {
            let _ = stream.write_all(&bytes).await;
            let _ = stream.read(&mut [0; 64]).await;
        }
        Act::Forever(first, then) => {
            let _ = stream.write_all(&first).await;
            while stream.write_all(&then).await.is_ok() {}
        }
    }
}

impl Outside for Elsewhere {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let mut names = self.names.lock().unwrap();
        let found = names
            .get_mut(name)
            .map(|answers| if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() });
        Box::pin(async move { found.flatten().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound)) })
    }

    fn connect(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>> {
        self.reached.lock().unwrap().push(address);
        Box::pin(TcpStream::connect(self.server))
    }
}

/// The defence off: whatever address it is.
struct Careless(Arc<Elsewhere>);

impl Dialer for Careless {
    fn connect<'a>(&'a self, host: &'a str, port: u16) -> BoxFuture<'a, Result<TcpStream, String>> {
        Box::pin(async move {
            dial(self.0.as_ref(), host, port, Addresses::Any).await.map_err(|refused| refused.to_string())
        })
    }
}

pub fn hasty() -> FetchLimits {
    FetchLimits { bytes: 100_000, time: Duration::from_millis(500), redirects: 5 }
}

pub fn limits() -> FetchLimits {
    FetchLimits { bytes: 100_000, ..FetchLimits::default() }
}

fn with(bench: &Bench, dialer: Arc<dyn Dialer>, limits: FetchLimits) -> Toolset {
    let mut context = bench.context();
    let fetcher = Fetcher::new(dialer, bench.runtime(), Arc::new(Tls::default()), limits);
    context.web.fetcher = Some(Arc::new(fetcher));
    Toolset::new(context, Kit::executor(Confinement::Sealed))
}

/// Tools that fetch as they do in earnest.
pub fn careful(bench: &Bench, elsewhere: &Arc<Elsewhere>, limits: FetchLimits) -> Toolset {
    listing(bench, elsewhere, limits, &[])
}

/// The same, with these hosts in the operator's list.
pub fn listing(bench: &Bench, elsewhere: &Arc<Elsewhere>, limits: FetchLimits, hosts: &[&str]) -> Toolset {
    let outside: Arc<dyn Outside> = elsewhere.clone();
    with(bench, Arc::new(Public::over(outside, Hosts::parse(hosts).unwrap())), limits)
}

/// Tools that connect to whatever they are told.
pub fn careless(bench: &Bench, elsewhere: &Arc<Elsewhere>, limits: FetchLimits) -> Toolset {
    with(bench, Arc::new(Careless(Arc::clone(elsewhere))), limits)
}
