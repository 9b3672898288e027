//! Clients that are slow, many, or do not listen, over real sockets: each is bounded, and the others are served meanwhile.

#![expect(clippy::disallowed_methods, reason = "`tokio::test` builds its own executor")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::routing::{get, post};
use bytes::Bytes;
use futures_util::stream::repeat;
use rustls::ServerConfig;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use windlass_domain::Runtime;
use windlass_runtime::TokioRuntime;

use super::{Drain, Limits, Listener, Made};
use crate::ask::body_within;

const ASK: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

/// A server with these limits, and its end.
async fn serve(limits: Limits) -> (SocketAddr, Drain) {
    serve_by(limits, None).await
}

async fn serve_by(limits: Limits, tls: Option<Arc<ServerConfig>>) -> (SocketAddr, Drain) {
    let runtime: Arc<dyn Runtime> = Arc::new(TokioRuntime::current());
    let endless = || async {
        let piece = Ok::<_, std::convert::Infallible>(Bytes::from(vec![b'x'; 64 << 10]));
        Body::from_stream(repeat(piece))
    };
    let reader = Arc::clone(&runtime);
    let echo = move |body: Body| {
        let runtime = Arc::clone(&reader);
        async move { body_within(body, &limits, &*runtime).await }
    };
    let router =
        Router::new().route("/", get(async || "hello")).route("/endless", get(endless)).route("/echo", post(echo));
    let drain = Drain::default();
    let made = Made { router, runtime: Arc::clone(&runtime), limits, draining: drain.watched() };
    let listener = Listener::bind(SocketAddr::from(([127, 0, 0, 1], 0)), tls, made).await.expect("a port");
    let address = listener.local_addr().expect("an address");
    runtime.spawn(Box::pin(listener.run(Duration::from_secs(60))));
    (address, drain)
}

fn short() -> Limits {
    let moment = Duration::from_millis(50);
    Limits { head_patience: moment, body_patience: moment, write_patience: moment, connections: 4, ..Limits::default() }
}

/// All that is answered until the connection ends.
async fn said(stream: &mut TcpStream) -> Vec<u8> {
    let mut said = Vec::new();
    // However it ends, it has ended.
    let _ended = stream.read_to_end(&mut said).await;
    said
}

async fn is_served(address: SocketAddr) -> bool {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    stream.write_all(ASK).await.expect("it hears");
    said(&mut stream).await.ends_with(b"hello")
}

#[tokio::test]
async fn whoever_says_nothing_or_only_half_is_let_go() {
    let (address, _drain) = serve(short()).await;
    for half in [&b""[..], b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\n"] {
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        stream.write_all(half).await.expect("it hears");
        let _whatever_it_says = said(&mut stream).await;
    }
    // One that was answered and says nothing more, too.
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("it hears");
    assert!(said(&mut stream).await.ends_with(b"hello"));
    assert!(is_served(address).await);
}

#[tokio::test]
async fn whoever_does_not_read_is_cut_off() {
    let (address, _drain) = serve(Limits { connections: 1, ..short() }).await;
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    stream.write_all(b"GET /endless HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("it hears");
    // The only place is free again, though nobody read a byte.
    while !is_served_or_turned_away(address).await {}
}

/// Whether it was answered.
async fn is_served_or_turned_away(address: SocketAddr) -> bool {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    let _turned_away = stream.write_all(ASK).await;
    said(&mut stream).await.ends_with(b"hello")
}

#[tokio::test]
async fn there_are_so_many_places_and_no_more() {
    let limits = Limits { head_patience: Duration::from_secs(600), connections: 2, ..Limits::default() };
    let (address, _drain) = serve(limits).await;
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("it hears");
        let mut first = [0];
        stream.read_exact(&mut first).await.expect("an answer");
        held.push(stream);
    }
    let mut third = TcpStream::connect(address).await.expect("it listens");
    let _turned_away = third.write_all(ASK).await;
    assert_eq!(said(&mut third).await, b"");
    held.clear();
    while !is_served_or_turned_away(address).await {}
}

#[tokio::test]
async fn a_drain_ends_who_waits_and_turns_away_who_comes() {
    let limits = Limits { head_patience: Duration::from_secs(600), ..Limits::default() };
    let (address, drain) = serve(limits).await;
    let mut idle = TcpStream::connect(address).await.expect("it listens");
    idle.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("it hears");
    let mut first = [0];
    idle.read_exact(&mut first).await.expect("an answer");
    drain.begin();
    said(&mut idle).await;
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
}

/// Says so much of a body of eleven bytes, and then no more.
async fn begins(address: SocketAddr, body: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    let head = b"POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 11\r\n\r\n";
    let _turned_away = stream.write_all(&[head, body].concat()).await;
    stream
}

/// By whoever is not turned away because somebody else still has the place.
async fn answered(address: SocketAddr, body: &[u8]) -> Vec<u8> {
    loop {
        let answer = said(&mut begins(address, body).await).await;
        if !answer.is_empty() {
            return answer;
        }
    }
}

fn status(said: &[u8]) -> &str {
    std::str::from_utf8(said).ok().and_then(|said| said.split(' ').nth(1)).unwrap_or_default()
}

#[tokio::test]
async fn a_body_comes_in_time_or_its_sender_is_let_go() {
    let (address, _drain) = serve(Limits { connections: 1, ..short() }).await;
    for part in [&b""[..], b"hello worl"] {
        let answer = answered(address, part).await;
        assert_eq!(status(&answer), "408", "{}", String::from_utf8_lossy(&answer));
    }
    // The control, in the only place there is.
    let whole = answered(address, b"hello world").await;
    assert_eq!(status(&whole), "200");
    assert!(whole.ends_with(b"hello world"));
}

#[tokio::test]
async fn who_says_that_they_say_no_more_is_answered_or_told_what_is_missing() {
    let (address, _drain) = serve(Limits { body_patience: Duration::from_secs(600), ..Limits::default() }).await;
    // All of it was said: that nothing follows is no trouble.
    let mut whole = begins(address, b"hello world").await;
    whole.shutdown().await.expect("it is still open");
    assert!(said(&mut whole).await.ends_with(b"hello world"));
    // Some of it: it is not waited for, whatever patience there is.
    let mut part = begins(address, b"hello").await;
    part.shutdown().await.expect("it is still open");
    let answer = said(&mut part).await;
    assert!(["", "400"].contains(&status(&answer)), "{}", String::from_utf8_lossy(&answer));
    // Nothing, or half a head.
    for half in [&b""[..], b"GET / HT"] {
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        stream.write_all(half).await.expect("it hears");
        stream.shutdown().await.expect("it is still open");
        assert!(["", "400"].contains(&status(&said(&mut stream).await)));
    }
    assert!(is_served(address).await);
}

/// Has none; whoever gets as far as to need one has not been let go.
#[derive(Debug)]
struct NoCertificate;

impl ResolvesServerCert for NoCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        None
    }
}

fn tls() -> Arc<ServerConfig> {
    let builder = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().expect("it knows some");
    Arc::new(builder.with_no_client_auth().with_cert_resolver(Arc::new(NoCertificate)))
}

#[tokio::test]
async fn a_handshake_that_stalls_ends_and_leaves_its_place() {
    let (address, _drain) = serve_by(Limits { connections: 1, ..short() }, Some(tls())).await;
    // A record of a handshake that says it has 512 bytes, and has six.
    for stalled in [&b""[..], &[22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3]] {
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        stream.write_all(stalled).await.expect("it hears");
        assert_eq!(said(&mut stream).await, b"", "it ends, and nothing was said");
        // The only place is free again: who speaks no TLS is told so, by an alert of TLS.
        loop {
            let mut plain = TcpStream::connect(address).await.expect("it listens");
            let _turned_away = plain.write_all(ASK).await;
            if said(&mut plain).await.first() == Some(&21) {
                break;
            }
        }
    }
}
