//! The body of a document: four headings, and below each the words for everybody and, under a heading that is the id of an
//! item, those for that item. Headings inside fenced code are code. What an item has no words of its own for is its parent's.

use std::collections::BTreeMap;

use windlass_domain::plan::{Briefing, Item};

use crate::problem::{Collector, Position};
use crate::suggestion::nearest;

const HEADINGS: [&str; 4] = ["Context", "What to do", "Constraints", "If you get stuck"];

/// Words by heading and, below it, by id; the empty id is everybody's.
#[derive(Default)]
pub(super) struct Body {
    texts: BTreeMap<(usize, String), String>,
}

impl Body {
    pub fn read(text: &str, first_line: usize, ids: &[&str], problems: &mut Collector) -> Self {
        let mut reader = Reader { body: Self::default(), ids, place: None, fence: None };
        for (index, line) in text.lines().enumerate() {
            reader.line(line, Position { line: first_line + index, column: 1 }, problems);
        }
        reader.body
    }

    fn of(&self, heading: usize, id: &str) -> Option<String> {
        let text = self.texts.get(&(heading, id.to_owned()))?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// For the root; its children are briefed after it.
    pub fn shared(&self) -> Briefing {
        let text = |heading| self.of(heading, "").unwrap_or_default();
        Briefing { context: text(0), what_to_do: text(1), constraints: text(2), if_you_get_stuck: text(3) }
    }

    /// Every child's words, its parent's where it has none. What to do is nobody else's.
    pub fn brief(&self, item: &mut Item) {
        let parent = item.briefing.clone();
        for child in &mut item.tasks {
            let own = |heading, inherited: &String| self.of(heading, child.id.as_str()).unwrap_or(inherited.clone());
            child.briefing = Briefing {
                context: own(0, &parent.context),
                what_to_do: own(1, &child.title),
                constraints: own(2, &parent.constraints),
                if_you_get_stuck: own(3, &parent.if_you_get_stuck),
            };
            self.brief(child);
        }
    }
}

struct Reader<'a> {
    body: Body,
    ids: &'a [&'a str],
    place: Option<(usize, String)>,
    /// What closes the code that is being read.
    fence: Option<String>,
}

impl Reader<'_> {
    fn line(&mut self, line: &str, at: Position, problems: &mut Collector) {
        let was_code = self.fence.is_some();
        self.follow_fence(line);
        if !was_code && self.fence.is_none() {
            if let Some(title) = line.strip_prefix("# ") {
                self.open(title.trim(), at, problems);
                return;
            }
            if let (Some(id), Some((heading, _))) = (self.item_heading(line), &self.place) {
                self.place = Some((*heading, id));
                return;
            }
        }
        match &self.place {
            Some(place) => {
                let text = self.body.texts.entry(place.clone()).or_default();
                text.push_str(line);
                text.push('\n');
            }
            None if line.trim().is_empty() => {}
            None => {
                problems.report(at, "this stands under no heading; begin the body with `# Context` or `# What to do`");
            }
        }
    }

    fn item_heading(&self, line: &str) -> Option<String> {
        let id = line.strip_prefix("## ")?.trim().trim_matches('`');
        self.ids.contains(&id).then(|| id.to_owned())
    }

    fn open(&mut self, title: &str, at: Position, problems: &mut Collector) {
        let heading = HEADINGS.iter().position(|heading| *heading == title);
        match heading {
            Some(heading) if self.body.texts.contains_key(&(heading, String::new())) => {
                problems.report(at, format!("`# {title}` is there twice; join them"));
            }
            Some(heading) => {
                self.body.texts.insert((heading, String::new()), String::new());
            }
            None => {
                let hint = match nearest(title, &HEADINGS) {
                    Some(word) => format!("did you mean `# {word}`?"),
                    None => format!("known here: {}; deeper headings are free", HEADINGS.join(", ")),
                };
                problems.report(at, format!("unknown heading `# {title}`; {hint}"));
            }
        }
        self.place = Some((heading.unwrap_or(HEADINGS.len()), String::new()));
    }

    fn follow_fence(&mut self, line: &str) {
        let line = line.trim();
        match &self.fence {
            Some(fence) if line.starts_with(fence.as_str()) && line.trim_start_matches(['`', '~']).is_empty() => {
                self.fence = None;
            }
            Some(_) => {}
            None => self.fence = fence(line),
        }
    }
}

/// Three or more of the same, with which code begins.
fn fence(line: &str) -> Option<String> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let marks: String = line.chars().take_while(|c| *c == mark).collect();
    (marks.len() >= 3).then_some(marks)
}
