//! Documents that are searched again and again, each under a number of its owner's choosing. It lives in memory and goes with
//! its owner: whoever has it can make it anew from what it was made of, so that it survives nothing and need not.

use rusqlite::{Connection, params};

use super::{Document, any_of, in_memory, terms};
use crate::error::Error;

pub struct Index {
    connection: Connection,
}

impl Index {
    pub fn new() -> Result<Self, Error> {
        Self::open().map_err(|error| in_memory(&error))
    }

    /// All or none of them. A number that is taken already is refused.
    pub fn add<'a>(&mut self, documents: impl IntoIterator<Item = (i64, &'a Document)>) -> Result<(), Error> {
        self.fill(documents).map_err(|error| in_memory(&error))
    }

    /// Whether or not it is there.
    pub fn remove(&mut self, number: i64) -> Result<(), Error> {
        let removed = self.connection.execute("DELETE FROM documents WHERE rowid = ?1", params![number]);
        removed.map(drop).map_err(|error| in_memory(&error))
    }

    /// The documents that hold any of the query's words, best first, at most `most`; among equals the greatest number.
    pub fn ranked(&self, query: &str, most: usize) -> Result<Vec<i64>, Error> {
        let terms = terms(query);
        if terms.is_empty() {
            return Ok(Vec::new());
        }
        let ranked = self.matching(&terms, most).and_then(|found| match found.is_empty() {
            // Where words are not parted by spaces FTS5 takes a whole run of letters for one.
            true => self.containing(&terms, most),
            false => Ok(found),
        });
        ranked.map_err(|error| in_memory(&error))
    }

    pub(super) fn open() -> rusqlite::Result<Self> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(
            "CREATE VIRTUAL TABLE documents USING fts5(title, text, tokenize = 'porter unicode61 remove_diacritics 2')",
        )?;
        Ok(Self { connection })
    }

    pub(super) fn fill<'a>(
        &mut self,
        documents: impl IntoIterator<Item = (i64, &'a Document)>,
    ) -> rusqlite::Result<()> {
        let fill = self.connection.transaction()?;
        {
            let mut insert = fill.prepare_cached("INSERT INTO documents (rowid, title, text) VALUES (?1, ?2, ?3)")?;
            for (number, Document { title, text }) in documents {
                insert.execute(params![number, title, text])?;
            }
        }
        fill.commit()
    }

    pub(super) const fn connection(&self) -> &Connection {
        &self.connection
    }

    fn matching(&self, terms: &[String], most: usize) -> rusqlite::Result<Vec<i64>> {
        let mut select = self.connection.prepare_cached(
            "SELECT rowid FROM documents WHERE documents MATCH ?1 ORDER BY bm25(documents, 2.0, 1.0), rowid DESC LIMIT ?2",
        )?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        select.query_map(params![any_of(terms), most], |row| row.get(0))?.collect()
    }

    fn containing(&self, terms: &[String], most: usize) -> rusqlite::Result<Vec<i64>> {
        let mut select =
            self.connection.prepare_cached("SELECT rowid, title, text FROM documents ORDER BY rowid DESC")?;
        let mut rows = select.query([])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let (number, title, text): (i64, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let whole = format!("{title}\n{text}").to_lowercase();
            if terms.iter().any(|term| whole.contains(term.as_str())) {
                found.push(number);
            }
            if found.len() == most {
                break;
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(texts: &[(i64, &str)]) -> Index {
        let mut index = Index::new().expect("an index in memory");
        add(&mut index, texts);
        index
    }

    fn add(index: &mut Index, texts: &[(i64, &str)]) {
        let document = |text: &str| Document { title: String::new(), text: text.to_owned() };
        let documents: Vec<(i64, Document)> = texts.iter().map(|(number, text)| (*number, document(text))).collect();
        index.add(documents.iter().map(|(number, document)| (*number, document))).expect("room in memory");
    }

    fn found(index: &Index, query: &str) -> Vec<i64> {
        index.ranked(query, 2).expect("a search in memory")
    }

    #[test]
    fn what_is_added_is_found_and_what_is_removed_is_not() {
        let mut index = index(&[(7, "the timeout of the build"), (9, "it rains")]);
        assert_eq!(found(&index, "timeouts"), [7]);
        add(&mut index, &[(8, "timeout timeout")]);
        assert_eq!(found(&index, "timeouts"), [8, 7]);
        index.remove(8).expect("room in memory");
        index.remove(1_000).expect("room in memory");
        assert_eq!(found(&index, "timeouts"), [7]);
        assert_eq!(found(&index, "snow"), [0; 0]);
        assert_eq!(found(&index, "\"*()'"), [0; 0]);
    }

    #[test]
    fn among_equals_the_greatest_number_comes_first_and_there_are_no_more_than_wanted() {
        let index = index(&[(1, "alike"), (2, "alike"), (3, "alike")]);
        assert_eq!(found(&index, "alike"), [3, 2]);
    }

    #[test]
    fn words_that_no_space_parts_are_found_too() {
        let index = index(&[(1, "数据库的超时时间是九秒"), (2, "今天下雨"), (3, "超时超时")]);
        assert_eq!(found(&index, "超时"), [3, 1]);
    }
}
