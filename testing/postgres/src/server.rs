//! The server: made, started, killed and started again. Its data is in memory where there is such a folder, so that a sync
//! costs nothing; it does sync.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::programs::{folder, installed, program, user};

/// What it says when it can be talked to.
const READY: &str = "database system is ready to accept connections";

const USER: &str = "postgres";

pub struct Server {
    bin: PathBuf,
    folder: TempDir,
    settings: Vec<String>,
    running: Option<Running>,
}

/// A server that speaks TLS as well, on a port of `localhost`.
pub struct Encrypted {
    pub server: Server,
    pub port: u16,
    /// Of who vouches for it.
    pub authority: PathBuf,
}

struct Running {
    postmaster: Child,
    /// Ends when the last of the server's processes has.
    log: JoinHandle<Vec<String>>,
}

impl Server {
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// Whether there is anything to start.
    pub fn is_installed() -> bool {
        installed().is_some()
    }

    /// With its data in this folder, which everybody may enter: on its disk a sync costs what it costs.
    pub fn start_in(place: &Path) -> Self {
        let folder = tempfile::Builder::new().prefix("pg").tempdir_in(place).expect("a folder");
        let mut server = Self::made_in(folder, &[]);
        server.run();
        server
    }

    /// With a certificate for this name, of an authority of its own.
    pub fn start_encrypted(name: &str) -> Encrypted {
        let mut server = Self::made(&[]);
        let folder = server.folder.path().display().to_string();
        certify(&folder, name);
        // Free until somebody else is quicker.
        let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
        server.settings = vec![
            "ssl=on".to_owned(),
            format!("ssl_cert_file={folder}/server.pem"),
            format!("ssl_key_file={folder}/server.key"),
            "listen_addresses=localhost".to_owned(),
            format!("port={port}"),
        ];
        server.run();
        let authority = server.folder.path().join("ca.pem");
        Encrypted { server, port, authority }
    }

    /// With further settings, as `name=value`.
    pub fn start_with(settings: &[&str]) -> Self {
        let mut server = Self::made(settings);
        server.run();
        server
    }

    fn made(settings: &[&str]) -> Self {
        let folder_in_memory = tempfile::Builder::new().prefix("pg").tempdir_in("/dev/shm");
        Self::made_in(folder_in_memory.or_else(|_| tempfile::tempdir()).expect("a folder"), settings)
    }

    fn made_in(place: TempDir, settings: &[&str]) -> Self {
        let server = Self {
            bin: folder(),
            folder: place,
            settings: settings.iter().map(|setting| (*setting).to_owned()).collect(),
            running: None,
        };
        if let Some((user, group)) = user() {
            chown(server.folder.path(), Some(user), Some(group)).expect("root may give folders away");
        }
        let made = program(&server.bin, "initdb")
            .args([
                "--no-sync",
                "--auth",
                "trust",
                "--encoding",
                "UTF8",
                "--locale",
                "C",
                "--username",
                USER,
                "--pgdata",
            ])
            .arg(server.data())
            .output()
            .expect("initdb runs");
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        server
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Where its socket is.
    pub fn socket_folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn url(&self, database: &str) -> String {
        let folder = self.folder.path().display().to_string().replace('/', "%2F");
        format!("postgres://{USER}@{folder}/{database}")
    }

    /// Makes a database of this name, and says where it is.
    pub fn database(&self, name: &str) -> String {
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        self.url(name)
    }

    /// What `psql` answers, without names of columns.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        self.psql(database, sql).unwrap_or_else(|said| panic!("{sql}: {said}"))
    }

    /// The same, where the server may not answer.
    pub fn psql(&self, database: &str, sql: &str) -> Result<String, String> {
        let ran = self
            .program("psql")
            .args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set", "ON_ERROR_STOP=1"])
            .args(["--dbname", database, "--command", sql])
            .output()
            .expect("psql runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if ran.status.success() { Ok(text(&ran.stdout)) } else { Err(text(&ran.stderr)) }
    }

    /// One of PostgreSQL's programs, told where the server is.
    pub fn program(&self, name: &str) -> std::process::Command {
        let mut command = program(&self.bin, name);
        command.env("PGHOST", self.folder.path()).env("PGUSER", USER);
        command
    }

    /// Starts it again, on the same data.
    pub fn run(&mut self) {
        let mut command = program(&self.bin, "postgres");
        command.arg("-D").arg(self.data()).arg("-k").arg(self.folder.path()).args(["-c", "listen_addresses="]);
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        let mut postmaster =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("postgres runs");
        let said = BufReader::new(postmaster.stderr.take().expect("piped"));
        let (ready, is_ready) = mpsc::channel();
        #[expect(clippy::disallowed_methods, reason = "somebody must read what the server says")]
        let log = std::thread::spawn(move || {
            let mut log = Vec::new();
            for line in said.lines().map_while(Result::ok) {
                if line.contains(READY) {
                    // Whoever waited may have given up.
                    let _ = ready.send(());
                }
                log.push(line);
            }
            log
        });
        if is_ready.recv().is_err() {
            let log = log.join().expect("it only reads");
            panic!("PostgreSQL did not start: {}", log.join("\n"));
        }
        self.running = Some(Running { postmaster, log });
    }

    /// As a power cut would: every process of it at once, and none is asked.
    pub fn kill(&mut self) {
        let Some(Running { mut postmaster, log }) = self.running.take() else { return };
        let children = format!("/proc/{0}/task/{0}/children", postmaster.id());
        let children = std::fs::read_to_string(children).unwrap_or_default();
        postmaster.kill().expect("it is ours to kill");
        for child in children.split_whitespace().filter_map(|child| Pid::from_raw(child.parse().ok()?)) {
            // It may have ended by itself by now.
            let _ = kill_process(child, Signal::KILL);
        }
        postmaster.wait().expect("it ends");
        log.join().expect("it only reads");
    }
}

fn certify(folder: &str, name: &str) {
    let openssl = |words: &[&str]| {
        let ran = program(Path::new("/usr/bin"), "openssl").args(words).output().expect("openssl runs");
        assert!(ran.status.success(), "openssl {words:?}: {}", String::from_utf8_lossy(&ran.stderr));
    };
    let file = |name: &str| format!("{folder}/{name}");
    let key = ["-newkey", "rsa:2048", "-nodes"];
    let authority = [&["req", "-x509", "-days", "30", "-subj", "/CN=test authority"][..], &key].concat();
    openssl(&[&authority[..], &["-keyout", &file("ca.key"), "-out", &file("ca.pem")]].concat());
    let (subject, names) = (format!("/CN={name}"), format!("subjectAltName=DNS:{name}"));
    let request = [&["req", "-subj", &subject, "-addext", &names][..], &key].concat();
    openssl(&[&request[..], &["-keyout", &file("server.key"), "-out", &file("server.csr")]].concat());
    let (csr, ca, ca_key, out) = (file("server.csr"), file("ca.pem"), file("ca.key"), file("server.pem"));
    let sign = ["x509", "-req", "-days", "30", "-in", &csr, "-CA", &ca, "-CAkey", &ca_key, "-CAcreateserial"];
    openssl(&[&sign[..], &["-copy_extensions", "copy", "-out", &out]].concat());
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
