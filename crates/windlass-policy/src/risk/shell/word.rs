//! Words as a shell would see them after its quotes are gone. A piece that is known only when the command runs is a hole.

/// One command: `NAME=value … program argument … <redirects`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Simple {
    pub assignments: Vec<(String, Word)>,
    pub words: Vec<Word>,
    pub redirects: Vec<Redirect>,
}

impl Simple {
    pub fn is_empty(&self) -> bool {
        self.assignments.is_empty() && self.words.is_empty() && self.redirects.is_empty()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    pub kind: RedirectKind,
    pub target: Word,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectKind {
    Read,
    Write,
    /// A here-document or here-string: text, not a file.
    Text,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    pub pieces: Vec<Piece>,
    /// Something in it was quoted, so that it is neither a keyword nor an assignment.
    pub quoted: bool,
    /// `*`, `?` or `[` outside quotes.
    pub glob: bool,
    /// `{a,b}` outside quotes: one word that becomes several.
    pub brace: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    Text(String),
    Hole,
    /// An expansion of `IFS` outside quotes: it parts the word in two.
    Separator,
}

/// One argument, once words are parted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arg {
    /// What is known of it, holes left out.
    pub text: String,
    /// All of it is known.
    pub fixed: bool,
}

impl Word {
    pub fn push_text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }

    /// The word where it is one plain word.
    pub fn plain(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Text(text)] if !self.quoted => Some(text),
            _ => None,
        }
    }

    pub fn has_separator(&self) -> bool {
        self.pieces.contains(&Piece::Separator)
    }

    /// The word as one argument, separators taken for holes.
    pub fn whole(&self) -> Arg {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => Some(text.clone()),
            Piece::Hole | Piece::Separator => None,
        };
        let known = self.pieces.iter().all(|piece| matches!(piece, Piece::Text(_)));
        Arg { text: self.pieces.iter().filter_map(text).collect(), fixed: known && !self.glob && !self.brace }
    }

    pub fn args(&self) -> Vec<Arg> {
        if !self.has_separator() {
            return vec![self.whole()];
        }
        let parts = self.pieces.split(|piece| *piece == Piece::Separator);
        let part = |pieces: &[Piece]| Self { pieces: pieces.to_vec(), ..self.clone_marks() }.whole();
        parts.filter(|pieces| !pieces.is_empty()).map(part).collect()
    }

    fn clone_marks(&self) -> Self {
        Self { pieces: Vec::new(), quoted: self.quoted, glob: self.glob, brace: self.brace }
    }
}
