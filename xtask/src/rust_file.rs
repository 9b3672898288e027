//! A Rust file of one of our packages: where it stands, and its tokens. Rules look at tokens rather than text, so that a
//! word in a comment or a string is never mistaken for code. Files under a `fixtures` folder are data for tests and are not
//! ours to judge; a file that cannot be tokenised has no tokens here, since the compiler will say more about it than we can.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::Tree;

pub struct RustFile<'a> {
    pub path: &'a str,
    pub text: &'a str,
    /// The folder of the package: `windlass-store`, `simulator`, `xtask`.
    pub package: &'a str,
    pub part: Part,
    /// The path below the part's folder, as `providers/sqlite.rs`.
    pub inside: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Product,
    /// `testing/`, and every package's `tests`, `benches` and `examples`.
    Trial,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub text: String,
    pub line: usize,
}

pub fn rust_files(tree: &Tree) -> impl Iterator<Item = RustFile<'_>> {
    tree.files().filter_map(|(path, text)| place(path, text))
}

fn place<'a>(path: &'a str, text: &'a str) -> Option<RustFile<'a>> {
    let is_ours = path.ends_with(".rs") && !path.contains("/fixtures/");
    let (group, below) = path.split_once('/').filter(|_| is_ours)?;
    let (package, below) = match group {
        "crates" | "testing" => below.split_once('/')?,
        "xtask" => ("xtask", below),
        _ => return None,
    };
    let (folder, inside) = below.split_once('/')?;
    let part = match folder {
        "src" if group != "testing" => Part::Product,
        "src" | "tests" | "benches" | "examples" => Part::Trial,
        _ => return None,
    };
    Some(RustFile { path, text, package, part, inside })
}

impl RustFile<'_> {
    pub fn stream(&self) -> TokenStream {
        self.text.parse().unwrap_or_default()
    }

    /// All tokens in order, brackets included, whatever they are nested in: macro bodies hide nothing.
    pub fn tokens(&self) -> Vec<Token> {
        let mut tokens = Vec::new();
        flatten(self.stream(), &mut tokens);
        tokens
    }

    /// The lines on which this sequence of tokens begins.
    pub fn lines_with(&self, sequence: &[&str]) -> Vec<usize> {
        self.tokens()
            .windows(sequence.len())
            .filter(|window| window.iter().map(|token| token.text.as_str()).eq(sequence.iter().copied()))
            .map(|window| window[0].line)
            .collect()
    }
}

fn flatten(stream: TokenStream, tokens: &mut Vec<Token>) {
    for tree in stream {
        let line = tree.span().start().line;
        let mut push = |text: String| tokens.push(Token { text, line });
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = brackets(group.delimiter());
                push(open.to_owned());
                flatten(group.stream(), tokens);
                let line = group.span_close().start().line;
                tokens.push(Token { text: close.to_owned(), line });
            }
            TokenTree::Ident(word) => push(word.to_string()),
            TokenTree::Punct(mark) => push(mark.as_char().to_string()),
            TokenTree::Literal(literal) => push(literal.to_string()),
        }
    }
}

fn brackets(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::None => ("", ""),
    }
}
