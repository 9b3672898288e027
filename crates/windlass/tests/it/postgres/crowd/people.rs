//! The people: some submit and change their minds, one answers whatever is asked.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use windlass_postgres_server::Server;

use super::errand::{Errand, Kind};
use crate::postgres::store::on;
use crate::support::{Dice, Home};

/// What is asked for is more than the workers can do, but not by much: what waits in a queue nobody can interrupt.
const BACKLOG: u64 = 12;
const LOOK_EVERY: Duration = Duration::from_millis(100);

pub struct Town<'a> {
    pub server: &'a Server,
    pub url: &'a str,
    /// Nobody asks for more.
    pub is_enough: AtomicBool,
    /// All is done.
    pub is_over: AtomicBool,
    pub errands: Mutex<Vec<(Errand, Ended)>>,
}

/// How it must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Completed,
    Cancelled,
    /// Whoever works on it stood still while it was asked to end: it does when it hears that, unless its own end comes first.
    Either,
}

impl Town<'_> {
    pub fn rows(&self, sql: &str) -> String {
        self.server.sql("windlass", &format!("SET search_path = windlass; {sql}"))
    }

    pub fn number(&self, sql: &str) -> u64 {
        self.rows(sql).parse().expect("a number")
    }

    /// Tasks that have begun and not ended, those that work for others among them.
    pub fn backlog(&self) -> u64 {
        let ended = "count(*) FILTER (WHERE kind = 'task.created') - count(*) FILTER (WHERE kind = 'task.finished')";
        self.number(&format!("SELECT {ended} FROM events"))
    }

    /// Submits one after the other until there is enough.
    pub fn submit(&self, home: &Home, name: &str, kinds: &[Kind], seed: u64) {
        let mut dice = Dice::new(seed);
        for number in 0.. {
            while self.backlog() >= BACKLOG && !self.is_enough.load(Ordering::SeqCst) {
                std::thread::sleep(LOOK_EVERY);
            }
            if self.is_enough.load(Ordering::SeqCst) {
                return;
            }
            let kind = kinds[dice.below(kinds.len())];
            let errand = Errand::submit(home, self.url, kind, &format!("{name}-{number}"));
            let mut ended = Ended::Completed;
            if kind == Kind::Cancelled {
                std::thread::sleep(Duration::from_secs(2).mul_f64(dice.fraction()));
                let asked = errand.cancel(home, self.url).run();
                ended = match asked.code() {
                    0 => Ended::Cancelled,
                    // It was over already.
                    2 => Ended::Completed,
                    1 if asked.stderr.contains("does not react") => Ended::Either,
                    _ => panic!("{asked:?}"),
                };
            }
            self.errands.lock().expect("kept").push((errand, ended));
        }
    }

    /// Says yes to every card and answers every question until all is done.
    pub fn answer(&self, home: &Home) {
        while !self.is_over.load(Ordering::SeqCst) {
            let mut asked = on(self.url, home.windlass(&["inbox", "--json"])).run().expect(0).objects();
            asked.retain(|asked| asked["type"] != "result");
            for one in &asked {
                let answered = match (one["card_id"].as_str(), one["task_id"].as_str()) {
                    (Some(card), _) => on(self.url, home.windlass(&["approve", card, "--yes"])).run(),
                    (None, Some(task)) => on(self.url, home.windlass(&["send", task, "that"])).run(),
                    (None, None) => panic!("nobody knows what this is: {one}"),
                };
                // 2: it was cancelled meanwhile.
                assert!([0, 2].contains(&answered.code()), "{answered:?}");
            }
            if asked.is_empty() {
                std::thread::sleep(LOOK_EVERY);
            }
        }
    }
}
