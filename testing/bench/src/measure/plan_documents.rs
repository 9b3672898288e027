//! Reading plan documents: the largest that is taken, one with far too many items, and one that is far too long; beside them the
//! bare YAML reader over the same front matter. Pure functions, one thread.

#![expect(clippy::disallowed_methods, reason = "a measured part reads the clock")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use serde_saphyr::granit_parser::Parser;
use windlass_engine::read_plan;

use crate::figures::{median, millis};

/// How long one figure is looked at, and how often at least.
const LENGTH: Duration = Duration::from_secs(1);
const LEAST: usize = 3;
/// As many as a plan may have, the project counted in, and as many checks as make it nearly as long as it may be.
const MOST_ITEMS: usize = 200;
const CHECKS: usize = 54;
const MOST_BYTES: usize = 1024 * 1024;
const FAR_TOO_MANY: usize = 100_000;

/// What was made of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    Taken,
    Refused,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Document {
    pub items: usize,
    pub bytes: usize,
    pub verdict: Verdict,
    /// Milliseconds.
    pub read: f64,
    /// By the bare reader.
    pub bare: f64,
}

pub fn measure() -> anyhow::Result<Vec<Document>> {
    documents().iter().map(|(text, items, verdict)| read(text, *items, *verdict)).collect()
}

fn documents() -> [(String, usize, Verdict); 3] {
    let short = |number: usize| format!("- {{ id: i{number}, type: task, title: t }}\n");
    // As many as there is room for.
    let many = (MOST_BYTES - 200) / short(FAR_TOO_MANY).len();
    let long = |number: usize| {
        let title = "A title of forty letters, more or less";
        format!("- {{ id: item-{number}, type: task, title: \"{title}\", touches: {{ paths: [src/{number}] }} }}\n")
    };
    [
        (document((1..MOST_ITEMS).map(item_with_checks)), MOST_ITEMS, Verdict::Taken),
        (document((0..many).map(short)), many, Verdict::Refused),
        (document((0..FAR_TOO_MANY).map(long)), FAR_TOO_MANY, Verdict::Refused),
    ]
}

fn verdict(document: &str) -> Verdict {
    if read_plan(document).is_ok() { Verdict::Taken } else { Verdict::Refused }
}

fn read(document: &str, items: usize, expected: Verdict) -> anyhow::Result<Document> {
    let verdict = verdict(document);
    anyhow::ensure!(verdict == expected, "a plan of {items} items, {} bytes: {verdict:?}", document.len());
    let front = document.split("\n---\n").next().context("front matter")?;
    let yaml = || Parser::new_from_str(front).all(|event| black_box(event).is_ok());
    anyhow::ensure!(yaml(), "the front matter is YAML");
    Ok(Document {
        items,
        bytes: document.len(),
        verdict,
        read: each(|| drop(black_box(read_plan(document)))),
        bare: each(|| {
            black_box(yaml());
        }),
    })
}

fn document(items: impl Iterator<Item = String>) -> String {
    let mut text = "---\nid: whole\ntype: project\ntitle: A plan\ntasks:\n".to_owned();
    text.extend(items);
    text.push_str("---\n# What to do\nWhat the titles say.\n");
    text
}

fn item_with_checks(number: usize) -> String {
    let mut text = format!(
        "- id: item-{number}\n  type: task\n  title: Write part {number} of the whole\n  depends_on: [{}]\n  touches: {{ paths: [src/part-{number}] }}\n  verify:\n",
        if number > 1 { format!("item-{}", number / 2) } else { String::new() }
    );
    for check in 0..CHECKS {
        let line = format!(
            "  - {{ name: check {check} of {number}, command: \"cargo test -p part-{number} case_{check} -- --exact --quiet\" }}"
        );
        writeln!(text, "{line}").expect("text can always grow");
    }
    text
}

/// The middle of many times, in milliseconds.
fn each(mut turn: impl FnMut()) -> f64 {
    let (begun, mut took) = (Instant::now(), Vec::new());
    while took.len() < LEAST || begun.elapsed() < LENGTH {
        let one = Instant::now();
        turn();
        took.push(millis(one.elapsed()));
    }
    median(took)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_plan_is_nearly_as_long_as_it_may_be_and_the_others_are_refused() {
        let [(largest, ..), (wide, many, _), (long, ..)] = documents();
        assert!((900_000..MOST_BYTES).contains(&largest.len()), "{}", largest.len());
        assert!((1_000_000..MOST_BYTES).contains(&wide.len()) && many > 20_000, "{} {many}", wide.len());
        assert!(long.len() > 9_000_000, "{}", long.len());
        if let Err(problems) = read_plan(&largest) {
            panic!("{problems}");
        }
        assert_eq!([wide, long].map(|text| verdict(&text)), [Verdict::Refused, Verdict::Refused]);
    }
}
