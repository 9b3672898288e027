//! One run against a liar: it answers badly, and then well when its memory has been looked at.

use serde_json::Value;

use super::liar::{Act, Liar};
use super::wire::Wire;
use crate::support::{Home, Story, peak_kb, read};

/// Far above what a run needs and far below what keeping everything would take.
const MOST_KB: u64 = 120_000;
/// An answer of megabytes costs its tokens.
const MUCH: [&str; 2] = ["--max-tokens", "100000000"];

/// What came of it.
pub struct Trial {
    pub home: Home,
    pub story: Story,
    pub code: Option<i32>,
    pub requests: Vec<String>,
}

/// A bad answer and then a good one.
pub fn once(wire: Wire, bad: Act) -> Trial {
    let home = Home::new();
    home.write("notes.txt", "alpha\n");
    let liar = Liar::playing(vec![bad, Act::SayLater(wire.says("Done."))]);
    let words = [&["run", "Do it"], MUCH.as_slice()].concat();
    let mut run = wire.ask(home.windlass(&words), &liar.url).start_unheard();
    liar.is_asked(2);
    let peak = peak_kb(run.id()).expect("it waits for its answer");
    liar.release();
    let code = run.wait().expect("waited for").code();
    assert!(peak < MOST_KB, "{wire:?}: {peak} KB");
    Trial { story: read(&home), home, code, requests: liar.requests() }
}

/// The same act for every request.
pub fn always(wire: Wire, act: Act, more: &[&str]) -> Trial {
    let home = Home::new();
    let liar = Liar::playing(vec![act]);
    let words = [&["run", "Do it", "--json"], MUCH.as_slice(), more].concat();
    let ended = wire.ask(home.windlass(&words), &liar.url).run();
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    Trial { story: read(&home), home, code: ended.status.code(), requests: liar.requests() }
}

impl Trial {
    /// It came to the end that the good answer was.
    #[track_caller]
    pub fn is_completed(&self) {
        assert_eq!(self.code, Some(0), "{:?}", self.story.result);
        let finished = self.story.of("task.finished").next().expect("an end");
        assert_eq!(finished["data"]["result"]["final_message"], "Done.");
        self.is_in_order();
    }

    /// It failed for this reason, and the journal says so.
    #[track_caller]
    pub fn is_failed(&self, error_code: &str) {
        assert_eq!(self.code, Some(1), "{:?}", self.story.result);
        let finished = self.story.of("task.finished").next().expect("an end");
        assert_eq!(finished["data"]["result"]["error_details"]["error_code"], error_code, "{finished}");
        self.is_in_order();
    }

    /// Every call that was taken down has one result.
    #[track_caller]
    fn is_in_order(&self) {
        let results = self.story.times("tool.finished");
        assert!(results.values().all(|times| *times == 1), "{results:?}");
        assert!(self.story.asked().keys().eq(results.keys()), "{results:?}");
    }

    pub fn data(&self, kind: &str) -> Vec<&Value> {
        self.story.of(kind).map(|record| &record["data"]).collect()
    }
}
