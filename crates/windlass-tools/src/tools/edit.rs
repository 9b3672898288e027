//! `edit`: one piece of text for another, in one file. The old text must be there, and only once unless all of them are
//! meant; a model that misremembers the file is told where the nearest thing to it stands.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_domain::{BoxFuture, Digest, Permit, Prepared, Reach, ToolSpec};
use windlass_workspace::WorkspacePath;

use crate::change;
use crate::context::Context;
use crate::text::{Content, content};
use crate::tool::{Output, Running, Tool, arguments, spec, typed};

const LARGEST: u64 = 16 * 1024 * 1024;

#[derive(Debug, Clone, Copy)]
pub struct Edit;

#[derive(Deserialize)]
struct Arguments {
    path: String,
    old_string: String,
    new_string: String,
    replace_all: Option<bool>,
}

impl Tool for Edit {
    fn spec(&self) -> ToolSpec {
        spec(
            "edit",
            "Replace text in a file. old_string must match the file exactly, white space included, without the line \
             numbers that read shows, and must occur exactly once unless replace_all is true.",
            json!({
                "type": "object",
                "properties": {
                    "path": {
                        "type": "string",
                        "minLength": 1,
                        "description": "Relative to /workspace, or absolute below it",
                    },
                    "old_string": { "type": "string", "minLength": 1, "description": "The text to replace" },
                    "new_string": { "type": "string", "description": "What to put in its place" },
                    "replace_all": {
                        "type": "boolean",
                        "default": false,
                        "description": "Replace every occurrence",
                    },
                },
                "required": ["path", "old_string", "new_string"],
                "additionalProperties": false,
            }),
        )
    }

    fn prepare(&self, arguments: &Value, context: &Context) -> Result<Prepared, String> {
        let arguments: Arguments = typed(arguments)?;
        let told = |error: windlass_workspace::Error| error.to_string();
        let path = WorkspacePath::parse(&arguments.path).map_err(told)?;
        let before = context.root.read(&path, LARGEST).map_err(|error| missing_hint(&error))?;
        context.root.check_write(&path).map_err(told)?;
        let digest = Digest::of(&before);
        let Edited { text, lines } = edited(before, &arguments).map_err(|reason| format!("{path}: {reason}"))?;
        let result = match lines.as_slice() {
            [line] => format!("Edited {path}: replaced 1 occurrence at line {line}."),
            lines => format!("Edited {path}: replaced {} occurrences at lines {}.", lines.len(), listed(lines)),
        };
        let effect = change::intend(&path, Some(digest), text.as_bytes(), result);
        Ok(Prepared::new(effect, Reach::Files(vec![path.to_record()])))
    }

    fn run<'a>(&'a self, permit: Permit, context: &'a Context, _: Running<'a>) -> BoxFuture<'a, Output> {
        let root = context.root.clone();
        Box::pin(context.runtime.blocking(move || {
            let arguments: Arguments = match arguments(&permit.call().call) {
                Ok(arguments) => arguments,
                Err(reason) => return Output::error(reason),
            };
            match WorkspacePath::parse(&arguments.path) {
                Ok(path) => change::perform(permit, &root, &path, LARGEST, |before| {
                    let before = before.ok_or_else(|| format!("{path}: no such file"))?;
                    edited(before, &arguments).map(|edited| edited.text.into_bytes())
                }),
                Err(error) => Output::error(error.to_string()),
            }
        }))
    }
}

fn missing_hint(error: &windlass_workspace::Error) -> String {
    match error {
        windlass_workspace::Error::NotFound { .. } => {
            format!("{error}; use write to create a file")
        }
        other => other.to_string(),
    }
}

#[derive(Debug)]
struct Edited {
    text: String,
    /// Where each occurrence began.
    lines: Vec<usize>,
}

fn edited(before: Vec<u8>, arguments: &Arguments) -> Result<Edited, String> {
    let before = String::from_utf8(before).map_err(|bytes| match content(bytes.into_bytes()) {
        Content::Binary { kind } => format!("is {kind}; edit works on text"),
        Content::Text { encoding, .. } => format!(
            "is not UTF-8 but {}; edit works on UTF-8 text. Convert it with iconv in bash first",
            encoding.unwrap_or("something else")
        ),
    })?;
    let Arguments { old_string: old, new_string: new, replace_all, .. } = arguments;
    if old == new {
        return Err("old_string and new_string are the same; there is nothing to change".to_owned());
    }
    let (old, new) = in_line_endings_of(&before, old, new);
    let places: Vec<usize> = before.match_indices(old.as_str()).map(|(at, _)| at).collect();
    if places.is_empty() {
        return Err(no_match(&before, &old));
    }
    let lines = line_numbers(&before, &places);
    if places.len() > 1 && *replace_all != Some(true) {
        return Err(format!(
            "old_string occurs {} times, at lines {}. Add lines around it until it is unique, or set replace_all",
            places.len(),
            listed(&lines)
        ));
    }
    Ok(Edited { text: before.replace(old.as_str(), &new), lines })
}

/// Models write `\n`; a file with CRLF line endings keeps them.
fn in_line_endings_of(text: &str, old: &str, new: &str) -> (String, String) {
    let with_crlf = |part: &str| part.replace("\r\n", "\n").replace('\n', "\r\n");
    let lines = text.matches('\n').count();
    let crlf = text.matches("\r\n").count();
    if crlf > 0 && (crlf == lines || (!text.contains(old) && text.contains(&with_crlf(old)))) {
        (with_crlf(old), with_crlf(new))
    } else {
        (old.to_owned(), new.to_owned())
    }
}

/// `places` in rising order.
fn line_numbers(text: &str, places: &[usize]) -> Vec<usize> {
    let (mut line, mut seen) = (1, 0);
    let count = |at: &usize| {
        line += text[seen..*at].matches('\n').count();
        seen = *at;
        line
    };
    places.iter().map(count).collect()
}

fn listed(lines: &[usize]) -> String {
    const MOST: usize = 20;
    let mut text = lines.iter().take(MOST).map(usize::to_string).collect::<Vec<_>>().join(", ");
    if lines.len() > MOST {
        text.push_str(", …");
    }
    text
}

fn no_match(text: &str, old: &str) -> String {
    const BASE: &str = "old_string was not found; nothing was changed";
    if old.lines().all(has_line_number) && old.lines().any(|line| !line.trim().is_empty()) {
        return format!("{BASE}. It seems to include the line numbers that read shows; leave them out");
    }
    let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted: Vec<String> = old.lines().map(squeezed).filter(|line| !line.is_empty()).collect();
    let Some(first) = wanted.first() else {
        return format!("{BASE}. It is only white space; add the text around it");
    };
    let lines: Vec<(usize, String)> = text
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, squeezed(line)))
        .filter(|(_, line)| !line.is_empty())
        .collect();
    let same = lines.windows(wanted.len()).find(|window| window.iter().map(|(_, line)| line).eq(wanted.iter()));
    if let Some([(number, _), ..]) = same {
        return format!(
            "{BASE}. Line {number} has the same text with other white space; copy it exactly as read shows it"
        );
    }
    match nearest_line(&lines, first) {
        Some((number, line)) => format!("{BASE}. The nearest line is {number}: {line}"),
        None => format!("{BASE}. Read the file to see what it holds"),
    }
}

/// `read` shows a number, a tab, then the line.
fn has_line_number(line: &str) -> bool {
    line.split_once('\t').is_some_and(|(number, _)| {
        let number = number.trim();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// The line that shares most with `wanted`, if that is at least half of it.
fn nearest_line<'a>(lines: &'a [(usize, String)], wanted: &str) -> Option<(usize, String)> {
    const MOST_LINES: usize = 50_000;
    const MOST_SHOWN: usize = 200;
    let pairs = |text: &str| {
        let mut pairs: Vec<(char, char)> = text.chars().zip(text.chars().skip(1)).take(400).collect();
        pairs.sort_unstable();
        pairs
    };
    let target = pairs(wanted);
    let score = |(number, line): &'a (usize, String)| {
        let own = pairs(line);
        let shared = common(&own, &target);
        // Twice what is shared against both together, in thousandths.
        let likeness = 2_000 * shared / (own.len() + target.len()).max(1);
        (likeness, std::cmp::Reverse(*number), line)
    };
    let (likeness, std::cmp::Reverse(number), line) = lines.iter().take(MOST_LINES).map(score).max()?;
    (likeness >= 500).then(|| (number, line.chars().take(MOST_SHOWN).collect()))
}

/// How many elements two sorted lists share.
fn common(one: &[(char, char)], other: &[(char, char)]) -> usize {
    let (mut left, mut right, mut shared) = (0, 0, 0);
    while let (Some(a), Some(b)) = (one.get(left), other.get(right)) {
        match a.cmp(b) {
            std::cmp::Ordering::Less => left += 1,
            std::cmp::Ordering::Greater => right += 1,
            std::cmp::Ordering::Equal => (left, right, shared) = (left + 1, right + 1, shared + 1),
        }
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(text: &str, old: &str, new: &str, replace_all: Option<bool>) -> Result<String, String> {
        let arguments = Arguments { path: "a".into(), old_string: old.into(), new_string: new.into(), replace_all };
        edited(text.as_bytes().to_vec(), &arguments).map(|edited| edited.text)
    }

    #[test]
    fn one_occurrence_is_replaced() {
        assert_eq!(edit("a\nb\nc\n", "b", "B", None).as_deref(), Ok("a\nB\nc\n"));
        assert_eq!(edit("a a", "a", "b", Some(true)).as_deref(), Ok("b b"));
        assert_eq!(edit("a b", "a", "", Some(false)).as_deref(), Ok(" b"));
    }

    #[test]
    fn crlf_line_endings_are_kept() {
        assert_eq!(edit("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", None).as_deref(), Ok("x\r\ny\r\nz\r\nc\r\n"));
        assert_eq!(edit("a\r\nb\r\n", "b", "c\nd", None).as_deref(), Ok("a\r\nc\r\nd\r\n"));
        assert_eq!(edit("a\r\nb\r\n", "a\r\nb", "c\r\nd", None).as_deref(), Ok("c\r\nd\r\n"));
        assert_eq!(edit("a\nb\n", "a", "x\r\ny", None).as_deref(), Ok("x\r\ny\nb\n"));
        assert_eq!(edit("unix\na\r\nb\r\n", "a\nb", "c\nd", None).as_deref(), Ok("unix\nc\r\nd\r\n"));
        assert_eq!(edit("unix\na\r\n", "unix", "x\ny", None).as_deref(), Ok("x\ny\na\r\n"));
    }

    #[test]
    fn what_does_not_match_is_told_with_the_nearest_thing() {
        let check = |text: &str, old: &str, expected: &str| {
            let error = edit(text, old, "x", None).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        check(
            "fn main() {\n    run();\n}\n",
            "fn main() {\n  run();",
            "Line 1 has the same text with other white space",
        );
        check(
            "alpha\nlet total = count + 1;\n",
            "let total = count + 2;",
            "The nearest line is 2: let total = count + 1;",
        );
        check("alpha\nbeta\n", "     1\talpha", "leave them out");
        check("alpha\n", "entirely different", "Read the file");
        check("alpha\n", "\n\n\n", "only white space");
        check("", "y", "Read the file");
        check("a\na\nb\na\n", "a", "occurs 3 times, at lines 1, 2, 4.");
        check("x", "x", "the same");
    }
}
