//! Ranked full-text search over a handful of documents, with SQLite's FTS5 in memory: nothing is kept, and nothing of the
//! store's own is touched. A query is words, never an expression: whatever it holds, it is quoted before SQLite sees it.
//! `Index` is for documents that are searched more than once; `fused` joins two rankings of the same documents.

mod index;

use std::collections::BTreeMap;

use rusqlite::params;

pub use self::index::Index;
use crate::error::Error;

/// More words than this say no more about what is sought.
const MOST_TERMS: usize = 64;
/// How much of a document is shown around what was found, in words.
const SNIPPET_WORDS: u32 = 40;
const SNIPPET_CHARS: usize = 400;
const SHORTEST_BEGINNING: usize = 4;
/// How much the first places count more than those after them; the customary number.
const SMOOTHING: f64 = 60.0;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    pub title: String,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Which of the documents.
    pub document: usize,
    /// The part of it that fits best.
    pub snippet: String,
}

/// The documents that hold any of the query's words, best first, at most `most`.
pub fn search(documents: &[Document], query: &str, most: usize) -> Result<Vec<Hit>, Error> {
    let terms = terms(query);
    if terms.is_empty() {
        return Ok(Vec::new());
    }
    let ranked = ranked(documents, &terms, most);
    let hits = ranked.map_err(|error| in_memory(&error))?;
    // Where words are not parted by spaces FTS5 takes a whole run of letters for one.
    Ok(if hits.is_empty() { containing(documents, &terms, most) } else { hits })
}

fn in_memory(error: &rusqlite::Error) -> Error {
    Error::Io { path: ":memory:".into(), detail: error.to_string() }
}

/// Reciprocal rank fusion: what stands high in either ranking comes first. Equal ones keep the order of the first.
pub fn fused(rankings: [&[usize]; 2]) -> Vec<usize> {
    let mut scores: BTreeMap<usize, (f64, usize)> = BTreeMap::new();
    let places = rankings.into_iter().flat_map(|ranking| ranking.iter().enumerate());
    for (seen, (place, document)) in places.enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "nobody ranks that many documents")]
        let gain = 1.0 / (SMOOTHING + place as f64);
        let (score, _) = scores.entry(*document).or_insert((0.0, seen));
        *score += gain;
    }
    let mut order: Vec<(usize, (f64, usize))> = scores.into_iter().collect();
    order.sort_by(|(_, (one, first)), (_, (other, second))| other.total_cmp(one).then(first.cmp(second)));
    order.into_iter().map(|(document, _)| document).collect()
}

/// The beginning of a text, for what was found by other means than its words.
pub fn beginning(text: &str) -> String {
    around(text, 0)
}

fn ranked(documents: &[Document], terms: &[String], most: usize) -> rusqlite::Result<Vec<Hit>> {
    let mut index = Index::open()?;
    index.fill((0_i64..).zip(documents))?;
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let mut select = index.connection().prepare(
        "SELECT rowid, snippet(documents, 1, '', '', '…', ?2) FROM documents WHERE documents MATCH ?1
         ORDER BY bm25(documents, 2.0, 1.0), rowid LIMIT ?3",
    )?;
    let hit = |row: &rusqlite::Row<'_>| {
        let (number, snippet): (i64, String) = (row.get(0)?, row.get(1)?);
        Ok(Hit { document: usize::try_from(number).unwrap_or_default(), snippet: around(&snippet, 0) })
    };
    select.query_map(params![any_of(terms), SNIPPET_WORDS, most], hit)?.collect()
}

fn any_of(terms: &[String]) -> String {
    terms.iter().map(|term| quoted(term)).collect::<Vec<_>>().join(" OR ")
}

/// A longer word also stands for those that begin with it; of short ones too many do.
fn quoted(term: &str) -> String {
    let and_longer = if term.chars().count() < SHORTEST_BEGINNING { "" } else { "*" };
    format!("\"{term}\"{and_longer}")
}

/// Letters and digits only, so that no quote, operator or column name is left.
fn terms(query: &str) -> Vec<String> {
    let words = query.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.take(MOST_TERMS).map(str::to_lowercase).collect()
}

fn containing(documents: &[Document], terms: &[String], most: usize) -> Vec<Hit> {
    let find = |(document, Document { title, text }): (usize, &Document)| {
        let lower = text.to_lowercase();
        let place = terms.iter().find_map(|term| lower.find(term.as_str()));
        let in_title = || terms.iter().any(|term| title.to_lowercase().contains(term.as_str())).then_some(0);
        place.or_else(in_title).map(|at| Hit { document, snippet: around(text, at) })
    };
    documents.iter().enumerate().filter_map(find).take(most).collect()
}

/// On one line. `at` is a place in the text in lower case, hence only about right.
fn around(text: &str, at: usize) -> String {
    let start = text.floor_char_boundary(at.saturating_sub(SNIPPET_CHARS / 4));
    let words: Vec<&str> = text[start..].split_whitespace().collect();
    let line = words.join(" ");
    let end = line.floor_char_boundary(SNIPPET_CHARS);
    let (before, after) = (if start > 0 { "…" } else { "" }, if end < line.len() { "…" } else { "" });
    format!("{before}{}{after}", &line[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents(texts: &[(&str, &str)]) -> Vec<Document> {
        texts.iter().map(|(title, text)| Document { title: (*title).to_owned(), text: (*text).to_owned() }).collect()
    }

    fn found(texts: &[(&str, &str)], query: &str) -> Vec<usize> {
        let hits = search(&documents(texts), query, 10).expect("a search in memory");
        hits.into_iter().map(|hit| hit.document).collect()
    }

    #[test]
    fn the_best_comes_first_and_titles_count_more() {
        let texts = [
            ("Build", "the timeout of the build was raised once"),
            ("Weather", "it rains"),
            ("Timeouts", "timeouts of the database: timeout after nine seconds"),
        ];
        assert_eq!(found(&texts, "timeout"), [2, 0]);
        assert_eq!(found(&texts, "what did I find about database timeouts?"), [2, 0]);
        assert_eq!(found(&texts, "rain"), [1]);
        assert_eq!(found(&texts, "snow"), [0; 0]);
    }

    #[test]
    fn any_query_is_words_and_nothing_else() {
        let texts = [("a", "alpha AND beta"), ("b", "gamma title")];
        let queries = [
            "alpha\"",
            "\"alpha",
            "alpha AND",
            "alpha NOT beta",
            "title:gamma",
            "alpha*",
            "NEAR(alpha, 2)",
            "^alpha",
            "alpha -- x",
            "alpha'; DROP TABLE documents; --",
            "(alpha",
            "alpha\0beta",
            "{title}: alpha",
            "+alpha",
            "al\u{fe0f}pha alpha",
        ];
        for query in queries {
            assert!(!found(&texts, query).is_empty(), "{query:?}");
        }
        assert_eq!(found(&texts, "\"*()'"), [0; 0]);
        assert_eq!(found(&texts, ""), [0; 0]);
        assert_eq!(found(&texts, &"gamma ".repeat(100_000)), [1]);
    }

    #[test]
    fn words_that_no_space_parts_are_found_too() {
        let texts = [("", "数据库的超时时间是九秒"), ("", "今天下雨")];
        assert_eq!(found(&texts, "超时"), [0]);
        let hits = search(&documents(&texts), "超时", 10).expect("a search in memory");
        assert!(hits[0].snippet.contains("超时"), "{hits:?}");
    }

    #[test]
    fn what_is_shown_is_short_and_on_one_line() {
        let long = format!("{}\nneedle\n{}", "hay ".repeat(5_000), "straw\n".repeat(5_000));
        let hits = search(&documents(&[("", &long)]), "needle", 10).expect("a search in memory");
        let snippet = &hits[0].snippet;
        assert!(snippet.contains("needle") && snippet.len() < 450 && !snippet.contains('\n'), "{snippet}");
    }

    #[test]
    fn what_both_rankings_like_comes_first() {
        assert_eq!(fused([&[3, 1, 2], &[1, 4]]), [1, 3, 4, 2]);
        assert_eq!(fused([&[7, 8], &[]]), [7, 8]);
        assert_eq!(fused([&[], &[]]), [0; 0]);
    }
}
