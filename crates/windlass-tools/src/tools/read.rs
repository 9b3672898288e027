//! `read`: a file page by page, with line numbers. A page ends where the window would be overrun, and says how to go on,
//! so that reading never needs the cut that other results get. An image is shown as what it is.

use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_domain::{BoxFuture, Effect, Image, Permit, Prepared, Reach, ToolSpec};
use windlass_workspace::{Error, Kind, Root, WorkspacePath};

use crate::context::Context;
use crate::text::{Content, content};
use crate::tool::{Nature, Output, Picture, Preparing, Running, Tool, arguments, spec, typed};

const LARGEST: u64 = 64 * 1024 * 1024;
/// Reading what is no larger takes less time than waking a thread for it.
const SMALL: u64 = 64 * 1024;
/// Of what is shown as a picture; larger than any model takes one, and whoever asks a model knows its limits.
const LARGEST_IMAGE: usize = 8 * 1024 * 1024;
const DEFAULT_LINES: usize = 2_000;
const LONGEST_LINE: usize = 2_000;
const MOST_NAMES: usize = 500;
/// Kept free for the words around a page.
const MARGIN: usize = 400;

#[derive(Debug, Clone, Copy)]
pub struct Read;

#[derive(Deserialize)]
struct Arguments {
    path: String,
    offset: Option<usize>,
    limit: Option<usize>,
}

impl Tool for Read {
    fn spec(&self) -> ToolSpec {
        spec(
            "read",
            "Read a text file, with line numbers. Long files come in pages: the end of a page says which offset to \
             continue with. A folder is answered with the names in it, an image (PNG, JPEG, GIF, WebP) by showing it.",
            json!({
                "type": "object",
                "properties": {
                    "path": {
                        "type": "string",
                        "minLength": 1,
                        "description": "Relative to /workspace, or absolute below it",
                    },
                    "offset": { "type": "integer", "minimum": 1, "description": "The first line to read; 1 by default" },
                    "limit": { "type": "integer", "minimum": 1, "description": "How many lines; 2000 by default" },
                },
                "required": ["path"],
                "additionalProperties": false,
            }),
        )
    }

    fn nature(&self) -> Nature {
        Nature::Looks
    }

    fn preparing(&self) -> Preparing {
        Preparing::AtOnce
    }

    fn prepare(&self, arguments: &Value, _: &Context) -> Result<Prepared, String> {
        let Arguments { path, .. } = typed(arguments)?;
        let path = WorkspacePath::parse(&path).map_err(|error| error.to_string())?;
        Ok(Prepared::new(Effect::Read, Reach::Files(vec![path.to_record()])))
    }

    fn run<'a>(&'a self, permit: Permit, context: &'a Context, _: Running<'a>) -> BoxFuture<'a, Output> {
        let (root, most_bytes) = (context.root.clone(), context.limits.output_bytes());
        Box::pin(async move {
            let arguments = match arguments(&permit.redeem().call) {
                Ok(arguments) => arguments,
                Err(reason) => return Output::error(reason),
            };
            let answered = match small(&root, &arguments, most_bytes) {
                Some(answered) => answered,
                None => context.runtime.blocking(move || answer(&root, &arguments, most_bytes)).await,
            };
            answered.unwrap_or_else(Output::error)
        })
    }
}

/// The page, where it is one of a small file.
fn small(root: &Root, arguments: &Arguments, most_bytes: usize) -> Option<Result<Output, String>> {
    let path = WorkspacePath::parse(&arguments.path).ok()?;
    let bytes = root.read(&path, SMALL).ok()?;
    Some(shown(&path, bytes, arguments, most_bytes))
}

fn answer(root: &Root, arguments: &Arguments, most_bytes: usize) -> Result<Output, String> {
    let path = WorkspacePath::parse(&arguments.path).map_err(|error| error.to_string())?;
    match root.read(&path, LARGEST) {
        Ok(bytes) => shown(&path, bytes, arguments, most_bytes),
        Err(Error::IsAFolder { .. }) => folder(root, &path).map(Output::ok),
        Err(error @ Error::TooLarge { .. }) => {
            Err(format!("{error}. Search it with grep, or cut a part out with bash (sed -n, head, tail)"))
        }
        Err(error) => Err(error.to_string()),
    }
}

fn shown(path: &WorkspacePath, bytes: Vec<u8>, arguments: &Arguments, most_bytes: usize) -> Result<Output, String> {
    let size = bytes.len();
    if size <= LARGEST_IMAGE && Image::is_one(&bytes) {
        let pictures = vec![Picture { name: path.to_string(), bytes }];
        return Ok(Output { pictures, ..Output::ok(format!("{path} is an image.")) });
    }
    match content(bytes) {
        Content::Binary { kind } => Err(format!("{path}: is {kind} of {size} bytes, not text. Use bash to inspect it")),
        Content::Text { text, encoding } => {
            let note = encoding.map(|name| format!("[decoded from {name}]\n"));
            page(path, &text, note.unwrap_or_default(), arguments, most_bytes).map(Output::ok)
        }
    }
}

fn page(
    path: &WorkspacePath,
    text: &str,
    note: String,
    arguments: &Arguments,
    most_bytes: usize,
) -> Result<String, String> {
    let total = text.lines().count();
    if total == 0 {
        return Ok(format!("{note}[{path} is empty]"));
    }
    let first = arguments.offset.unwrap_or(1);
    if first > total {
        return Err(format!("{path}: has {total} lines; offset {first} is beyond its end"));
    }
    let budget = most_bytes.saturating_sub(MARGIN);
    let mut shown = note;
    let mut last = first - 1;
    for line in text.lines().skip(first - 1).take(arguments.limit.unwrap_or(DEFAULT_LINES)) {
        let numbered = numbered(last + 1, line);
        // One line at least, or the next page would be this one again.
        if last >= first && shown.len() + numbered.len() > budget {
            break;
        }
        shown.push_str(&numbered);
        last += 1;
    }
    if last < total {
        let rest = total - last;
        let _ = write!(shown, "[lines {first} to {last} of {total}; {rest} more, continue with offset {}]", last + 1);
    } else if first > 1 {
        let _ = write!(shown, "[lines {first} to {last} of {total}; this is the end]");
    }
    Ok(shown)
}

fn numbered(number: usize, line: &str) -> String {
    match line.char_indices().nth(LONGEST_LINE) {
        None => format!("{number:>6}\t{line}\n"),
        Some((end, _)) => {
            let length = line.chars().count();
            format!("{number:>6}\t{}… [line cut; it has {length} characters]\n", &line[..end])
        }
    }
}

fn folder(root: &Root, path: &WorkspacePath) -> Result<String, String> {
    let entries = root.list(path).map_err(|error| error.to_string())?;
    let mut text = format!("{path} is a folder with {} entries:\n", entries.len());
    for entry in entries.iter().take(MOST_NAMES) {
        let mark = match entry.kind {
            Kind::Folder => "/",
            Kind::Symlink => "@",
            Kind::File | Kind::Other => "",
        };
        let _ = writeln!(text, "{}{mark}", entry.shown());
    }
    if entries.len() > MOST_NAMES {
        let _ = write!(text, "[{} more; use glob to find files]", entries.len() - MOST_NAMES);
    }
    Ok(text)
}
