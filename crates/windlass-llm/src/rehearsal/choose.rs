//! Which entry answers a request. An entry takes its places; the search begins at the place numbered by the turn and takes
//! the first entry whose `when` holds. A `forever` entry whose place has passed is still tried, before later ones. Faults
//! take no place: those that stand before the turn answer its first tries, one after another.

use regex::Regex;

use crate::rehearsal::script::{Fault, Lasts, Line, Track, When};

/// What a request says, looked at only as far as a script asks.
pub trait Circumstances {
    fn request_matches(&self, pattern: &Regex) -> bool;
    /// False when there is no tool result yet.
    fn last_result_matches(&self, pattern: &Regex) -> bool;
}

#[derive(Debug, Clone, Copy)]
pub enum Choice<'s> {
    Line(&'s Line),
    /// With the line that would have come.
    Fault(&'s Fault, Option<&'s Line>),
    OffTheEnd,
}

impl Track {
    /// `turn` is how many answers there were before; `attempt` counts the tries of this turn from zero.
    pub fn choose(&self, turn: u32, attempt: u32, seen: &dyn Circumstances) -> Choice<'_> {
        let line = self.line(turn, seen);
        let mut tries_before = 0;
        for fault in self.faults_before(turn).iter().filter(|fault| fault.when.holds(seen)) {
            tries_before += fault.times;
            if attempt < tries_before {
                return Choice::Fault(fault, line);
            }
        }
        line.map_or(Choice::OffTheEnd, Choice::Line)
    }

    pub fn faults_before(&self, turn: u32) -> &[Fault] {
        let start = self.faults.partition_point(|fault| fault.before < turn);
        let end = self.faults.partition_point(|fault| fault.before <= turn);
        &self.faults[start..end]
    }

    fn line(&self, turn: u32, seen: &dyn Circumstances) -> Option<&Line> {
        let start = self.lines.partition_point(|line| line.last < turn);
        let (past, ahead) = self.lines.split_at(start);
        let lasting = past.iter().filter(|line| line.lasts == Lasts::Forever);
        lasting.chain(ahead).find(|line| line.when.holds(seen))
    }
}

impl When {
    fn holds(&self, seen: &dyn Circumstances) -> bool {
        self.last_result.as_ref().is_none_or(|pattern| seen.last_result_matches(pattern))
            && self.request.as_ref().is_none_or(|pattern| seen.request_matches(pattern))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rehearsal::Script;

    struct Says(&'static str, Option<&'static str>);

    impl Circumstances for Says {
        fn request_matches(&self, pattern: &Regex) -> bool {
            pattern.is_match(self.0)
        }

        fn last_result_matches(&self, pattern: &Regex) -> bool {
            self.1.is_some_and(|result| pattern.is_match(result))
        }
    }

    /// The replies of the turns from zero, given the same circumstances each time.
    fn replies(entries: &str, turns: u32, seen: &Says) -> Vec<String> {
        let script = Script::parse(&format!("version: 1\ntracks:\n  t:\n{entries}")).expect("a valid script");
        let shown = |turn| show(script.tracks["t"].choose(turn, 0, seen));
        (0..turns).map(shown).collect()
    }

    fn show(choice: Choice<'_>) -> String {
        match choice {
            Choice::Line(line) => line.reply.clone(),
            Choice::Fault(fault, line) => {
                format!("{}x before {}", fault.times, line.map_or("nothing", |line| &line.reply))
            }
            Choice::OffTheEnd => "-".to_owned(),
        }
    }

    const NOTHING: Says = Says("", None);

    #[test]
    fn repeated_entries_take_as_many_places() {
        let entries = "    - reply: a\n    - {reply: b, repeat: 3}\n    - reply: c\n";
        assert_eq!(replies(entries, 6, &NOTHING), ["a", "b", "b", "b", "c", "-"]);
    }

    #[test]
    fn a_condition_that_fails_gives_way_to_the_next_entry() {
        let entries = "    - reply: a\n    - {when: {last_result: '(?i)error'}, reply: b}\n    - {when: {request: guide}, reply: c}\n    - reply: d\n";
        assert_eq!(replies(entries, 5, &NOTHING), ["a", "d", "d", "d", "-"]);
        assert_eq!(replies(entries, 5, &Says("x", Some("an Error"))), ["a", "b", "d", "d", "-"]);
        assert_eq!(replies(entries, 5, &Says("guidelines", None)), ["a", "c", "c", "d", "-"]);
    }

    #[test]
    fn forever_is_tried_in_its_order_at_every_later_turn() {
        let entries = "    - reply: a\n    - {when: {last_result: boom}, reply: mend, repeat: forever}\n    - reply: b\n    - {reply: c, repeat: forever}\n";
        assert_eq!(replies(entries, 6, &NOTHING), ["a", "b", "b", "c", "c", "c"]);
        assert_eq!(replies(entries, 6, &Says("", Some("boom"))), ["a", "mend", "mend", "mend", "mend", "mend"]);
    }

    #[test]
    fn faults_take_tries_and_no_place() {
        let text = "version: 1\ntracks:\n  t:\n    - reply: a\n    - error: {status: 429, times: 2}\n    - error: {cut_stream_after: 3}\n    - reply: b\n    - error: {status: 500}\n";
        let script = Script::parse(text).expect("a valid script");
        let tries =
            |turn| (0..4).map(|attempt| show(script.tracks["t"].choose(turn, attempt, &NOTHING))).collect::<Vec<_>>();
        assert_eq!(tries(0), ["a", "a", "a", "a"]);
        assert_eq!(tries(1), ["2x before b", "2x before b", "1x before b", "b"]);
        assert_eq!(tries(2), ["1x before nothing", "-", "-", "-"]);
    }

    proptest! {
        /// The rule of the document, word for word and slowly, against the one above.
        #[test]
        fn the_choice_is_the_documented_one(
            entries in prop::collection::vec((0..3_u32, 0..3_u8, any::<bool>()), 1..12),
            turn in 0..24_u32,
            matches in any::<bool>(),
        ) {
            let mut text = String::from("version: 1\ntracks:\n  t:\n");
            let mut places = Vec::new();
            let mut lasting = Vec::new();
            for (number, (repeat, kind, conditional)) in entries.iter().enumerate() {
                let conditional = *conditional || *kind == 2;
                let when = if conditional { "when: {last_result: x}, " } else { "" };
                let is_forever = *kind == 2;
                let repeat_text = if is_forever { "forever".to_owned() } else { (repeat + 1).to_string() };
                text.push_str(&format!("    - {{{when}reply: r{number}, repeat: {repeat_text}}}\n"));
                let count = if is_forever { 1 } else { repeat + 1 };
                if is_forever {
                    lasting.push((places.len(), number));
                }
                places.extend((0..count).map(|_| (number, conditional)));
            }
            let says = Says("", matches.then_some("x"));
            let script = Script::parse(&text).expect("a valid script");
            let expected = lasting.iter().find(|(place, _)| *place < turn as usize && matches).map(|(_, number)| *number)
                .or_else(|| {
                    let ahead = places.iter().skip(turn as usize);
                    ahead.clone().find(|(_, conditional)| matches || !conditional).map(|(number, _)| *number)
                });
            let expected = expected.map_or("-".to_owned(), |number| format!("r{number}"));
            let track = &script.tracks["t"];
            prop_assert_eq!(show(track.choose(turn, 0, &says)), expected.clone());
            prop_assert_eq!(show(track.choose(turn, 9, &says)), expected);
        }
    }
}
