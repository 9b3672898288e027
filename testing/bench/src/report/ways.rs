//! What planning buys: races beside one way after the other, fresh contexts beside one that grows.

use crate::aims;
use crate::figures::{count, figure, list, times};
use crate::measure::ways::{ANSWER_MS, Chain, Figures, First, Race, SHORT, SLOW_MS, STEPS};
use crate::table::{Row, Section, Verdict};

pub fn section(figures: &Figures) -> Section {
    let mut rows: Vec<Row> = figures.races.iter().map(race).collect();
    rows.push(chain(&figures.chains));
    let notes = vec![format!(
        "Two ways, the first of {SHORT} steps and the second of {STEPS}, and something that waits for either; {ANSWER_MS} ms for every answer of the \
         model, and on a first way that is slow, which has {STEPS} steps too, {SLOW_MS} ms; from a person's yes to the end. The atoms each read \
         a page of 2 KB and write a note on it, one after the other; an agent with a fresh context is told its item and what the one before \
         came to. The same calls in one run are one conversation. Tokens are those of every request and answer as the rehearsal counts \
         them, without definitions of tools and without any prefix taken from a cache."
    )];
    Section { title: "Ways and contexts", rows, notes }
}

fn race(Race { first, at_once, in_turn }: &Race) -> Row {
    let first = match first {
        First::Fails => "fails",
        First::IsSlow => "is slow",
        First::Works => "works",
    };
    Row::new(
        format!("two ways at once, the first {first}: wall ms / tokens"),
        list([at_once.wall_ms, at_once.tokens]),
        format!(
            "one after the other {}: {} / {}",
            list([in_turn.wall_ms, in_turn.tokens]),
            times(at_once.wall_ms / in_turn.wall_ms),
            times(at_once.tokens / in_turn.tokens)
        ),
        &aims::NONE,
        Verdict::NotJudged,
    )
}

fn chain(chains: &[Chain]) -> Row {
    let atoms = chains.iter().map(|chain| count(chain.atoms)).collect::<Vec<_>>().join(" / ");
    let ratios = chains.iter().map(|chain| times(chain.fresh / chain.growing)).collect::<Vec<_>>().join(" / ");
    Row::new(
        format!("tokens per atom that is done, of {atoms}, each with a fresh context"),
        chains.iter().map(|chain| figure(chain.fresh)).collect::<Vec<_>>().join(" / "),
        format!("one conversation for all {}: {ratios}", list(chains.iter().map(|chain| chain.growing))),
        &aims::NONE,
        Verdict::NotJudged,
    )
}
