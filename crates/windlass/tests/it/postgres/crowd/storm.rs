//! Three workers of one machine and one of another, killed, ended and stopped at random instants while tasks of every kind come in.
//! `WINDLASS_STORM_KILLS` says how often, or `WINDLASS_STORM_SECONDS` for how long; `make soak-postgres` has it go on for an hour.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use windlass_postgres_server::Server;

use super::errand::{KINDS, UNATTENDED};
use super::machine::Machine;
use super::people::Town;
use super::verdict::{complaints, left_over, worktrees_left};
use crate::postgres::store::on;
use crate::support::{Dice, Home, none_left};

const KILLS: usize = 24;
/// The same instants each time, as far as the machine lets them be the same.
const SEED: u64 = 0x6372_6f77_6400;
/// A guard: within this time something ends, whatever is done to the workers.
const STANDSTILL: Duration = Duration::from_secs(120);
const LOOK_EVERY: Duration = Duration::from_millis(100);

#[test]
fn whatever_is_done_to_workers_every_task_ends_once_and_right() {
    let (server, ship, shore) = (Server::start(), Home::new(), Home::new());
    let url = server.database("windlass");
    let town = Town {
        server: &server,
        url: &url,
        is_enough: AtomicBool::new(false),
        is_over: AtomicBool::new(false),
        errands: Mutex::default(),
    };
    // There is a database before anybody counts what is in it.
    on(&url, ship.windlass(&["status"])).run().expect(0);
    let (mut at_sea, mut ashore) = (Machine::with(3, &ship, &url), Machine::with(1, &shore, &url));
    let storm = std::thread::scope(|scope| {
        for (number, seed) in [(0, 1), (1, 2), (2, 3)] {
            let (town, ship) = (&town, &ship);
            scope.spawn(move || town.submit(ship, &format!("s{number}"), &KINDS, SEED + seed));
        }
        scope.spawn(|| town.submit(&shore, "shore", &UNATTENDED, SEED + 4));
        scope.spawn(|| town.answer(&ship));
        let storm = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            rage(&mut at_sea, &mut ashore);
            town.is_enough.store(true, Ordering::SeqCst);
            calm(&town, &at_sea, &ashore);
        }));
        town.is_enough.store(true, Ordering::SeqCst);
        town.is_over.store(true, Ordering::SeqCst);
        storm
    });
    storm.unwrap_or_else(|why| std::panic::resume_unwind(why));
    at_sea.end();
    ashore.end();
    let errands = town.errands.lock().expect("kept");
    let home_of = |folder: &std::path::Path| if folder.starts_with(ship.path()) { &ship } else { &shore };
    let mut found: Vec<String> =
        errands.iter().flat_map(|(errand, ended)| complaints(home_of(&errand.folder), &town, errand, *ended)).collect();
    found.extend(left_over(&town));
    for home in [&ship, &shore] {
        found.extend(worktrees_left(home));
        on(&url, home.windlass(&["audit", "verify"])).run().expect(0);
        none_left(home);
    }
    println!("{} tasks submitted, {} interruptions", errands.len(), town.number(INTERRUPTIONS));
    assert!(found.is_empty(), "{} complaints:\n{}", found.len(), found.join("\n"));
    assert!(town.number(INTERRUPTIONS) > 0, "nobody was at work when a worker died: this proves nothing");
}

const INTERRUPTIONS: &str = "SELECT count(*) FROM events WHERE kind = 'attempt.interrupted'";

/// Kills, ends and stops, until it has been often or long enough.
fn rage<'a>(at_sea: &mut Machine<'a>, ashore: &mut Machine<'a>) {
    let (mut dice, begun) = (Dice::new(SEED), Instant::now());
    let said = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let seconds = said("WINDLASS_STORM_SECONDS").map(Duration::from_secs);
    let kills = said("WINDLASS_STORM_KILLS").map_or(KILLS, |kills| kills as usize);
    for number in 0.. {
        if seconds.map_or(number >= kills, |seconds| begun.elapsed() >= seconds) {
            break;
        }
        std::thread::sleep(Duration::from_millis(300) + Duration::from_secs(3).mul_f64(dice.fraction()));
        let machine = if dice.below(4) == 0 { &mut *ashore } else { &mut *at_sea };
        let place = dice.below(machine.places());
        match dice.below(10) {
            0..6 => machine.kill(place),
            6..8 => machine.replace(place),
            _ => machine.stop_or_go_on(place),
        }
    }
    at_sea.all_go_on();
    ashore.all_go_on();
}

/// Waits until all has ended.
fn calm(town: &Town<'_>, at_sea: &Machine<'_>, ashore: &Machine<'_>) {
    let (mut least, mut since) = (u64::MAX, Instant::now());
    loop {
        let left = town.backlog();
        if left == 0 {
            return;
        }
        if left != least {
            (least, since) = (left, Instant::now());
        }
        if since.elapsed() > STANDSTILL {
            let unfinished = "SELECT s.name || ': ' || string_agg(e.kind, ' ' ORDER BY e.seq) FROM events e
                 JOIN streams s ON s.key = e.stream WHERE s.name LIKE 'task/%' GROUP BY s.name
                 HAVING count(*) FILTER (WHERE e.kind = 'task.finished') = 0";
            let messages = "SELECT queue || ' ' || coalesce(subject, '') || ' ' || coalesce(leased_by::text, 'free') FROM messages";
            let (unfinished, messages) = (town.rows(unfinished), town.rows(messages));
            panic!("{left} tasks do not end:\n{unfinished}\n{messages}\n{}\n{}", at_sea.said(), ashore.said());
        }
        std::thread::sleep(LOOK_EVERY);
    }
}
