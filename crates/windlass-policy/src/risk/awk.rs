//! Programs of `awk`: whether one runs another program (`system`, a pipe), writes a file (`print >`), or loads code. What this
//! reader does not follow counts as if it did.

use super::shell::Arg;

pub fn why_risky(args: &[Arg]) -> Option<&'static str> {
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let text = arg.text.as_str();
        match text {
            "-F" | "-v" | "--field-separator" | "--assign" => {
                rest.next();
            }
            "--" => return rest.next().and_then(program_risk),
            "--posix" | "--traditional" | "--csv" | "--re-interval" | "--characters-as-bytes" | "-P" | "-c" | "-k" => {}
            _ if text.starts_with("-F") || text.starts_with("-v") => {}
            _ if text.starts_with("--field-separator=") || text.starts_with("--assign=") => {}
            _ if text.starts_with('-') && text.len() > 1 => return Some("is in a file or loads code"),
            _ => return program_risk(arg),
        }
    }
    None
}

fn program_risk(program: &Arg) -> Option<&'static str> {
    if !program.fixed {
        return Some("is known only when it runs");
    }
    let mut before = Before::Operator;
    let mut printing = false;
    let mut open = 0_i32;
    let text = &program.text;
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        let start = at;
        at += letter.len_utf8();
        let next = text[at..].chars().next();
        match letter {
            '"' => {
                let Some(length) = quoted_length(&text[at..], '"') else { return Some("cannot be read") };
                at += length;
                before = Before::Operand;
                continue;
            }
            '/' if before == Before::Operator => {
                let Some(length) = quoted_length(&text[at..], '/') else { return Some("cannot be read") };
                at += length;
                before = Before::Operand;
                continue;
            }
            '#' => at += text[at..].find('\n').unwrap_or(text.len() - at),
            '|' if next == Some('|') => at += 1,
            '|' => return Some("talks to another program"),
            '@' => return Some("loads code"),
            '>' if printing && open <= 0 => return Some("writes a file"),
            '(' => open += 1,
            ')' => open -= 1,
            ';' | '\n' | '{' | '}' => {
                printing = false;
                open = 0;
            }
            letter if letter.is_ascii_alphabetic() || letter == '_' => {
                let rest = &text[start..];
                let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
                let word = &rest[..end.unwrap_or(rest.len())];
                at = start + word.len();
                match word {
                    "system" => return Some("runs a program"),
                    "print" | "printf" => printing = true,
                    _ => {}
                }
                let keyword = matches!(word, "print" | "printf" | "return" | "in" | "else" | "do" | "getline");
                before = if keyword { Before::Operator } else { Before::Operand };
                continue;
            }
            _ => {}
        }
        if !letter.is_whitespace() || letter == '\n' {
            let ends_operand = letter.is_alphanumeric() || matches!(letter, ')' | ']' | '$' | '+' | '-');
            before = if ends_operand { Before::Operand } else { Before::Operator };
        }
    }
    None
}

/// Whether a slash divides or begins a regular expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Operand,
    Operator,
}

/// How far the closing quote is, itself included.
fn quoted_length(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (index, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => return None,
            letter if letter == quote => return Some(index + 1),
            _ => {}
        }
    }
    None
}
