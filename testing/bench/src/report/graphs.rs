//! Work graphs: what a pass costs beside what it costs with little done, and what it takes to have one again.

use crate::aims;
use crate::figures::{count, figure, list, times};
use crate::measure::graph_shapes::Shape;
use crate::measure::graphs::{DONE, Figures, Size};
use crate::table::{Row, Section, Verdict};

/// The most that a pass with nearly all done may cost, as often as one with little.
const MOST: f64 = 1.5;

pub fn section(figures: &[Figures]) -> Option<Section> {
    let rows: Vec<Row> = figures.iter().flat_map(rows).collect();
    let notes = vec![
        "Wide: all atoms beside each other. Deep: one after the other. Nested: in blocks of ten that wait for each other as in a heap, each with two \
         ways to go and within the first two more, held by a tree with ten branches to a fork. A pass is `next_moves`, and `decide` and `apply` of one \
         atom's end and the next one's beginning, with eight at work: rules alone, without a disk. A journal is read and folded from memory, and \
         where its plan is no longer than a commit may be (half of 16 MiB) also through a store and an engine that have just been opened. Memory \
         is what the process holds more, of a graph of 100,000."
            .to_owned(),
    ];
    (!rows.is_empty()).then_some(Section { title: "Work graphs", rows, notes })
}

const fn words(shape: Shape) -> &'static str {
    match shape {
        Shape::Wide => "wide",
        Shape::Deep => "deep",
        Shape::Nested => "ways in ways",
    }
}

fn rows(figures: &Figures) -> Vec<Row> {
    let shape = words(figures.shape);
    let sizes = &figures.sizes;
    let atoms = sizes.iter().map(|size| count(size.atoms)).collect::<Vec<_>>().join(" / ");
    let mut rows = vec![growth(
        format!("{shape}: µs of a pass, of {atoms} atoms, {} % done", DONE[2]),
        sizes,
        &aims::GRAPH_PASS,
        |size| Some(size.pass),
    )];
    if sizes.iter().any(|size| size.switch.is_some()) {
        let atoms: Vec<String> =
            sizes.iter().filter(|size| size.switch.is_some()).map(|size| count(size.atoms)).collect();
        let work = format!("{shape}: µs to give up a way and take another, of {} atoms, late", atoms.join(" / "));
        rows.push(growth(work, sizes, &aims::NONE, |size| size.switch));
    }
    let plain = |work: String, windlass: String, beside: String| {
        Row::new(work, windlass, beside, &aims::NONE, Verdict::NotJudged)
    };
    let each = |size: &Size| (size.fold - size.fold_plan) * 1e3 / (size.events - 1) as f64;
    rows.push(plain(
        format!("{shape}: ms to have it again from its whole journal"),
        list(sizes.iter().map(|size| size.fold)),
        format!(
            "of that the plan {}; µs per other event {}",
            list(sizes.iter().map(|size| size.fold_plan)),
            list(sizes.iter().map(each))
        ),
    ));
    let stored: Vec<&Size> = sizes.iter().filter(|size| size.stored.is_some()).collect();
    rows.push(plain(
        format!(
            "{shape}: the same through a store, {} events",
            stored.iter().map(|size| count(size.events)).collect::<Vec<_>>().join(" / ")
        ),
        list(stored.iter().filter_map(|size| size.stored)),
        String::new(),
    ));
    rows.push(plain(
        format!("{shape}: bytes of memory per atom, all of them done"),
        figure(figures.resolved),
        format!("none of them {}", figure(figures.planted)),
    ));
    rows
}

/// With nearly all done, beside what it was before.
fn growth(work: String, sizes: &[Size], aim: &'static aims::Aim, of: fn(&Size) -> Option<[f64; 3]>) -> Row {
    let took: Vec<[f64; 3]> = sizes.iter().filter_map(of).collect();
    let at = |moment: usize| list(took.iter().map(|took| took[moment]));
    let grown = took.iter().map(|took| took[2] / took[0]).collect::<Vec<_>>();
    let ratios = grown.iter().map(|ratio| times(*ratio)).collect::<Vec<_>>().join(" / ");
    let beside = format!("with {} % {}, {} % {}: {ratios}", DONE[0], at(0), DONE[1], at(1));
    let verdict = match aim.aim {
        "" => Verdict::NotJudged,
        _ => Verdict::of(grown.iter().all(|ratio| *ratio <= MOST)),
    };
    Row::new(work, at(2), beside, aim, verdict)
}
