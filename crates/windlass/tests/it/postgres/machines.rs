//! Runs and workers on it, moving to it, several machines, copies.

use std::fs;

use rustix::process::Signal;
use windlass_postgres_server::Server;

use super::store::on;
use crate::cli::scripts::{HELLO, SLEEPER};
use crate::support::{Ended, Home, Ledger, Program, none_left};

fn audit(home: &Home, url: &str) -> Ended {
    on(url, home.windlass(&["audit", "verify"])).run()
}

/// The standing of each task.
fn standings(program: Program) -> Vec<String> {
    let told = program.run().expect(0).objects();
    told.iter().filter_map(|told| Some(told["standing"].as_str()?.to_owned())).collect()
}

#[test]
fn a_run_is_kept_there_and_nothing_of_it_in_the_data_directory_s_database() {
    let (server, home) = (Server::start(), Home::playing(HELLO));
    let url = server.database("windlass");
    on(&url, home.run(&["--base-case", "command: test -e hello.txt"])).run().expect(0);
    assert_eq!(home.read("hello.txt"), "hi\n");
    assert!(!home.data().join("windlass.db").exists());
    assert_eq!(standings(on(&url, home.windlass(&["status", "--json"]))), ["verified"]);
    let log = on(&url, home.windlass(&["log"])).run().expect(0).stdout;
    assert!(log.contains("hello.txt"), "{log}");
    audit(&home, &url).expect(0);
    // The file says it as well as the variable.
    fs::write(home.data().join("windlass.toml"), format!("[store]\nurl = \"{url}\"\n")).expect("written");
    assert_eq!(standings(home.windlass(&["status", "--json"])), ["verified"]);
    let doctor = home.windlass(&["doctor"]).run().stdout;
    assert!(doctor.contains("postgres://"), "{doctor}");
}

#[test]
fn a_store_that_cannot_be_used_is_said_to_be_and_no_other_is_taken_instead() {
    let home = Home::playing(HELLO);
    for (url, said, code) in [
        ("postgres://me:tellnobody@localhost:1/windlass", "cannot be reached", 1),
        ("mysql://me:tellnobody@localhost/windlass", "does not begin with postgres://", 2),
        ("postgres://me:tellnobody@localhost/windlass?sslmode=maybe", "sslmode is disable", 2),
    ] {
        for words in
            [&["status"][..], &["cancel", "x"], &["inbox"], &["store", "migrate", "--from", "sqlite", "--to", url]]
        {
            let ended = on(url, home.windlass(words)).run();
            assert!(!ended.stderr.contains("tellnobody"), "{}", ended.stderr);
            if words[0] != "store" {
                let stderr = ended.expect(code).stderr;
                assert!(stderr.contains(said), "{words:?}: {stderr}");
            }
        }
    }
    let wrong = "[store]\nurll = \"postgres://me:tellnobody@localhost/windlass\"\n";
    fs::create_dir_all(home.data()).expect("a data directory");
    fs::write(home.data().join("windlass.toml"), wrong).expect("written");
    let stderr = home.run(&[]).run().expect(2).stderr;
    assert!(stderr.contains("urll") && !stderr.contains("tellnobody"), "{stderr}");
    assert!(!home.data().join("windlass.db").exists(), "nobody looked into another store");
}

#[test]
fn what_was_begun_in_the_data_directory_is_moved_and_ends_there() {
    let (server, home) = (Server::start(), Home::playing(HELLO));
    let url = server.database("windlass");
    home.run(&["--base-case", "command: test -e hello.txt"]).run().expect(0);
    fs::remove_file(home.workspace().join("hello.txt")).expect("it was made");
    home.run(&["--detach"]).run().expect(0);
    let before = home.windlass(&["status", "--json"]).run().expect(0).stdout;
    let to = ["store", "migrate", "--from", "sqlite", "--to", &url];
    let moved = home.windlass(&[&to[..], &["--json"]].concat()).run().expect(0).result();
    assert!(moved["moved"]["events"].as_u64().is_some_and(|events| events > 5), "{moved}");
    assert!(home.data().join("windlass.db.moved").exists() && !home.data().join("windlass.db").exists());
    assert_eq!(on(&url, home.windlass(&["status", "--json"])).run().expect(0).stdout, before);
    // The heads that were signed before the move hold after it.
    let verified = audit(&home, &url).expect(0).stdout;
    assert!(!verified.contains("no signed head"), "{verified}");
    on(&url, home.windlass(&["worker", "--until-idle"])).run().expect(0);
    assert_eq!(home.read("hello.txt"), "hi\n");
    audit(&home, &url).expect(0);
    // Whoever forgets to say where the store is finds none, and is told rather than let begin anew.
    let words = [&["status"][..], &["worker", "--until-idle"], &["audit", "verify"], &to];
    for program in words.map(|words| home.windlass(words)).into_iter().chain([home.run(&[])]) {
        let stderr = program.run().expect(2).stderr;
        assert!(stderr.contains("was moved to PostgreSQL") && stderr.contains("`[store] url`"), "{stderr}");
    }
    let doctor = home.windlass(&["doctor"]).run().expect(1).stdout;
    assert!(doctor.contains("was moved to PostgreSQL"), "{doctor}");
    assert!(!home.data().join("windlass.db").exists(), "nothing was begun");
    // The control: this is how one begins anew.
    fs::remove_file(home.data().join("windlass.db.moved")).expect("it is there");
    assert_eq!(standings(home.windlass(&["status", "--json"])), Vec::<String>::new());
}

/// Each has a data directory of its own, hence a name of its own.
#[test]
fn machines_leave_each_other_s_tasks_and_take_over_from_their_own_dead() {
    let (server, ship, shore) = (Server::start(), Home::playing(SLEEPER), Home::playing(HELLO));
    let url = server.database("windlass");
    let mut ledger = Ledger::open(&ship);
    on(&url, ship.run(&["--detach"])).run().expect(0);
    // Of another machine: it sees the task and leaves it, and says so.
    let left = format!("leaves a task to {}, where the work is\n", name(&ship));
    assert_eq!(on(&url, shore.windlass(&["worker", "--until-idle"])).run().expect(0).stdout, left);
    assert_eq!(standings(on(&url, shore.windlass(&["status", "--json"]))), ["queued"]);
    let worker = on(&url, ship.windlass(&["worker"])).start();
    ledger.wait_for("begun");
    worker.signal(Signal::KILL);
    assert!(worker.end().was_killed());
    assert_eq!(on(&url, shore.windlass(&["worker", "--until-idle"])).run().expect(0).stdout, left);
    let mut other = on(&url, ship.windlass(&["worker"])).start();
    other.wait_for(|line| line.contains("  completed"));
    other.signal(Signal::TERM);
    other.end().expect(0);
    assert_eq!(ledger.count().into_iter().collect::<Vec<_>>(), [("begun".to_owned(), 1)], "and nothing twice");
    // What is the other machine's own is done there meanwhile.
    on(&url, shore.run(&[])).run().expect(0);
    assert_eq!(shore.read("hello.txt"), "hi\n");
    audit(&ship, &url).expect(0);
    audit(&shore, &url).expect(0);
    none_left(&ship);
}

fn name(home: &Home) -> String {
    fs::read_to_string(home.data().join("machine")).expect("it has a name").trim().to_owned()
}

/// One has its disk, and is that machine; what nobody has is ended, wherever somebody says so.
#[test]
fn what_a_lost_machine_had_goes_on_with_its_disk_or_is_ended_from_elsewhere() {
    let (server, ship, shore, raft) = (Server::start(), Home::playing(SLEEPER), Home::new(), Home::new());
    let url = server.database("windlass");
    let mut ledger = Ledger::open(&ship);
    let submit = || {
        let taken = on(&url, ship.run(&["--detach", "--json"])).run().expect(0).result();
        taken["task_id"].as_str().expect("a task").to_owned()
    };
    let begun = submit();
    let worker = on(&url, ship.windlass(&["worker"])).start();
    ledger.wait_for("begun");
    worker.signal(Signal::KILL);
    assert!(worker.end().was_killed());
    fs::write(ship.script(), HELLO).expect("written");
    let [second, third] = [submit(), submit()];
    let lost = name(&ship);
    let from_shore = |words: &[&str]| on(&url, shore.windlass(words)).run();
    let status = from_shore(&["status", &begun]).expect(0).stdout;
    assert!(status.contains(&format!("is on {lost}, and left to it")), "{status}");
    assert_eq!(from_shore(&["status", &begun, "--json"]).expect(0).objects()[0]["left_to"], lost.as_str());
    let doctor = from_shore(&["doctor"]).stdout;
    assert!(doctor.contains(&format!("3 tasks are left to {lost}")), "{doctor}");
    // It may come back: the wish is kept for it.
    let waits = from_shore(&["cancel", &third]).expect(1).stderr;
    assert!(waits.contains("nobody there reacts") && waits.contains(&format!("--machine {lost}")), "{waits}");
    let wrong = from_shore(&["cancel", &begun, "--machine", "another"]).expect(2).stderr;
    assert!(wrong.contains(&format!("is {lost}'s, and not another's")), "{wrong}");
    let nobody = from_shore(&["cancel", "--machine", "another"]).expect(2).stderr;
    assert!(nobody.contains("no other machine called `another`"), "{nobody}");
    let own = on(&url, ship.windlass(&["cancel", &begun, "--machine", &lost])).run().expect(2).stderr;
    assert!(own.contains("is this machine's"), "{own}");
    // Cut off in the middle of a command, and ended all the same.
    let ended = from_shore(&["cancel", &begun, "--machine", &lost, "--json"]).expect(0).result();
    assert_eq!(ended["status"], "CANCELLED", "{ended}");
    assert!(ended["error_details"]["message"].as_str().is_some_and(|why| why.contains(&lost)), "{ended}");
    // Its disk is found.
    fs::rename(ship.data(), raft.data()).expect("moved");
    on(&url, raft.windlass(&["worker", "--until-idle"])).run().expect(0);
    let standings = |task: &str| from_shore(&["status", task, "--json"]).expect(0).objects()[0]["standing"].clone();
    assert_eq!([&begun, &second, &third].map(|task| standings(task)), ["cancelled", "completed", "cancelled"]);
    assert_eq!(ledger.count().get("begun"), Some(&1), "and nothing twice");
    from_shore(&["cancel", "--machine", &lost]).expect(2);
    let left = "SELECT (SELECT count(*) FROM windlass.messages) + (SELECT count(*) FROM windlass.leases WHERE owner IS NOT NULL)";
    assert_eq!(server.sql("windlass", left), "0");
    audit(&raft, &url).expect(0);
    none_left(&raft);
}

#[test]
fn a_dump_of_the_database_is_restored_with_its_audit() {
    let (server, home) = (Server::start(), Home::playing(HELLO));
    let url = server.database("windlass");
    on(&url, home.run(&[])).run().expect(0);
    let refused = on(&url, home.windlass(&["store", "backup", "copy"])).run().expect(2).stderr;
    assert!(refused.contains("pg_dump"), "{refused}");
    let dump = server.program("pg_dump").args(["--format", "custom", "windlass"]).output().expect("pg_dump runs");
    assert!(dump.status.success(), "{}", String::from_utf8_lossy(&dump.stderr));
    let file = server.socket_folder().join("dump");
    fs::write(&file, dump.stdout).expect("written");
    let restored = server.database("restored");
    let ran = server.program("pg_restore").args(["--dbname", "restored"]).arg(&file).output().expect("pg_restore runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    audit(&home, &restored).expect(0);
    assert_eq!(standings(on(&restored, home.windlass(&["status", "--json"]))), ["completed"]);
    on(&restored, home.run(&[])).run().expect(0);
    // An older copy is noticed.
    let stderr = on(&url, home.run(&[])).run().expect(2).stderr;
    assert!(stderr.contains("not the one that was signed last"), "{stderr}");
}
