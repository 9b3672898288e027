//! A small internet for a browser: names that lead to one server of the test's own, which answers by host and path, and
//! remembers what it was asked. It is reached through the sandbox's egress proxy, as the real one would be.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use windlass_domain::{Canceller, Runtime, Stop};
use windlass_sandbox::{BoxFuture, Outside};

const PUBLIC: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(93, 184, 215, 14));

pub struct World {
    server: SocketAddr,
    /// Answers by `host/path`.
    pages: Mutex<BTreeMap<String, String>>,
    /// `METHOD host/path body`.
    asked: Mutex<Vec<String>>,
    dialled: Mutex<Vec<SocketAddr>>,
    /// Stopped once somebody waits for `/never`, which is not answered.
    pub waited_for: Canceller,
}

impl World {
    pub async fn new(runtime: Arc<dyn Runtime>) -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let server = listener.local_addr().expect("an address");
        let (pages, asked, dialled, waited_for) = Default::default();
        let world = Arc::new(Self { server, pages, asked, dialled, waited_for });
        let serving = Arc::clone(&world);
        let spawner = Arc::clone(&runtime);
        runtime.spawn(Box::pin(async move {
            while let Ok((client, _)) = listener.accept().await {
                let world = Arc::clone(&serving);
                spawner.spawn(Box::pin(async move {
                    let _ = world.serve(client).await;
                }));
            }
        }));
        world
    }

    /// HTML, unless it begins with a head of its own.
    pub fn put(&self, address: &str, page: &str) {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8";
        let whole = if page.starts_with("HTTP/") { page.to_owned() } else { format!("{head}\r\n\r\n{page}") };
        self.pages.lock().expect("a lock").insert(address.to_owned(), whole);
    }

    /// What was asked with a method and address that begin so.
    pub fn asked(&self, beginning: &str) -> Vec<String> {
        self.asked.lock().expect("a lock").iter().filter(|asked| asked.starts_with(beginning)).cloned().collect()
    }

    pub fn dialled(&self, address: &str) -> bool {
        self.dialled.lock().expect("a lock").iter().any(|dialled| dialled.ip().to_string() == address)
    }

    async fn serve(&self, mut client: TcpStream) -> io::Result<()> {
        let mut said = Vec::new();
        let (head, mut body) = loop {
            if client.read_buf(&mut said).await? == 0 {
                return Ok(());
            }
            let text = String::from_utf8_lossy(&said).into_owned();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                break (head.to_owned(), body.to_owned());
            }
        };
        let header = |name: &str| {
            let line = head.lines().find(|line| line.to_lowercase().starts_with(&format!("{name}:")));
            line.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim().to_owned())
        };
        let length: usize = header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        while body.len() < length {
            let mut more = vec![0; 4_096];
            let read = client.read(&mut more).await?;
            if read == 0 {
                break;
            }
            body.push_str(&String::from_utf8_lossy(&more[..read]));
        }
        let mut words = head.split_whitespace();
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let address = format!("{}{path}", header("host").unwrap_or_default());
        self.asked.lock().expect("a lock").push(format!("{method} {address} {body}").trim_end().to_owned());
        if path == "/never" {
            self.waited_for.stop(Stop::Cancel);
            return std::future::pending().await;
        }
        let plain = address.split('?').next().unwrap_or_default();
        let page = self.pages.lock().expect("a lock").get(plain).cloned();
        let page =
            page.unwrap_or_else(|| "HTTP/1.1 404 Not Found\r\ncontent-type: text/plain\r\n\r\nnothing here".to_owned());
        let (head, content) = page.split_once("\r\n\r\n").unwrap_or((&page, ""));
        let whole = format!("{head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{content}", content.len());
        client.write_all(whole.as_bytes()).await?;
        client.shutdown().await
    }
}

impl Outside for World {
    fn resolve<'a>(&'a self, _: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(std::future::ready(Ok(vec![PUBLIC])))
    }

    fn connect(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>> {
        self.dialled.lock().expect("a lock").push(address);
        Box::pin(TcpStream::connect(self.server))
    }
}
