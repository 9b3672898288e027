//! The tiny language of scripted commands, one statement after another with `;` between:
//!
//! ```text
//! append FILE TEXT     adds a line: the one effect there is
//! haul FILE TEXT       the same, where the world's law says that a person is asked first
//! raze FILE TEXT       the same, where it says never
//! expect FILE TEXT     fails unless the file has that line
//! say TEXT             prints it
//! flood N              prints N lines
//! sleep SECONDS
//! fail                 ends with exit code 1
//! ```

use std::time::Duration;

use crate::ledger::Effect;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Statement {
    Append(Effect),
    Expect(Effect),
    Say(String),
    Flood(usize),
    Sleep(Duration),
    Fail,
}

/// The statements of a command line, or the one that nobody understands.
pub fn parse(line: &str) -> Result<Vec<Statement>, String> {
    line.split(';').map(str::trim).filter(|part| !part.is_empty()).map(statement).collect()
}

fn statement(text: &str) -> Result<Statement, String> {
    let unknown = || format!("{text}: command not found");
    let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
    let effect = || {
        let (file, text) = rest.split_once(' ').ok_or_else(unknown)?;
        Ok(Effect { file: file.to_owned(), text: text.to_owned() })
    };
    match verb {
        "append" | "haul" | "raze" => effect().map(Statement::Append),
        "expect" => effect().map(Statement::Expect),
        "say" => Ok(Statement::Say(rest.to_owned())),
        "flood" => rest.parse().map(Statement::Flood).map_err(|_| unknown()),
        "sleep" => rest.parse().map(|seconds| Statement::Sleep(Duration::from_secs(seconds))).map_err(|_| unknown()),
        "fail" => Ok(Statement::Fail),
        _ => Err(unknown()),
    }
}

/// The effects that a command line asks for.
pub fn effects(line: &str) -> Vec<Effect> {
    let wanted = |statement| match statement {
        Statement::Append(effect) => Some(effect),
        _ => None,
    };
    parse(line).unwrap_or_default().into_iter().filter_map(wanted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_statements_in_order() {
        let effect = |text: &str| Effect { file: "a".into(), text: text.into() };
        let expected = vec![
            Statement::Append(effect("x y")),
            Statement::Sleep(Duration::from_secs(3)),
            Statement::Expect(effect("z")),
            Statement::Fail,
        ];
        assert_eq!(parse("append a x y; sleep 3; expect a z; fail"), Ok(expected));
        assert_eq!(effects("append a x; say hello; append a y"), [effect("x"), effect("y")]);
        assert_eq!(parse("rm -rf /"), Err("rm -rf /: command not found".to_owned()));
    }
}
