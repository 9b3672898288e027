//! Clients that are slow, many, or do not listen, over real sockets: each is bounded, and the others are served meanwhile.

#![expect(clippy::disallowed_methods, reason = "`tokio::test` builds its own executor")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::routing::{get, post};
use axum::{Extension, Router};
use bytes::Bytes;
use futures_util::stream::repeat;
use rustls::ServerConfig;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{Notify, watch};
use windlass_domain::Runtime;
use windlass_runtime::TokioRuntime;

use super::{Drain, ForAnybody, Limits, Listener, Made};
use crate::ask::body_within;

const ASK: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

/// A server with these limits, and its end.
async fn serve(limits: Limits) -> (SocketAddr, Drain) {
    serve_by(limits, None).await
}

async fn serve_by(limits: Limits, tls: Option<Arc<ServerConfig>>) -> (SocketAddr, Drain) {
    let (_, open) = watch::channel(true);
    serve_with(limits, tls, (Arc::default(), open)).await
}

/// `/slow` says that it has begun, and answers once it may.
async fn serve_with(
    limits: Limits,
    tls: Option<Arc<ServerConfig>>,
    gate: (Arc<Notify>, watch::Receiver<bool>),
) -> (SocketAddr, Drain) {
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
    let (begun, gone_on) = gate;
    let slow = move || {
        let (begun, mut gone_on) = (begun.clone(), gone_on.clone());
        async move {
            begun.notify_one();
            gone_on.wait_for(|gone_on| *gone_on).await.map(|_| "at last").unwrap_or_default()
        }
    };
    let router = Router::new()
        .route("/", get(async || "hello"))
        .route("/slow", get(slow))
        .route("/endless", get(endless))
        .route("/for-anybody", get(async move || (Extension(ForAnybody), endless().await)))
        .route("/echo", post(echo));
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
        stream.write_all(b"GET /endless HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("it hears");
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
async fn whoever_asks_for_nothing_keeps_nobody_out() {
    let long = Duration::from_secs(600);
    let limits = Limits { head_patience: long, write_patience: long, connections: 3, ..Limits::default() };
    let (address, _drain) = serve(limits).await;
    let mut held = Vec::new();
    for said in [&b""[..], b"GET / HTTP/1.1\r\nHo", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"", b"G", b""] {
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        stream.write_all(said).await.expect("it hears");
        held.push(stream);
        assert!(is_served(address).await, "beside {} who only hold a place", held.len());
    }
    // Nor does whoever takes their time to read what is for anybody.
    let mut slow = Vec::new();
    for _ in 0..4 {
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        stream.write_all(b"GET /for-anybody HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("it hears");
        let mut first = [0];
        stream.read_exact(&mut first).await.expect("an answer");
        slow.push(stream);
        assert!(is_served(address).await, "beside {} who read nothing", slow.len());
    }
    // The first of them were let go, though nobody's patience is over.
    for stream in held.iter_mut().take(3) {
        let _whatever_it_says = said(stream).await;
    }
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

#[tokio::test]
async fn whoever_says_no_more_hears_what_takes_a_while() {
    let (begun, (let_go_on, gone_on)) = (Arc::<Notify>::default(), watch::channel(false));
    let (address, _drain) = serve_with(Limits::default(), None, (Arc::clone(&begun), gone_on)).await;
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    stream.write_all(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("it hears");
    begun.notified().await;
    stream.shutdown().await.expect("it is still open");
    // That nothing more comes is known by the time somebody who came later is served.
    assert!(is_served(address).await);
    let_go_on.send_replace(true);
    let heard = said(&mut stream).await;
    assert!(heard.ends_with(b"at last"), "{}", String::from_utf8_lossy(&heard));
}

/// Where something in front of this server goes by the length, and it by the pieces, the rest is no request of anybody's (RFC 9112, 6.1).
#[tokio::test]
async fn what_follows_a_body_of_two_lengths_is_no_request() {
    let (address, _drain) = serve(Limits::default()).await;
    let (by_length, in_pieces) = ("Content-Length: 4\r\n", "Transfer-Encoding: chunked\r\n");
    for (one, other, answers) in [(by_length, in_pieces, 1), (in_pieces, by_length, 1), (in_pieces, "", 2)] {
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        let smuggled = "2\r\nhi\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        let asked = format!("POST /echo HTTP/1.1\r\nHost: x\r\n{one}{other}\r\n{smuggled}");
        stream.write_all(asked.as_bytes()).await.expect("it hears");
        let heard = String::from_utf8(said(&mut stream).await).expect("letters");
        assert_eq!(heard.matches("HTTP/1.1 200").count(), answers, "{one}{other}: {heard}");
    }
}

/// What two servers could read in two ways is read by none.
#[tokio::test]
async fn a_head_that_could_mean_two_things_is_refused() {
    let (address, _drain) = serve(Limits::default()).await;
    let huge = format!("X: {}\r\n", "x".repeat(40 << 10));
    let many: String = (0..200).map(|number| format!("X{number}: x\r\n")).collect();
    for (line, head) in [
        ("POST /echo HTTP/1.1", "Content-Length: 2\r\nContent-Length: 3\r\n"),
        ("POST /echo HTTP/1.1", "Content-Length: 2, 3\r\n"),
        ("POST /echo HTTP/1.1", "Content-Length: +2\r\n"),
        ("POST /echo HTTP/1.1", "Content-Length: -2\r\n"),
        ("POST /echo HTTP/1.1", "Content-Length: 0x2\r\n"),
        ("POST /echo HTTP/1.1", "Transfer-Encoding: xchunked\r\n"),
        ("POST /echo HTTP/1.1", "Transfer-Encoding: chunked, identity\r\n"),
        ("POST /echo HTTP/1.0", "Transfer-Encoding: chunked\r\n"),
        ("POST /echo HTTP/1.1", "Transfer-Encoding : chunked\r\n"),
        ("GET / HTTP/1.1", "X: one\r\n two\r\n"),
        ("GET / HTTP/1.1", " Host: y\r\n"),
        ("GET / HTTP/1.1", "no colon\r\n"),
        ("GET / HTTP/1.1", "X: \0\r\n"),
        ("GET / HTTP/3.0", ""),
        ("GET /\t HTTP/1.1", ""),
        ("GET / HTTP/1.1", huge.as_str()),
        ("GET / HTTP/1.1", many.as_str()),
    ] {
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        let asked = format!("{line}\r\nHost: x\r\n{head}\r\nhi");
        let _cut_off = stream.write_all(asked.as_bytes()).await;
        let heard = said(&mut stream).await;
        let shown = String::from_utf8_lossy(&heard).into_owned();
        assert!(["400", "431", "505", ""].contains(&status(&heard)), "{line} {head:.60}: {shown}");
        assert!(shown.matches("HTTP/1.").count() <= 1, "{line} {head:.60}: {shown}");
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
