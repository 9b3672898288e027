//! A work graph as a Mermaid flowchart, for documents that draw such themselves. Nodes are numbered, since some words mean something
//! there; every mark in a text that could is written as its number.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use windlass_domain::plan::AtomId;
use windlass_policy::visible_line;

use super::picture::{Atom, Group, Part, Picture};
use crate::show::{headline, shortened};

const LONGEST: usize = 48;

const CLASSES: &str = "  classDef done fill:#dafbe1,stroke:#1a7f37,color:#116329
  classDef work fill:#ddf4ff,stroke:#0969da,color:#0550ae,stroke-width:3px
  classDef held fill:#fff8c5,stroke:#9a6700,color:#7d4e00,stroke-width:2px
  classDef next fill:#ffffff,stroke:#0969da,color:#1f2328
  classDef wait fill:#f6f8fa,stroke:#8c959f,color:#1f2328
  classDef aside fill:#f6f8fa,stroke:#8c959f,color:#59636e,stroke-dasharray:3 3
  classDef fail fill:#ffebe9,stroke:#cf222e,color:#a40e26
  classDef gone fill:#f6f8fa,stroke:#d0d7de,color:#6e7781
";

pub fn mermaid(picture: &Picture) -> String {
    let root = &picture.root;
    let numbers = root.names().into_iter().enumerate().map(|(number, id)| (id, format!("n{number}"))).collect();
    let mut chart = Chart { numbers, text: "flowchart LR\n".to_owned() };
    match root.parts.is_empty() {
        true => chart.atom(root, 1),
        false => root.parts.iter().for_each(|part| chart.part(part, 1)),
    }
    for atom in picture.atoms() {
        chart.edges(atom);
    }
    chart.text + CLASSES
}

struct Chart<'a> {
    numbers: BTreeMap<&'a AtomId, String>,
    text: String,
}

impl Chart<'_> {
    fn line(&mut self, depth: usize, line: &str) {
        writeln!(self.text, "{}{line}", "  ".repeat(depth)).expect("a string takes what is written");
    }

    fn part(&mut self, part: &Part, depth: usize) {
        match part {
            Part::Atom(atom) => self.atom(atom, depth),
            Part::Group(group) => self.group(group, depth),
        }
    }

    fn atom(&mut self, atom: &Atom, depth: usize) {
        let number = self.numbers[&atom.id].clone();
        let name = format!("{} {}", atom.mark.sign(), atom.id);
        let title = shortened(&visible_line(&headline(&atom.title)), LONGEST);
        if atom.parts.is_empty() {
            let label = format!("{}<br/>{}", safe(&name), safe(&title));
            self.line(depth, &format!("{number}[\"{label}\"]:::{}", atom.mark.class()));
            return;
        }
        self.line(depth, &format!("subgraph {number}[\"{} AND {}\"]", safe(&name), safe(&title)));
        atom.parts.iter().for_each(|part| self.part(part, depth + 1));
        self.line(depth, "end");
    }

    fn group(&mut self, group: &Group, depth: usize) {
        let number = self.numbers[&group.id].clone();
        let how = if group.is_race { "OR, all at once" } else { "OR" };
        self.line(depth, &format!("subgraph {number}[\"◇ {} {how}\"]", safe(group.id.as_str())));
        group.choices.iter().for_each(|choice| self.atom(choice, depth + 1));
        self.line(depth, "end");
    }

    fn edges(&mut self, atom: &Atom) {
        for before in &atom.after {
            if let (Some(from), Some(to)) = (self.numbers.get(before), self.numbers.get(&atom.id)) {
                let arrow = if atom.waits_for.contains(before) { "-.->" } else { "-->" };
                let edge = format!("{from} {arrow} {to}");
                self.line(1, &edge);
            }
        }
    }
}

/// Everything that is ASCII and neither letter, digit nor blank is written as its number, but what ends and joins words.
fn safe(text: &str) -> String {
    let mut safe = String::new();
    for letter in visible_line(text).chars() {
        let is_plain =
            !letter.is_ascii() || letter.is_ascii_alphanumeric() || matches!(letter, ' ' | '.' | ',' | '-' | '_');
        match is_plain {
            true => safe.push(letter),
            false => write!(safe, "#{};", u32::from(letter)).expect("a string takes what is written"),
        }
    }
    safe
}
