//! What a page tried while a call was at work, for the model: told once, each kind of thing in a few lines however often it
//! happened. The words are the page's, hence short and made safe to show by whoever tells them.

/// Of one kind.
const MOST: usize = 5;
const LONGEST: usize = 200;

#[derive(Default)]
pub(super) struct Notes {
    kinds: Vec<Kind>,
}

struct Kind {
    what: &'static str,
    told: Vec<String>,
    more: usize,
}

impl Notes {
    /// `what` is a sentence about what happened, `detail` what it happened to.
    pub fn add(&mut self, what: &'static str, detail: &str) {
        let detail = one_line(detail);
        let kind = match self.kinds.iter_mut().find(|kind| kind.what == what) {
            Some(kind) => kind,
            None => {
                self.kinds.push(Kind { what, told: Vec::new(), more: 0 });
                let last = self.kinds.len() - 1;
                &mut self.kinds[last]
            }
        };
        match kind.told.len() < MOST && !kind.told.contains(&detail) {
            true => kind.told.push(detail),
            false => kind.more += 1,
        }
    }

    /// A line for each kind, and from then on nothing.
    pub fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.kinds).iter().map(Kind::line).collect()
    }
}

impl Kind {
    fn line(&self) -> String {
        let Self { what, told, more } = self;
        let more = if *more > 0 { format!(" (and {more} more)") } else { String::new() };
        let told = told.iter().filter(|detail| !detail.is_empty()).cloned().collect::<Vec<_>>().join(", ");
        if told.is_empty() { format!("[{what}{more}]") } else { format!("[{what}: {told}{more}]") }
    }
}

pub(super) fn one_line(text: &str) -> String {
    // A page may say megabytes.
    let beginning = &text[..text.floor_char_boundary(LONGEST * 4)];
    let line = beginning.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = line.floor_char_boundary(LONGEST);
    if end < line.len() { format!("{}…", &line[..end]) } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happens_often_is_told_briefly() {
        let mut notes = Notes::default();
        (0..1_000).for_each(|_| notes.add("a dialogue was dismissed", "again\nand again"));
        notes.add("a window was closed", "");
        (0..10).for_each(|number| notes.add("stopped", &"x".repeat(1_000 + number)));
        let lines = notes.take();
        assert_eq!(lines[..2], ["[a dialogue was dismissed: again and again (and 999 more)]", "[a window was closed]"]);
        assert!(lines[2].len() < 300, "{}", lines[2]);
        assert!(notes.take().is_empty());
    }
}
