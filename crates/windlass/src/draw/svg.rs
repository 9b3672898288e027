//! A work graph as a drawing that needs nothing else: no script, no font, no style sheet, legible on light and on dark.

use std::fmt::Write as _;

use windlass_domain::plan::AtomId;
use windlass_policy::visible_line;

use super::layout::{HEAD, Layout, Rect, Thing};
use super::picture::{Atom, Group, Mark, Picture};
use crate::show::{headline, shortened};

const MARGIN: u32 = 24;
const TITLE: u32 = 48;
const LEGEND: u32 = 44;
/// Of letters that are all as wide, of the sizes that are used, in tenths of a pixel.
const LARGE: u32 = 78;
const SMALL: u32 = 66;

const STYLE: &str = include_str!("graph.css");

pub fn svg(picture: &Picture, title: &str) -> String {
    let layout = Layout::of(picture);
    let mut out = String::new();
    write_all(&mut out, picture, &layout, title).expect("a string takes what is written");
    out
}

fn write_all(out: &mut String, picture: &Picture, layout: &Layout<'_>, title: &str) -> std::fmt::Result {
    let legend: u32 = picture.marks().iter().map(|mark| legend_width(*mark)).sum();
    let width = layout.width.max(legend).max(360) + 2 * MARGIN;
    let height = TITLE + layout.height + LEGEND + 2 * MARGIN;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">"
    )?;
    writeln!(out, "<title>{}</title>\n<style>\n{STYLE}</style>", xml(title))?;
    writeln!(
        out,
        "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path class=\"tip\" d=\"M0 0.5 L7.5 4 L0 7.5 Z\"/></marker></defs>"
    )?;
    writeln!(out, "<rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>")?;
    let room = (width - 2 * MARGIN) * 10 / 96;
    writeln!(out, "<text class=\"title\" x=\"{MARGIN}\" y=\"{}\">{}</text>", MARGIN + 18, cut(&headline(title), room))?;
    writeln!(out, "<g transform=\"translate({MARGIN} {})\">", MARGIN + TITLE)?;
    let is_frame = |thing: &Thing<'_>| !matches!(thing, Thing::Leaf(_));
    for (rect, thing) in layout.things.iter().filter(|(_, thing)| is_frame(thing)) {
        frame(out, *rect, *thing)?;
    }
    for (rect, thing) in &layout.things {
        for before in thing.after() {
            edge(out, layout, before, *rect, picture)?;
        }
    }
    for (rect, thing) in &layout.things {
        if let Thing::Leaf(atom) = thing {
            leaf(out, *rect, atom)?;
        }
    }
    writeln!(out, "</g>")?;
    key(out, picture, height - MARGIN)?;
    writeln!(out, "</svg>")
}

fn frame(out: &mut String, rect: Rect, thing: Thing<'_>) -> std::fmt::Result {
    let Rect { x, y, width, height } = rect;
    let (class, name, hint) = match thing {
        Thing::Choices(Group { id, is_race, taken, is_done, .. }) => {
            let how = if *is_race { "OR, all at once" } else { "OR" };
            let taken = taken.as_ref().map(|taken| format!(": {taken}")).unwrap_or_default();
            let sign = if *is_done { Mark::Done.sign() } else { "◇" };
            let class = if *is_done { "or done" } else { "or" };
            (class.to_owned(), format!("{sign} {how} {id}{taken}"), String::new())
        }
        Thing::Holder(atom) | Thing::Leaf(atom) => {
            let name = format!("{} AND {}  {}", atom.mark.sign(), atom.id, headline(&atom.title));
            (format!("and {}", atom.mark.class()), name, full(atom))
        }
    };
    let room = (width - 20) * 10 / SMALL;
    writeln!(out, "<g class=\"{class}\"><title>{}</title>", xml(if hint.is_empty() { &name } else { &hint }))?;
    writeln!(out, "<rect class=\"frame\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"10\"/>")?;
    writeln!(out, "<text class=\"head\" x=\"{}\" y=\"{}\">{}</text></g>", x + 10, y + HEAD - 10, cut(&name, room))
}

fn leaf(out: &mut String, rect: Rect, atom: &Atom) -> std::fmt::Result {
    let Rect { x, y, width, height } = rect;
    let inner = width - 20;
    writeln!(out, "<g class=\"{}\"><title>{}</title>", atom.mark.class(), xml(&full(atom)))?;
    writeln!(out, "<rect class=\"box\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"7\"/>")?;
    let name = format!("{} {}", atom.mark.sign(), atom.id);
    let lines = [
        ("name", 18, cut(&name, inner * 10 / LARGE)),
        ("words", 34, cut(&headline(&atom.title), inner * 10 / SMALL)),
        ("facts", 49, cut(&facts(atom), inner * 10 / SMALL)),
    ];
    for (class, dy, text) in lines {
        writeln!(out, "<text class=\"{class}\" x=\"{}\" y=\"{}\">{text}</text>", x + 10, y + dy)?;
    }
    writeln!(out, "</g>")
}

fn facts(atom: &Atom) -> String {
    let attempts = atom.attempts.map(|attempts| format!("{} of {} attempts", attempts.used, attempts.of));
    let facts = std::iter::once(atom.mark.word().to_owned()).chain(attempts).chain(atom.note.clone());
    headline(&facts.collect::<Vec<_>>().join(" · "))
}

/// All that is cut short elsewhere.
fn full(atom: &Atom) -> String {
    let names: Vec<&str> = atom.after.iter().map(AtomId::as_str).collect();
    let after = if names.is_empty() { String::new() } else { format!(" · after {}", names.join(", ")) };
    format!("{}: {} ({}){after}", atom.id, headline(&atom.title), facts(atom))
}

fn edge(out: &mut String, layout: &Layout<'_>, before: &AtomId, to: Rect, picture: &Picture) -> std::fmt::Result {
    let Some(from) = layout.find(before) else { return Ok(()) };
    let is_done = is_done(picture, before);
    let (x1, y1) = (from.x + from.width, from.y + from.height / 2);
    let (x2, y2) = (to.x, to.y + to.height / 2);
    let bend = (x2.abs_diff(x1) / 2).clamp(20, 120);
    let class = if is_done { "edge met" } else { "edge" };
    writeln!(
        out,
        "<path class=\"{class}\" d=\"M{x1} {y1} C{} {y1} {} {y2} {x2} {y2}\" marker-end=\"url(#tip)\"/>",
        x1 + bend,
        x2.saturating_sub(bend)
    )
}

fn is_done(picture: &Picture, name: &AtomId) -> bool {
    let atoms = picture.atoms();
    let groups = atoms.iter().flat_map(|atom| &atom.parts);
    atoms.iter().any(|atom| atom.id == *name && atom.mark == Mark::Done)
        || groups.into_iter().any(|part| part.id() == name && part.is_done())
}

fn legend_width(mark: Mark) -> u32 {
    let letters = u32::try_from(mark.word().chars().count()).unwrap_or(u32::MAX);
    40 + letters * SMALL / 10
}

fn key(out: &mut String, picture: &Picture, y: u32) -> std::fmt::Result {
    let mut x = MARGIN;
    for mark in picture.marks() {
        let class = mark.class();
        writeln!(
            out,
            "<g class=\"{class}\"><rect class=\"box\" x=\"{x}\" y=\"{}\" width=\"12\" height=\"12\" rx=\"3\"/>",
            y - 10
        )?;
        writeln!(out, "<text class=\"key\" x=\"{}\" y=\"{y}\">{}</text></g>", x + 18, mark.word())?;
        x += legend_width(mark);
    }
    Ok(())
}

fn cut(text: &str, columns: u32) -> String {
    xml(&shortened(&visible_line(text), columns as usize))
}

/// What is invisible is shown, what XML has no place for is replaced, and the rest means itself.
fn xml(text: &str) -> String {
    let mut safe = String::new();
    for letter in visible_line(text).chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            _ => safe.push(letter),
        }
    }
    safe
}
