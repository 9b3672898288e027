//! Streams that never end, fall silent, or are cut in the middle of whatever they were saying.

use super::liar::{Act, Liar};
use super::trial::{always, once};
use super::wire::{WIRES, Wire};
use crate::support::{Home, read};

/// Nothing but the run's own time ends these.
#[test]
fn a_stream_that_falls_silent_or_only_keeps_alive_ends_with_the_time_of_the_run() {
    over_every_wire(|wire| {
        let begun = wire.piece("Hal");
        let dribble = Act::GoOn(begun.clone(), ": ping\n\n".to_owned());
        for act in [Act::FallSilent(String::new()), Act::FallSilent(begun), dribble] {
            let trial = always(wire, act, &["--timeout", "1", "--max-attempts", "1"]);
            trial.is_failed("timeout");
            assert_eq!((trial.requests.len(), trial.data("model.requested").len()), (1, 1));
        }
    });
}

#[test]
fn a_stream_that_never_ends_is_left() {
    over_every_wire(|wire| is_left(wire, Act::GoOn(String::new(), wire.piece(&"word ".repeat(20_000)))));
    // What comes before any wire has a word in it: a line without end, and an event.
    let line = "x".repeat(1 << 20);
    is_left(Wire::Chat, Act::GoOn("data: ".to_owned(), line.clone()));
    is_left(Wire::Chat, Act::GoOn(String::new(), format!("data: {line}\n")));
}

fn is_left(wire: Wire, endless: Act) {
    let trial = once(wire, endless);
    trial.is_completed();
    let [failed] = trial.data("model.failed")[..] else { panic!("one answer was left") };
    assert!(failed["usage"]["output"].as_u64() > Some(500_000), "what came of it was paid for: {failed}");
}

fn over_every_wire(check: impl Fn(Wire) + Copy + Send) {
    std::thread::scope(|scope| {
        for wire in WIRES {
            scope.spawn(move || check(wire));
        }
    });
}

/// Each answer is first cut in the middle of its next event, then told whole. Nothing of a cut answer is done.
#[test]
fn a_stream_that_is_cut_in_any_event_is_asked_for_again() {
    over_every_wire(cut_everywhere);
}

fn cut_everywhere(wire: Wire) {
    let appends = |turn: usize| format!("{{\"command\":\"echo {turn} >> ledger\"}}");
    let turns = wire.events("", &[("bash", &appends(0))]).len();
    let mut acts = Vec::new();
    for turn in 0..turns {
        let arguments = appends(turn);
        let events = wire.events("On it.", &[("bash", &arguments)]);
        let half = &events[turn][..events[turn].len() / 2];
        acts.push(Act::HangUp(events[..turn].concat() + half));
        acts.push(Act::Say(events.concat()));
    }
    acts.push(Act::Say(wire.says("Done.")));
    let home = Home::new();
    let liar = Liar::playing(acts);
    wire.ask(home.windlass(&["run", "Do it"]), &liar.url).run().expect(0);
    let story = read(&home);
    let once_each: String = (0..turns).map(|turn| format!("{turn}\n")).collect();
    assert_eq!(home.read("ledger"), once_each, "{wire:?}");
    let retries: u64 = story.of("model.responded").filter_map(|record| record["data"]["retries"].as_u64()).sum();
    assert_eq!(retries, turns as u64, "{wire:?}");
    assert!(story.times("tool.finished").values().all(|times| *times == 1));
}
