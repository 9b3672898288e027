//! The page itself. No script, nothing from elsewhere but the screenshots that are evidence, and the policy in its head says so to
//! the browser; text is escaped in one place, and what is invisible in it is shown.

use std::fmt::Write as _;

use windlass_domain::{CallStatus, EvidenceRef, EvidenceType, TaskResult, grouped, millis};
use windlass_policy::visible;

use super::story::{Call, Item, Section, Story};
use crate::show::{duration, headline, subject, word};

const POLICY: &str =
    "default-src 'none'; img-src file:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
const STYLE: &str = include_str!("style.css");
/// Results are long; the journal has all of one.
const LONGEST: usize = 100_000;

pub fn page(story: &Story) -> String {
    let mut html = String::new();
    write_page(&mut html, story).expect("a string takes what is written");
    html
}

fn write_page(html: &mut String, story: &Story) -> std::fmt::Result {
    let title = text(&headline(&story.goal));
    writeln!(html, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
    writeln!(html, "<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">")?;
    writeln!(html, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
    writeln!(html, "<meta name=\"referrer\" content=\"no-referrer\">\n<title>{title}</title>")?;
    writeln!(html, "<style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>")?;
    if story.goal.trim() != headline(&story.goal) {
        writeln!(html, "<details><summary>The whole goal</summary><pre>{}</pre></details>", text(&story.goal))?;
    }
    write_facts(html, story)?;
    writeln!(html, "</header>\n<main>")?;
    for section in &story.sections {
        write_section(html, section)?;
    }
    write_end(html, story)?;
    writeln!(html, "</main>\n</body>\n</html>")
}

fn write_facts(html: &mut String, story: &Story) -> std::fmt::Result {
    let lasted = story.times.map(|(first, last)| duration(millis(last.since(first)))).unwrap_or_default();
    // To the second, as people write it.
    let begun = story.times.map(|(first, _)| first.to_rfc3339()).unwrap_or_default();
    let begun = begun.get(..19).map(|time| format!("{} UTC", time.replace('T', " "))).unwrap_or_default();
    let tokens = format!("{} in, {} out", grouped(story.usage.input), grouped(story.usage.output));
    let facts = [
        ("Status", story.status.replace('_', " ").to_lowercase()),
        ("Model", story.model.clone()),
        ("Tokens", tokens),
        ("Cost", story.cost.to_string()),
        ("Time", lasted),
        ("Begun", begun),
    ];
    let class = match story.status.as_str() {
        "COMPLETED" => "good",
        "FAILED" | "CANCELLED" => "bad",
        _ => "open",
    };
    writeln!(html, "<dl class=\"{class}\">")?;
    for (name, value) in facts {
        writeln!(html, "<div><dt>{name}</dt><dd>{}</dd></div>", text(&value))?;
    }
    writeln!(html, "</dl>")
}

fn write_section(html: &mut String, section: &Section) -> std::fmt::Result {
    writeln!(html, "<section id=\"x{}\">\n<h2>{}</h2>\n<ol>", section.execution, text(&section.title))?;
    for (at, item) in &section.items {
        let time = at.to_rfc3339();
        let clock = &time[11..19];
        match item {
            Item::Turn { iteration, is_summary, text: said, usage, duration_ms } => {
                let what = if *is_summary { "summary" } else { "turn" };
                let facts = format!("{} in, {} out", grouped(usage.input), grouped(usage.output));
                let lasted = duration(*duration_ms);
                writeln!(
                    html,
                    "<li class=\"turn\"><p class=\"meta\"><time>{clock}</time> {what} {iteration} · {facts} · {lasted}</p>"
                )?;
                if !said.trim().is_empty() {
                    writeln!(html, "<div class=\"said\">{}</div>", text(said))?;
                }
                writeln!(html, "</li>")?;
            }
            Item::Call(call) => write_call(html, call)?,
            Item::Note { what, text: note } => write_note(html, clock, what, note)?,
            Item::Child { execution, label } => writeln!(
                html,
                "<li class=\"note\"><p class=\"meta\"><time>{clock}</time> spawned <a href=\"#x{execution}\">{}</a></p></li>",
                text(label)
            )?,
        }
    }
    writeln!(html, "</ol>\n</section>")
}

fn write_call(html: &mut String, call: &Call) -> std::fmt::Result {
    let status = call.finished.as_ref().map(|finished| finished.status);
    let class = match status {
        Some(CallStatus::Ok) => "good",
        Some(_) => "bad",
        None => "open",
    };
    let shown = status.map_or_else(|| "not finished".to_owned(), |status| word(&status).replace('_', " "));
    write!(html, "<li class=\"call {class}\"><details><summary><b>{}</b> ", text(&call.tool))?;
    let about = Some(subject(&call.tool, &call.arguments)).filter(|about| !about.trim().is_empty());
    let about = about.as_deref().unwrap_or(&call.arguments);
    write!(html, "<code>{}</code> <span class=\"tag\">{shown}</span>", text(&headline(about)))?;
    if let Some(risk) = &call.risk {
        write!(html, " <span class=\"tag risk\">{} risk</span>", risk.level.as_str())?;
    }
    for decision in &call.decisions {
        write!(html, " <span class=\"tag\">{decision}</span>")?;
    }
    if let Some(finished) = &call.finished {
        write!(html, " <span class=\"meta\">{}</span>", duration(finished.duration_ms))?;
    }
    writeln!(html, "</summary>")?;
    if let Some(risk) = call.risk.as_ref().filter(|risk| !risk.reasons.is_empty()) {
        writeln!(html, "<p class=\"meta\">{}</p>", text(&risk.reasons.join("; ")))?;
    }
    writeln!(html, "<pre>{}</pre>", text(&pretty(&call.arguments)))?;
    if let Some(finished) = &call.finished {
        writeln!(html, "<pre>{}</pre>", text(&finished.content))?;
        for image in &finished.images {
            writeln!(html, "<p class=\"meta\">{}</p>", text(&image.in_words()))?;
        }
    }
    writeln!(html, "</details></li>")
}

fn write_note(html: &mut String, clock: &str, what: &str, note: &str) -> std::fmt::Result {
    let (what, line) = (text(what), headline(note));
    write!(html, "<li class=\"note\">")?;
    if note.trim() == line {
        return writeln!(html, "<p class=\"meta\"><time>{clock}</time> <b>{what}</b> {}</p></li>", text(&line));
    }
    writeln!(html, "<details><summary class=\"meta\"><time>{clock}</time> <b>{what}</b> {}</summary>", text(&line))?;
    writeln!(html, "<pre>{}</pre></details></li>", text(note))
}

/// Checks, and what it came to.
fn write_end(html: &mut String, story: &Story) -> std::fmt::Result {
    if story.checks.is_empty() && story.result.is_none() {
        return Ok(());
    }
    writeln!(html, "<section>\n<h2>Outcome</h2>\n<ol>")?;
    for check in &story.checks {
        let (class, shown) = if check.passed { ("good", "passed") } else { ("bad", "failed") };
        writeln!(
            html,
            "<li class=\"call {class}\"><b>{}</b> <span class=\"tag\">{shown}</span></li>",
            text(&check.name)
        )?;
    }
    if let Some(result) = &story.result {
        let error = result.error_details.as_ref().map(|error| error.message.as_str());
        for said in error.into_iter().chain(result.final_message.as_deref()) {
            writeln!(html, "<li><div class=\"said\">{}</div></li>", text(said))?;
        }
        write_screenshots(html, result)?;
    }
    writeln!(html, "</ol>\n</section>")
}

fn write_screenshots(html: &mut String, result: &TaskResult) -> std::fmt::Result {
    for EvidenceRef { uri, description, .. } in
        result.evidence_refs.iter().filter(|evidence| evidence.kind == EvidenceType::Screenshot)
    {
        let (uri, what) = (text(uri), text(description.as_deref().unwrap_or_default()));
        let picture = format!("<img src=\"{uri}\" alt=\"\" loading=\"lazy\">");
        writeln!(
            html,
            "<li><figure><a href=\"{uri}\">{picture}</a><figcaption class=\"meta\">{what}</figcaption></figure></li>"
        )?;
    }
    Ok(())
}

fn pretty(json: &str) -> String {
    let value = serde_json::from_str::<serde_json::Value>(json).ok();
    value.and_then(|value| serde_json::to_string_pretty(&value).ok()).unwrap_or_else(|| json.to_owned())
}

/// The one way into the page for what somebody wrote.
fn text(written: &str) -> String {
    let cut = written.char_indices().nth(LONGEST).map_or(written, |(end, _)| &written[..end]);
    let mut safe = String::with_capacity(cut.len());
    for character in visible(cut).chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    if cut.len() < written.len() {
        safe.push_str(" …");
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_written_is_text() {
        let goal = "</title><script>alert(1)</script><img src=x onerror='alert(1)'>\u{202e}";
        let mut story = Story::default();
        (story.goal, story.model) = (goal.to_owned(), goal.to_owned());
        let html = page(&story);
        for tag in ["<script", "<img", "\u{202e}"] {
            assert!(goal.contains(tag) && !html.contains(tag), "{html}");
        }
        assert!(html.contains("&lt;script&gt;") && html.contains("&lt;U+202E&gt;"), "{html}");
    }
}
