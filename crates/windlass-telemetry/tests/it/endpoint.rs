//! The endpoint, over a real socket: what it answers and to whom.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use windlass_domain::Runtime;
use windlass_runtime::{Threads, TokioRuntime, executor};
use windlass_telemetry::{Endpoint, MayLook, Metric, Registry};

/// What each of these requests is answered, one connection for each.
fn answers(hosts: &[&str], requests: &[&str]) -> Vec<String> {
    let executor = executor(Threads::One).expect("an executor");
    executor.block_on(async {
        let runtime: Arc<dyn Runtime> = Arc::new(TokioRuntime::current());
        let registry = Arc::new(Registry::default());
        registry.add(Metric::count("agent.subagent.spawned", 3));
        let hosts = hosts.iter().map(|&host| host.to_owned()).collect();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let may_look: MayLook =
            Arc::new(|headers| headers.get("authorization").is_some_and(|said| said == "Bearer ours"));
        let endpoint =
            Endpoint::bind(address, hosts, may_look, registry, Arc::clone(&runtime)).await.expect("a free port");
        let address = endpoint.local_addr().expect("an address");
        runtime.spawn(Box::pin(endpoint.run()));
        let mut answers = Vec::new();
        for request in requests {
            let mut stream = TcpStream::connect(address).await.expect("a connection");
            stream.write_all(request.as_bytes()).await.expect("it is sent");
            let mut answer = Vec::new();
            let _cut_off = stream.read_to_end(&mut answer).await;
            answers.push(String::from_utf8_lossy(&answer).into_owned());
        }
        answers
    })
}

/// By somebody who may look.
#[track_caller]
fn check(hosts: &[&str], request: &str, status: &str) {
    let request = request.replacen("\r\n", "\r\nAuthorization: Bearer ours\r\n", 1);
    let answer = answers(hosts, &[&request]).remove(0);
    assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request:?}: {answer}");
    assert_eq!(answer.contains("agent_subagent_spawned 3\n"), status == "200", "{answer}");
}

#[test]
fn metrics_are_read_by_this_machine_s_own_names() {
    for host in ["localhost:9464", "127.0.0.1:9464", "127.0.0.1", "[::1]:9464", "LOCALHOST"] {
        check(&[], &format!("GET /metrics HTTP/1.1\r\nHost: {host}\r\n\r\n"), "200");
    }
}

#[test]
fn a_rebound_name_is_refused_unless_the_operator_listed_it() {
    let request = "GET /metrics HTTP/1.1\r\nHost: evil.example:9464\r\n\r\n";
    check(&[], request, "403");
    check(&["evil.example"], request, "200");
    check(&[], "GET /metrics HTTP/1.1\r\n\r\n", "403");
    check(&[], "GET /metrics HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", "403");
    check(&[], "GET /metrics HTTP/1.1\r\nHost: localhost.evil.example\r\n\r\n", "403");
}

#[test]
fn there_is_nothing_else() {
    check(&[], "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "404");
    check(&[], "POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", "405");
    let long = format!("GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(100_000));
    assert!(!answers(&[], &[&long])[0].contains("agent_"));
}

#[test]
fn nobody_looks_who_may_not() {
    for bearing in ["", "Authorization: Bearer theirs\r\n"] {
        let answer = answers(&[], &[&format!("GET /metrics HTTP/1.1\r\nHost: localhost\r\n{bearing}\r\n")]).remove(0);
        assert!(answer.starts_with("HTTP/1.1 401 ") && !answer.contains("agent_"), "{answer}");
        assert!(answer.to_lowercase().contains("www-authenticate: bearer"), "{answer}");
    }
}
