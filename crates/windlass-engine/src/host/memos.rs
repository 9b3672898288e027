//! Answering `search_memo`: every memo is cut at its headings, the parts are ranked by their words and, where an embedder is
//! configured, by their meaning, and the best are told with where they stand. Memos are read anew each time: they are
//! files, and a command may have changed them. An embedder that fails costs its ranking and nothing else.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_domain::{CancelSignal, Embedder};
use windlass_store::search::{Document, Hit, beginning, fused, search};
use windlass_workspace::{Kind, MEMO_FOLDER, Root, WorkspacePath};

use crate::engine::Shared;
use crate::meaning::{likeness, unless_stopped, vectors};

const MOST_SHOWN: usize = 8;
/// Of each ranking, before they are joined.
const MOST_RANKED: usize = 50;
const MOST_FILES: usize = 1_000;
const LARGEST_FILE: u64 = 1024 * 1024;
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// What an embedder is asked about at once.
const MOST_EMBEDDED: usize = 512;
const MOST_NAMES: usize = 50;

/// A part of a memo: from one heading to the next.
struct Part {
    file: String,
    document: Document,
}

/// What was read, and what was not.
#[derive(Default)]
struct Memos {
    files: Vec<String>,
    parts: Vec<Part>,
    left_out: usize,
}

/// What is looked for, and for whom.
pub struct Search {
    pub query: String,
    /// So many are shown.
    pub most: usize,
    pub reader: Reader,
}

/// Who is told how a memo is made.
#[derive(Clone, Copy)]
pub enum Reader {
    /// Has a tool for it.
    Native,
    /// Has tools of its own, which write files.
    Foreign,
}

impl Search {
    pub const fn native(query: String) -> Self {
        Self { query, most: MOST_SHOWN, reader: Reader::Native }
    }
}

impl Reader {
    fn none_yet(self) -> String {
        match self {
            Self::Native => format!("There are no memos yet. Save one with save_memo; it is kept in {MEMO_FOLDER}/."),
            Self::Foreign => {
                format!("There are no memos yet. One is a Markdown file in {MEMO_FOLDER}/ of the workspace.")
            }
        }
    }
}

/// What the model is told, or why it cannot be.
pub async fn search_memos(
    shared: &Arc<Shared>,
    folder: &Path,
    wanted: Search,
    cancel: &CancelSignal,
) -> Result<String, String> {
    let Search { query, most, reader } = wanted;
    let folder: PathBuf = folder.to_owned();
    let asked = query.clone();
    let (memos, by_words) = shared
        .blocking(move || {
            let memos = read(&folder)?;
            let documents: Vec<Document> = memos.parts.iter().map(|part| part.document.clone()).collect();
            let hits = search(&documents, &asked, MOST_RANKED).map_err(|error| error.to_string())?;
            Ok::<_, String>((memos, hits))
        })
        .await?;
    if memos.files.is_empty() {
        return Ok(reader.none_yet());
    }
    let (hits, remark) = match shared.equipment.embedder() {
        None => (by_words, None),
        Some(embedder) => match unless_stopped(by_meaning(shared, embedder.as_ref(), &memos.parts, &query), cancel)
            .await
        {
            Ok(by_meaning) => (joined(&memos.parts, by_words, &by_meaning), None),
            Err(reason) => (by_words, Some(format!("Found by words alone; the search by meaning failed: {reason}."))),
        },
    };
    Ok(told(&memos, &hits, most, &query, remark))
}

fn read(folder: &Path) -> Result<Memos, String> {
    let told = |error: windlass_workspace::Error| error.to_string();
    let root = Root::open(folder).map_err(told)?;
    let memo_folder = WorkspacePath::parse(MEMO_FOLDER).map_err(told)?;
    let listed = match root.list(&memo_folder) {
        Ok(listed) => listed,
        Err(windlass_workspace::Error::NotFound { .. }) => return Ok(Memos::default()),
        Err(error) => return Err(error.to_string()),
    };
    let mut memos = Memos::default();
    let mut bytes_left = MOST_BYTES;
    for entry in listed.into_iter().filter(|entry| entry.kind == Kind::File) {
        let path = memo_folder.as_path().join(&entry.name);
        let bytes = WorkspacePath::parse(path).and_then(|path| root.read(&path, LARGEST_FILE));
        let text = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok());
        match text.filter(|text| text.len() <= bytes_left && memos.files.len() < MOST_FILES) {
            Some(text) => {
                bytes_left -= text.len();
                let file = format!("{MEMO_FOLDER}/{}", entry.shown());
                memos.parts.extend(parts(&file, &text));
                memos.files.push(file);
            }
            None => memos.left_out += 1,
        }
    }
    Ok(memos)
}

/// At headings, but not at what looks like one inside of code.
fn parts(file: &str, text: &str) -> Vec<Part> {
    let mut cuts = vec![(String::new(), String::new())];
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        let heading = line.strip_prefix('#').filter(|_| !is_code).map(|rest| rest.trim_start_matches('#').trim());
        match (heading, cuts.last_mut()) {
            (Some(heading), _) => cuts.push((heading.to_owned(), String::new())),
            (None, Some((_, body))) => {
                body.push_str(line);
                body.push('\n');
            }
            (None, None) => {}
        }
    }
    let is_something = |(title, body): &(String, String)| !title.is_empty() || !body.trim().is_empty();
    let part = |(title, text)| Part { file: file.to_owned(), document: Document { title, text } };
    cuts.into_iter().filter(is_something).map(part).collect()
}

/// Which parts, nearest first.
async fn by_meaning(
    shared: &Shared,
    embedder: &dyn Embedder,
    parts: &[Part],
    query: &str,
) -> Result<Vec<usize>, String> {
    let text = |part: &Part| format!("{}\n{}", part.document.title, part.document.text);
    let texts = std::iter::once(query.to_owned()).chain(parts.iter().take(MOST_EMBEDDED).map(text)).collect();
    let vectors = vectors(shared, embedder, texts).await?;
    let Some((query, vectors)) = vectors.split_first() else { return Ok(Vec::new()) };
    let mut order: Vec<(usize, f64)> =
        vectors.iter().enumerate().map(|(part, vector)| (part, likeness(query, vector))).collect();
    order.sort_by(|one, other| other.1.total_cmp(&one.1));
    Ok(order.into_iter().take(MOST_RANKED).map(|(part, _)| part).collect())
}

fn joined(parts: &[Part], by_words: Vec<Hit>, by_meaning: &[usize]) -> Vec<Hit> {
    let words: Vec<usize> = by_words.iter().map(|hit| hit.document).collect();
    let hit = |document: usize| {
        by_words.iter().find(|hit| hit.document == document).cloned().or_else(|| {
            let snippet = beginning(&parts.get(document)?.document.text);
            Some(Hit { document, snippet })
        })
    };
    fused([&words, by_meaning]).into_iter().filter_map(hit).collect()
}

fn told(memos: &Memos, hits: &[Hit], most: usize, query: &str, remark: Option<String>) -> String {
    let mut lines = Vec::new();
    if hits.is_empty() {
        let names: Vec<&str> = memos.files.iter().take(MOST_NAMES).map(String::as_str).collect();
        lines.push(format!("No memo matches \"{query}\". Try other words, or read one: {}.", names.join(", ")));
    }
    for Hit { document, snippet } in hits.iter().take(most) {
        let Some(Part { file, document }) = memos.parts.get(*document) else { continue };
        let heading = if document.title.is_empty() { String::new() } else { format!(" # {}", document.title) };
        lines.push(format!("{file}{heading}\n  {snippet}"));
    }
    if hits.len() > most {
        lines.push(format!("[the best {most} of {}; be more exact, or read a file]", hits.len()));
    }
    if memos.left_out > 0 {
        lines.push(format!(
            "[{} files in {MEMO_FOLDER}/ were not searched: too large, too many or not text]",
            memos.left_out
        ));
    }
    lines.extend(remark.map(|remark| format!("[{remark}]")));
    lines.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memos() -> (Memos, Vec<Hit>) {
        let part = |number: usize| Part {
            file: format!(".memo/{number}.md"),
            document: Document { title: String::new(), text: "rain".to_owned() },
        };
        let hits = (0..3).map(|document| Hit { document, snippet: "rain".to_owned() }).collect();
        (Memos { files: Vec::new(), parts: (0..3).map(part).collect(), left_out: 0 }, hits)
    }

    /// Regression: what was asked for at most was dropped on the way.
    #[test]
    fn as_many_are_shown_as_were_asked_for() {
        let (memos, hits) = memos();
        let told = |most| told(&memos, &hits, most, "rain", None);
        assert_eq!(told(3).matches("rain").count(), 3);
        assert_eq!(told(1).matches(".memo/").count(), 1);
        assert!(told(1).contains("the best 1 of 3"));
    }

    #[test]
    fn nobody_is_told_of_a_tool_that_it_has_not() {
        assert!(Reader::Native.none_yet().contains("save_memo"));
        assert!(!Reader::Foreign.none_yet().contains("save_memo"));
    }
}
