//! The keys: the few that matter now in the last row, and all of them on a page.

use super::super::model::{Model, Page, Step};
use super::super::sight::About;
use super::rows::{Foot, Row, whole};
use super::{Scrolled, Sheet};
use crate::show::{Line, Style, width_of};

type Hint = (&'static str, &'static str);

const GROUPS: [(&str, &[Hint]); 4] = [
    (
        "Everywhere",
        &[
            ("Tab 1 2 3", "the pages"),
            ("↑ ↓ PgUp PgDn", "see more"),
            ("?", "these keys"),
            ("Ctrl L", "paint the screen anew"),
            ("q Ctrl C", "leave"),
        ],
    ),
    (
        "Review",
        &[
            ("a", "approve"),
            ("y", "the second step, where one is asked for"),
            ("d", "decline, with a reason"),
            ("e", "ask for something else"),
            ("x", "everything, on the whole page"),
            ("j k", "next, previous"),
            ("1–9", "take an option of a question"),
            ("r Enter", "answer a question in words"),
        ],
    ),
    ("Stream", &[("Enter", "write, and send"), ("Esc", "stop writing"), ("s", "another conversation")]),
    (
        "Activity",
        &[
            ("/", "only what has these words"),
            ("x", "every record"),
            ("j k", "older, newer"),
            ("Enter", "the record itself"),
            ("Esc", "back"),
        ],
    ),
];

pub fn sheet(model: &Model) -> Sheet {
    let mut body = Vec::new();
    // The page that one is on first: where there is little room, the others are below.
    let mut groups: Vec<_> = GROUPS.iter().collect();
    groups.sort_by_key(|(name, _)| (*name != model.page.name(), *name != "Everywhere"));
    for (name, keys) in groups {
        body.push(vec![(Style::Bold, (*name).to_owned())]);
        for (key, what) in *keys {
            let line = Line::marked(Style::Accent, &format!("  {key:<14}")).plain(what);
            body.extend(whole(&line, model.size.0.into()));
        }
        body.push(Row::new());
    }
    Sheet { body, foot: Foot::default(), is_scrolled: Scrolled::From(0) }
}

/// As many as there is room for.
pub fn hints(model: &Model) -> Row {
    let mut row = Row::new();
    let mut left = usize::from(model.size.0).saturating_sub(1);
    for (key, what) in now(model) {
        let width = width_of(key) + width_of(what) + 3;
        if width > left {
            break;
        }
        left -= width;
        row.extend([(Style::Accent, format!(" {key}")), (Style::Dim, format!(" {what} "))]);
    }
    row
}

fn now(model: &Model) -> Vec<Hint> {
    if model.shows_keys {
        return vec![("any key", "back")];
    }
    match model.page {
        Page::Review => review(model),
        Page::Stream if model.stream.choosing.is_some() => {
            vec![("Enter", "this one"), ("j k", "choose"), ("Esc", "back")]
        }
        Page::Stream if model.stream.is_writing => vec![("Enter", "send"), ("Esc", "stop writing"), ("Tab", "pages")],
        Page::Stream => {
            vec![("Enter", "say something"), ("?", "keys"), ("s", "conversations"), ("Tab", "pages"), ("q", "leave")]
        }
        Page::Activity if model.activity.record.is_some() => vec![("Esc", "back"), ("↑ ↓", "see more")],
        Page::Activity if model.activity.is_filtering => vec![("Enter", "done"), ("Esc", "everything again")],
        Page::Activity => vec![
            ("Enter", "the record"),
            ("/", "find"),
            ("?", "keys"),
            ("x", if model.activity.shows_everything { "less" } else { "every record" }),
            ("Tab", "pages"),
            ("q", "leave"),
        ],
    }
}

fn review(model: &Model) -> Vec<Hint> {
    const REST: [Hint; 4] = [("?", "keys"), ("j k", "others"), ("Tab", "pages"), ("q", "leave")];
    let x = ("x", if model.review.shows_everything { "less" } else { "everything" });
    let own = match (&model.review.step, model.active().map(|waiting| &waiting.about)) {
        (Step::Declining(_), _) => return vec![("Enter", "decline"), ("Esc", "back")],
        (Step::SendingBack(_), _) => return vec![("Enter", "send back"), ("Esc", "back")],
        (Step::Replying(_), _) => return vec![("Enter", "answer"), ("Esc", "back")],
        (Step::Twice, _) => return vec![("y", "yes, approve it"), ("Esc", "back"), x],
        (Step::Sending, _) => vec![],
        (Step::Looking, Some(About::Card(_))) => {
            let edit = model.active().filter(|waiting| !waiting.is_yes_or_no).map(|_| ("e", "edit"));
            [("a", "approve"), ("d", "decline")].into_iter().chain(edit).chain([x]).collect()
        }
        (Step::Looking, Some(About::Question { options, .. })) => match options.is_empty() {
            true => vec![("Enter", "answer"), x],
            false => vec![("1–9", "take one"), ("r", "other words"), x],
        },
        (Step::Looking, None) if model.review.active.is_some() => vec![("Enter", "the next")],
        (Step::Looking, None) => return vec![("?", "keys"), ("Tab", "pages"), ("q", "leave")],
    };
    own.into_iter().chain(REST).collect()
}
