//! Two texts beside each other, line by line: what both have, what only the first has, what only the second has.

use super::line::Line;
use super::style::Style;

#[derive(Debug, PartialEq, Eq)]
pub enum Change<'a> {
    Same(&'a str),
    Gone(&'a str),
    New(&'a str),
}

impl Change<'_> {
    pub fn line(&self) -> Line {
        match self {
            Self::Same(text) => Line::new().dim(format!("    {text}")),
            Self::Gone(text) => Line::marked(Style::Bad, "  - ").plain(*text),
            Self::New(text) => Line::marked(Style::Good, "  + ").plain(*text),
        }
    }
}

/// More lines than this are not compared with each other, only shown one after the other.
const MOST_COMPARED: usize = 4_000_000;

/// What both have, in order, and what only one has: by the longest common part.
pub fn differences<'a>(before: &'a [String], now: &'a [String]) -> Vec<Change<'a>> {
    let gone = |lines: &'a [String]| lines.iter().map(|line| Change::Gone(line));
    let new = |lines: &'a [String]| lines.iter().map(|line| Change::New(line));
    if before.len().saturating_mul(now.len()) > MOST_COMPARED {
        return gone(before).chain(new(now)).collect();
    }
    // How many lines the rests from here and there have in common.
    let mut common = vec![vec![0_usize; now.len() + 1]; before.len() + 1];
    for (here, one) in before.iter().enumerate().rev() {
        for (there, other) in now.iter().enumerate().rev() {
            common[here][there] = match one == other {
                true => common[here + 1][there + 1] + 1,
                false => common[here + 1][there].max(common[here][there + 1]),
            };
        }
    }
    let (mut here, mut there, mut changes) = (0, 0, Vec::new());
    while here < before.len() && there < now.len() {
        if before[here] == now[there] {
            changes.push(Change::Same(&now[there]));
            (here, there) = (here + 1, there + 1);
        } else if common[here + 1][there] >= common[here][there + 1] {
            changes.push(Change::Gone(&before[here]));
            here += 1;
        } else {
            changes.push(Change::New(&now[there]));
            there += 1;
        }
    }
    changes.extend(gone(&before[here..]));
    changes.extend(new(&now[there..]));
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_stands_beside_what_did_not() {
        let lines = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let (before, now) = (lines("a b c d"), lines("a x c d e"));
        let marks = |before: &[String], now: &[String]| {
            let mark = |change: &Change<'_>| match change {
                Change::Same(line) => format!(" {line}"),
                Change::Gone(line) => format!("-{line}"),
                Change::New(line) => format!("+{line}"),
            };
            differences(before, now).iter().map(mark).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(marks(&before, &now), " a -b +x  c  d +e");
        assert_eq!(marks(&[], &before), "+a +b +c +d");
        assert_eq!(marks(&before, &[]), "-a -b -c -d");
        assert_eq!(marks(&now, &now), " a  x  c  d  e");
    }
}
