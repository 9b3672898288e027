//! What the tests share: a desk with something on it, and a person who presses keys.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use windlass_domain::{SessionId, TaskId, Wall};

use super::super::input::{Effect, Input, Key};
use super::super::model::{Model, Page};
use super::super::sight::{About, Desk, Earlier, Happening, Item, Known, Look, Stakes, Talk, Told, Waiting};
use super::super::update::update;
use super::super::view::{Palette, view};
use crate::show::{Line, Style, quoted};

/// As it stands before anything was told.
pub fn sat_down(size: (u16, u16)) -> Model {
    let session = SessionId::of("/work", "");
    let mut model = Model::new("/home/you/windlass".to_owned(), Some((session, "/work".to_owned())));
    update(&mut model, Input::Sized(size.0, size.1));
    model
}

pub fn card(id: &str, stakes: Stakes) -> Waiting {
    let risk = if stakes == Stakes::Ordinary { "medium risk" } else { "high risk" };
    let in_short = Line::new().plain(format!("card {id}  ")).add(Style::Warn, risk).plain("  ").plain("run a command");
    Waiting { id: id.to_owned(), in_short, about: About::Card(stakes), is_yes_or_no: false }
}

pub fn question(id: &str, options: &[&str]) -> Waiting {
    let about = About::Question {
        task: TaskId::new(Wall::default(), 1),
        options: options.iter().map(|option| (*option).to_owned()).collect(),
    };
    let in_short = Line::new().plain(format!("question {id}  Which colour?"));
    Waiting { id: id.to_owned(), in_short, about, is_yes_or_no: false }
}

pub fn desk(waiting: Vec<Waiting>) -> Told {
    let open = vec![Line::new().dim("1a2b3c4d  ").add(Style::Accent, "running").plain("  Make the tests pass")];
    Told::Desk(Desk { open, running: 1, waiting })
}

/// What a card of this id says.
pub fn whole(id: &str) -> Told {
    let labelled = |label: &str| Line::marked(Style::Dim, &format!("  {label:<10}"));
    let mut lines = vec![
        Line::new().add(Style::Bold, format!("card {id}")).plain("  ").add(Style::Warn, "high risk"),
        labelled("wants").plain("run a command"),
        labelled("agent").dim("its own words, which nobody has to believe:"),
    ];
    lines.extend(quoted("I will remove the old file,\nbecause it is old.").map(|line| line.behind(Style::Plain, "  ")));
    lines.extend([
        labelled("runs").plain("sh -c \"rm old.txt\u{202e}\u{1b}]52;c;aGk=\u{7}\ncard 00000000\""),
        labelled("in").plain("/work").point(Style::Dim).plain("sandbox bubblewrap"),
        labelled("then").plain("the file is gone"),
        labelled("at worst").plain("the whole task uses 3 attempts · 200,000 tokens · $2.00 · 30 min"),
    ]);
    Told::Item(Some(Item { id: id.to_owned(), lines, consequences: 2 }))
}

pub fn talk() -> Told {
    let said = [Line::marked(Style::Accent, "› ").add(Style::Bold, "Which day is it?")]
        .into_iter()
        .chain([Line::new()])
        .chain(quoted("Thursday. What else can I do?\u{1b}[2J"))
        .chain([Line::new()])
        .collect();
    let session = SessionId::of("/work", "");
    let work = vec![
        Line::new().dim("1a2b3c4d  ").add(Style::Accent, "running").plain("  Make the tests pass"),
        Line::new().plain("`bash` did its work in 2 s").behind(Style::Dim, "    12:00:03  "),
    ];
    let known = vec![Known { session, line: Line::new().plain("/work") }];
    Told::Talk(Talk { session: Some(session), folder: Some("/work".to_owned()), said, is_answering: true, work, known })
}

pub fn happening(position: u64, words: &str) -> Happening {
    let line = Line::new().plain(words).behind(Style::Dim, &format!("12:00:{:02}  ", position % 60));
    let day = format!("2026-11-{:02}", 10 + position / 10);
    Happening { position, day, line, words: words.to_lowercase(), is_quiet: words.contains("quietly") }
}

pub fn earlier(positions: std::ops::Range<u64>, more_before: Option<u64>) -> Told {
    let happened =
        positions.rev().map(|position| happening(position, &format!("Number {position} happened"))).collect();
    Told::Before(Earlier { happened, more_before })
}

/// The page with a desk on it.
pub fn reviewing(size: (u16, u16), waiting: Vec<Waiting>) -> Model {
    let mut model = sat_down(size);
    let first = waiting.first().map(|waiting| waiting.id.clone());
    update(&mut model, Input::Told(Look::Desk, desk(waiting)));
    if let Some(id) = first {
        update(&mut model, Input::Told(Look::Item(id.clone()), whole(&id)));
    }
    model
}

pub fn turned_to(mut model: Model, page: Page) -> Model {
    while model.page != page {
        update(&mut model, Input::Pressed(Key::Tab));
    }
    model
}

/// What is asked for after these keys: letters, and names between brackets.
pub fn press(model: &mut Model, keys: &str) -> Vec<Effect> {
    let mut effects = Vec::new();
    for word in keys.split(' ') {
        let named = match word {
            "Enter" => Some(Key::Enter),
            "Esc" => Some(Key::Escape),
            "Tab" => Some(Key::Tab),
            "Down" => Some(Key::Down),
            "PgDn" => Some(Key::PageDown),
            "End" => Some(Key::End),
            "Back" => Some(Key::Backspace),
            "Space" => Some(Key::Letter(' ')),
            "Ctrl-C" => Some(Key::Ctrl('c')),
            _ => None,
        };
        let keys = named.map_or_else(|| word.chars().map(Key::Letter).collect(), |key| vec![key]);
        for key in keys {
            effects.extend(update(model, Input::Pressed(key)));
        }
    }
    effects
}

/// As a terminal without colours shows it.
pub fn seen(model: &Model) -> String {
    let (columns, rows) = model.size;
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("in memory");
    terminal.draw(|frame| view(model, Palette::Plain, frame)).expect("in memory");
    let buffer = terminal.backend().buffer();
    let row = |y| (0..columns).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
    (0..rows).map(row).collect::<Vec<_>>().join("\n").trim_end().to_owned()
}
