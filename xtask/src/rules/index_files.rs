//! `lib.rs` and `mod.rs` introduce and re-export, nothing more: documentation, attributes, `mod`, `use`. Anything else would
//! be code without a file named for it. A module written in place may again hold only modules and re-exports.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::rust_file::{RustFile, rust_files};
use crate::{Finding, Tree};

pub fn check(tree: &Tree) -> Vec<Finding> {
    rust_files(tree)
        .filter(is_index)
        .filter_map(|file| Some(Finding::new(file.path, first_stray(file.stream())?, MESSAGE)))
        .collect()
}

const MESSAGE: &str = "an index file holds only docs, attributes, `mod` and `use`; give this a file named for it";

fn is_index(file: &RustFile<'_>) -> bool {
    file.inside == "lib.rs" || file.path.ends_with("/mod.rs")
}

/// The line of the first item that is neither a module nor a re-export.
fn first_stray(stream: TokenStream) -> Option<usize> {
    let mut trees = stream.into_iter().peekable();
    while let Some(tree) = trees.next() {
        let line = tree.span().start().line;
        match &tree {
            TokenTree::Punct(mark) if mark.as_char() == '#' => {
                trees.next_if(|next| is_mark(next, '!'));
                trees.next();
            }
            TokenTree::Ident(word) if word == "pub" => {
                trees.next_if(|next| is_group(next, Delimiter::Parenthesis));
            }
            TokenTree::Ident(word) if word == "use" => while trees.next().is_some_and(|next| !is_mark(&next, ';')) {},
            TokenTree::Ident(word) if word == "mod" => {
                let _name = trees.next();
                if let Some(TokenTree::Group(body)) = trees.next()
                    && let Some(stray) = first_stray(body.stream())
                {
                    return Some(stray);
                }
            }
            _ => return Some(line),
        }
    }
    None
}

fn is_mark(tree: &TokenTree, wanted: char) -> bool {
    matches!(tree, TokenTree::Punct(mark) if mark.as_char() == wanted)
}

fn is_group(tree: &TokenTree, wanted: Delimiter) -> bool {
    matches!(tree, TokenTree::Group(group) if group.delimiter() == wanted)
}
