//! A reader of shell commands. It gives back every simple command that a script could run, in the order written, whatever
//! they are nested in, and says where it stopped understanding; it runs, expands and looks up nothing. What control flow
//! would skip is not left out.

mod ansi;
mod expansion;
mod heredoc;
mod parser;
mod word;

pub use parser::{Defect, Script, holds_code_for_arithmetic, holds_substitution, read};
pub use word::{Arg, Redirect, RedirectKind, Simple, Word};

#[cfg(test)]
mod tests;
