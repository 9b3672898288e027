//! Rows under headings, as Markdown that also reads well on a terminal.

use std::fmt::Write as _;

use crate::aims::Aim;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Met,
    Missed,
    /// There is no aim, or the number only explains another.
    NotJudged,
}

impl Verdict {
    pub const fn of(met: bool) -> Self {
        if met { Self::Met } else { Self::Missed }
    }
}

pub struct Row {
    pub work: String,
    pub windlass: String,
    /// What the same run measured for comparison, and the ratio to it.
    pub beside: String,
    pub aim: &'static Aim,
    pub verdict: Verdict,
}

impl Row {
    pub fn new(work: impl Into<String>, windlass: String, beside: String, aim: &'static Aim, verdict: Verdict) -> Self {
        Self { work: work.into(), windlass, beside, aim, verdict }
    }
}

pub struct Section {
    pub title: &'static str,
    pub rows: Vec<Row>,
    pub notes: Vec<String>,
}

const HEADINGS: [&str; 6] = ["Work", "Windlass", "Beside it, same run", "Aim", "Met", "Peers, as measured before"];

pub fn render(sections: &[Section]) -> String {
    let mut out = String::new();
    for section in sections {
        let cells = section.rows.iter().map(cells).collect::<Vec<_>>();
        // Columns nobody has anything to say in are left out.
        let kept: Vec<usize> = (0..HEADINGS.len())
            .filter(|&column| column == 0 || cells.iter().any(|row| !row[column].is_empty()))
            .collect();
        writeln!(out, "## {}\n", section.title).expect("text can always grow");
        line(&mut out, &kept, &HEADINGS.map(str::to_owned), &widths(&cells));
        line(&mut out, &kept, &widths(&cells).map(|width| "-".repeat(width)), &widths(&cells));
        cells.iter().for_each(|row| line(&mut out, &kept, row, &widths(&cells)));
        section.notes.iter().for_each(|note| write!(out, "\n{note}\n").expect("text can always grow"));
        out.push('\n');
    }
    out
}

fn cells(row: &Row) -> [String; 6] {
    let met = match row.verdict {
        Verdict::Met => "yes",
        Verdict::Missed => "**no**",
        Verdict::NotJudged => "",
    };
    [
        row.work.clone(),
        row.windlass.clone(),
        row.beside.clone(),
        row.aim.aim.to_owned(),
        met.to_owned(),
        row.aim.peers.to_owned(),
    ]
}

fn widths(cells: &[[String; 6]]) -> [usize; 6] {
    // The last column is prose: padding it would only make long lines longer.
    let widest = |column: usize| match column {
        5 => 25,
        _ => cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0),
    };
    std::array::from_fn(|column| widest(column).max(HEADINGS[column].chars().count()))
}

fn line(out: &mut String, kept: &[usize], cells: &[String; 6], widths: &[usize; 6]) {
    for &column in kept {
        let (cell, width) = (&cells[column], widths[column]);
        write!(out, "| {cell:<width$} ").expect("text can always grow");
    }
    out.push_str("|\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aims;

    #[test]
    fn a_column_that_is_empty_is_left_out_and_a_miss_stands_out() {
        let row = |work: &str, verdict| Row {
            work: work.into(),
            windlass: "1".into(),
            beside: String::new(),
            aim: &aims::WARM,
            verdict,
        };
        let rows = vec![row("a", Verdict::Missed), row("longer", Verdict::Met)];
        let text = render(&[Section { title: "T", rows, notes: vec!["Note.".into()] }]);
        assert!(!text.contains("Beside"), "{text}");
        assert!(text.contains("| a      | 1        | ≤ 2 ms | **no** |"), "{text}");
        assert!(text.ends_with("\nNote.\n\n"), "{text}");
    }
}
