//! Redis over TLS: whoever trusts its certificate is heard, and whoever does not says nothing to it.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;
use serde_json::json;
use tempfile::TempDir;

use super::server::Redis;
use super::streams::{command, home};
use crate::support::{Home, Running, none_left};

/// Writes nothing and asks nobody.
const BRIEF: &str = r#"
version: 1
tracks:
  executor:
    - reply: Done.
      repeat: forever
      usage: { input: 90, output: 10 }
"#;

struct Encrypted {
    redis: Redis,
    port: u16,
    certificate: PathBuf,
    _folder: TempDir,
}

/// Its certificate is its own authority.
fn encrypted() -> Encrypted {
    let folder = TempDir::with_prefix("windlass-redis-tls-").expect("a temporary folder");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (key, certificate) = (file("key.pem"), file("certificate.pem"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-keyout", &key, "-out", &certificate])
        .output()
        .expect("openssl is installed: scripts/setup redis");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    // Free until somebody else is quicker.
    let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
    let number = port.to_string();
    let tls = ["--tls-port", &number, "--tls-cert-file", &certificate, "--tls-key-file", &key];
    let redis = Redis::start_with(&[&tls[..], &["--tls-auth-clients", "no", "--appendonly", "no"]].concat());
    Encrypted { redis, port, certificate: certificate.into(), _folder: folder }
}

fn serve(home: &Home, port: u16, trusted: Option<&Path>) -> Running {
    let serving = home.windlass(&["serve", "--listen", "127.0.0.1:0", "--drain", "5"]);
    let serving = serving.env("REDIS_URL", &format!("rediss://localhost:{port}/"));
    let trusted = trusted.map(|file| file.display().to_string());
    trusted.iter().fold(serving, |serving, file| serving.env("SSL_CERT_FILE", file)).start()
}

#[test]
fn a_command_is_carried_out_over_tls() {
    let (encrypted, home) = (encrypted(), home(BRIEF));
    let serving = serve(&home, encrypted.port, Some(&encrypted.certificate));
    encrypted.redis.put("task-command", &command("talk", "order-1"));
    let result = encrypted.redis.wait_for("task-result", |entry| entry["task_id"] == "order-1");
    assert_eq!(result["status"], json!("COMPLETED"), "{result}");
    serving.signal(Signal::TERM);
    serving.end().expect(0);
    none_left(&home);
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_refused() {
    let (encrypted, home) = (encrypted(), home(BRIEF));
    encrypted.redis.put("task-command", &command("talk", "order-1"));
    let mut serving = serve(&home, encrypted.port, None);
    let said = serving.wait_for(|line| line.starts_with("trouble"));
    assert!(said.contains("Redis"), "{said}");
    serving.signal(Signal::TERM);
    serving.end().expect(0);
    assert!(encrypted.redis.entries("task-result").is_empty());
}
