//! What a command has to say, before anybody prints it: lines for a person or objects for a script, and the number that it ends with. It
//! can be sent to another machine, whose program prints it as it would its own; how wide a line may be and whether it has colours
//! is decided there. What comes from elsewhere is made safe to show as it is read.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use windlass_policy::visible_line;

use super::complain::mention;
use super::json;
use super::line::Line;
use super::output::{WhenFull, output};
use super::screen::Screen;
use super::style::Style;
use crate::exit::Exit;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Said {
    /// What can give way does.
    Short(Line),
    Whole(Line),
    /// For another program, as it is.
    Text(#[serde(deserialize_with = "visible_lines")] String),
    /// One JSON value in one line.
    Object(#[serde(deserialize_with = "one_visible_line")] String),
    /// On standard error.
    Mentioned(#[serde(deserialize_with = "one_visible_line")] String),
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sheet {
    said: Vec<Said>,
    exit: Exit,
}

impl Sheet {
    pub fn new() -> Self {
        Self::default()
    }

    /// A line for good; what can give way does.
    pub fn print(&mut self, line: &Line) {
        self.said.push(Said::Short(line.clone()));
    }

    /// A line of any length whole.
    pub fn print_whole(&mut self, line: &Line) {
        self.said.push(Said::Whole(line.clone()));
    }

    /// What another program is to read, as it is.
    pub fn print_text(&mut self, text: String) {
        self.said.push(Said::Text(text));
    }

    pub fn object(&mut self, value: &impl Serialize) {
        self.said.push(Said::Object(json::written(value)));
    }

    pub fn mention(&mut self, what: impl Into<String>) {
        self.said.push(Said::Mentioned(what.into()));
    }

    #[must_use]
    pub const fn ending(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// What was said for another program.
    pub fn into_text(self) -> Option<String> {
        self.said.into_iter().find_map(|said| match said {
            Said::Text(text) => Some(text),
            _ => None,
        })
    }

    /// What it says to people, for a page that shows it.
    pub fn into_lines(self) -> Vec<Line> {
        let line = |said| match said {
            Said::Short(line) | Said::Whole(line) => Some(line),
            Said::Mentioned(what) => Some(Line::new().add(Style::Warn, what)),
            Said::Text(_) | Said::Object(_) => None,
        };
        self.said.into_iter().filter_map(line).filter(|line| !line.is_empty()).collect()
    }

    /// What it says to people, and apart from it the last object that it says.
    pub fn apart(self) -> (Self, Option<Value>) {
        let (objects, lines): (Vec<Said>, Vec<Said>) =
            self.said.into_iter().partition(|said| matches!(said, Said::Object(_)));
        let last = objects.last().and_then(|said| match said {
            Said::Object(object) => serde_json::from_str(object).ok(),
            _ => None,
        });
        (Self { said: lines, exit: self.exit }, last)
    }

    /// Says it here.
    pub fn show(self) -> Exit {
        let mut screen = Screen::new();
        for said in self.said {
            match said {
                Said::Short(line) => screen.print(&line),
                Said::Whole(line) => screen.print_whole(&line),
                Said::Text(text) => screen.print_text(&text),
                Said::Object(object) => output().send(format!("{object}\n").into_bytes(), WhenFull::Wait),
                Said::Mentioned(what) => mention(&what),
            }
        }
        self.exit
    }

    pub fn told(&self) -> (Vec<Value>, u8) {
        let said = self.said.iter().map(|said| serde_json::to_value(said).unwrap_or_default());
        (said.collect(), self.exit.number())
    }

    /// As it was told elsewhere; none where it cannot be read.
    pub fn heard(said: Vec<Value>, exit: u8) -> Option<Self> {
        let said = said.into_iter().map(serde_json::from_value).collect::<Result<_, _>>().ok()?;
        Some(Self { said, exit: Exit::of_number(exit)? })
    }
}

fn one_visible_line<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text: Cow<'de, str> = Deserialize::deserialize(deserializer)?;
    Ok(visible_line(&text).into_owned())
}

fn visible_lines<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text: Cow<'de, str> = Deserialize::deserialize(deserializer)?;
    Ok(text.split('\n').map(visible_line).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::show::quoted;

    #[test]
    fn what_is_sent_elsewhere_is_shown_there_as_it_would_be_here() {
        let mut sheet = Sheet::new().ending(Exit::BlockedOnUser);
        sheet.print(&Line::new().add(Style::Good, "DONE").gap().facts(Style::Dim, ["a", "b"]));
        quoted("- one\n    two").for_each(|line| sheet.print_whole(&line.behind(Style::Warn, "12:00  ")));
        sheet.print_text("graph TD\n  a --> b\n".to_owned());
        sheet.object(&json!({"cost": 0.1 + 0.2, "text": "\u{1b}[31mé\n"}));
        let (said, exit) = sheet.told();
        let sent: Vec<Value> = serde_json::from_str(&serde_json::to_string(&said).unwrap()).unwrap();
        assert_eq!(Sheet::heard(sent, exit), Some(sheet));
    }

    #[test]
    fn what_comes_from_elsewhere_does_nothing_to_the_terminal() {
        let hostile = "\u{1b}]52;c;aGk=\u{7}\r";
        let margin = json!({"style": "dim", "first": hostile, "next": hostile});
        let line = json!({"before": [margin], "margin": [margin],
            "pieces": [{"style": "plain", "text": hostile, "hold": "breaks"}]});
        let said =
            json!([{"short": line}, {"whole": line}, {"text": hostile}, {"object": hostile}, {"mentioned": hostile}]);
        let heard = Sheet::heard(serde_json::from_value(said).unwrap(), 0).unwrap();
        for said in &heard.said {
            let shown = match said {
                Said::Short(line) | Said::Whole(line) => line.text(),
                Said::Text(text) | Said::Object(text) | Said::Mentioned(text) => text.clone(),
            };
            assert!(!shown.contains(|c: char| c.is_control()), "{said:?}");
        }
        assert_eq!(heard.said.len(), 5);
    }
}
