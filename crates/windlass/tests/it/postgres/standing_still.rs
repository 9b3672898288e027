//! A worker that stood still for longer than its lease lasts, and was taken for dead where nothing but heartbeats tells.

use std::fs::{self, File};
use std::io::Write as _;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::Signal;
use windlass_postgres_server::Server;

use super::store::on;
use crate::support::{Home, Ledger, none_left};

/// Its first command ends when somebody says so.
const WAITER: &str = r#"
version: 1
tracks:
  default:
    - reply: This takes as long as it takes.
      calls:
        - tool: bash
          args: { command: "echo begun > ledger; read word < gate; echo ended > ledger", timeout_seconds: 3600 }
      usage: { input: 900, output: 40 }
    - reply: Done.
      usage: { input: 900, output: 10 }
"#;

#[test]
fn whoever_comes_back_after_its_lease_was_taken_writes_nothing() {
    let (server, home) = (Server::start(), Home::playing(WAITER));
    let url = server.database("windlass");
    let mut ledger = Ledger::open(&home);
    let gate = home.workspace().join("gate");
    mknodat(CWD, &gate, FileType::Fifo, Mode::from_raw_mode(0o666), 0).expect("a pipe with a name");
    let mut gate = File::options().read(true).write(true).open(gate).expect("the pipe opens");
    on(&url, home.run(&["--detach"])).run().expect(0);
    let sleeper = on(&url, home.windlass(&["worker"])).start();
    ledger.wait_for("begun");
    sleeper.signal(Signal::STOP);
    // Its lock would say that it lives, and nobody would take anything from it.
    let locks: Vec<_> = fs::read_dir(home.data().join("owners")).expect("locks").flatten().collect();
    assert_eq!(locks.len(), 1, "{locks:?}");
    let (lock, elsewhere) = (locks[0].path(), home.path().join("lock"));
    fs::rename(&lock, &elsewhere).expect("moved");
    let mut other = on(&url, home.windlass(&["worker"])).start();
    other.wait_for(|line| line.contains("  completed"));
    let journal = || on(&url, home.windlass(&["log", "--json"])).run().expect(0).stdout;
    let before = journal();
    fs::rename(&elsewhere, &lock).expect("moved back, for it to take away when it ends");
    sleeper.signal(Signal::CONT);
    gate.write_all(b"go\n").expect("the pipe has room");
    sleeper.signal(Signal::TERM);
    let said = sleeper.end().expect(0).stdout;
    assert!(!said.contains("completed"), "{said}");
    assert_eq!(journal(), before);
    other.signal(Signal::TERM);
    other.end().expect(0);
    assert_eq!(ledger.count().get("begun"), Some(&1), "and nothing twice");
    assert_eq!(server.sql("windlass", "SELECT count(*) FROM windlass.leases WHERE owner IS NOT NULL"), "0");
    on(&url, home.windlass(&["audit", "verify"])).run().expect(0);
    none_left(&home);
}
