//! The reader itself. Keywords that open and close blocks are matched on a stack; what is between them is read as if it ran.
//! Every step consumes input or stops, and nesting is bounded, so that reading takes time in proportion to the text.

use super::heredoc::Pending;
use super::word::{Redirect, RedirectKind, Simple, Word};

/// Deeper than anybody nests.
pub(super) const MAX_DEPTH: usize = 48;

/// Why the reader stopped. What it had read before stands: a shell, too, runs the lines before the one it cannot read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Defect {
    Syntax(&'static str),
    TooDeep,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    pub commands: Vec<Simple>,
    /// Names that the script gives a new meaning.
    pub functions: Vec<String>,
    pub defect: Option<Defect>,
}

pub fn read(text: &str) -> Script {
    read_at(text, 0, Doubled::Either)
}

pub(super) fn read_at(text: &str, depth: usize, doubled: Doubled) -> Script {
    let mut parser = Parser { text, at: 0, depth, doubled, script: Script::default(), pending: Vec::new() };
    let end = parser.list(End::OfText);
    parser.script.defect = end.err();
    parser.script
}

pub(super) struct Parser<'text> {
    pub text: &'text str,
    pub at: usize,
    pub depth: usize,
    pub doubled: Doubled,
    pub script: Script,
    pub pending: Vec<Pending>,
}

/// What `((` is taken for where a command could stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubled {
    /// Arithmetic, as bash has it, or two subshells, as dash has it: both are read.
    Either,
    Subshells,
}

/// Where a list of commands ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    OfText,
    Parenthesis,
    /// `;;`, `;&`, `;;&`, or `esac`, which is left to be read.
    CaseClause,
}

pub(super) type Read<T> = Result<T, Defect>;

impl<'text> Parser<'text> {
    pub fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub fn sees(&self, expected: &str) -> bool {
        self.text.as_bytes()[self.at..].starts_with(expected.as_bytes())
    }

    pub fn take(&mut self, expected: &str) -> bool {
        let found = self.sees(expected);
        if found {
            self.at += expected.len();
        }
        found
    }

    pub fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= MAX_DEPTH {
            return Err(Defect::TooDeep);
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Reads commands up to `end` and past it.
    pub fn list(&mut self, end: End) -> Read<()> {
        let mut open: Vec<&'static str> = Vec::new();
        loop {
            self.skip_separators(end)?;
            match self.peek() {
                None if end == End::OfText && open.is_empty() => return Ok(()),
                None => return Err(Defect::Syntax("it ends in the middle")),
                Some(b')') if end == End::Parenthesis && open.is_empty() => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b')') => return Err(Defect::Syntax("a parenthesis closes nothing")),
                Some(b';') if end == End::CaseClause && open.is_empty() => {
                    self.skip_clause_end();
                    return Ok(());
                }
                Some(b';') => return Err(Defect::Syntax("`;;` outside `case`")),
                Some(b'(') => self.parenthesis()?,
                Some(_) if end == End::CaseClause && open.is_empty() && self.at_keyword("esac") => return Ok(()),
                Some(_) => self.command(&mut open)?,
            }
        }
    }

    fn skip_clause_end(&mut self) {
        while matches!(self.peek(), Some(b';' | b'&')) {
            self.at += 1;
        }
    }

    /// Blanks, line ends, comments and the operators between commands. A `;;` is left where a clause may end with it.
    fn skip_separators(&mut self, end: End) -> Read<()> {
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b'\n') => self.line_end()?,
                Some(b'#') => self.skip_comment(),
                Some(b';') if self.sees(";;") || self.sees(";&") => {
                    if end == End::CaseClause {
                        return Ok(());
                    }
                    return Err(Defect::Syntax("`;;` outside `case`"));
                }
                Some(b'&') if self.sees("&>") => return Ok(()),
                Some(b';' | b'&' | b'|') => self.at += 1,
                _ => return Ok(()),
            }
        }
    }

    pub fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.sees("\\\n") => self.at += 2,
                _ => return,
            }
        }
    }

    fn skip_comment(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    }

    pub fn line_end(&mut self) -> Read<()> {
        self.at += 1;
        self.heredoc_bodies()
    }

    fn parenthesis(&mut self) -> Read<()> {
        if self.sees("((") && self.doubled == Doubled::Either && self.closes_as_arithmetic("((") {
            let started = self.at;
            self.arithmetic("((")?;
            return self.read_as_subshells(started);
        }
        self.at += 1;
        self.deeper(|parser| parser.list(End::Parenthesis))
    }

    /// What was just read as arithmetic, as a shell without arithmetic commands would take it. Of that only programs that are
    /// named count: `((n > $m))` runs and writes nothing anywhere.
    fn read_as_subshells(&mut self, started: usize) -> Read<()> {
        let script = read_at(&self.text[started + 1..self.at - 1], self.depth + 1, Doubled::Subshells);
        let named =
            script.commands.into_iter().filter(|command| command.words.first().is_some_and(|word| word.whole().fixed));
        self.script.commands.extend(named.map(|command| Simple { words: command.words, ..Simple::default() }));
        match script.defect {
            Some(Defect::TooDeep) => Err(Defect::TooDeep),
            Some(Defect::Syntax(_)) | None => Ok(()),
        }
    }

    /// Whether an unquoted word stands here alone.
    fn at_keyword(&self, keyword: &str) -> bool {
        let after = self.text.as_bytes().get(self.at + keyword.len());
        self.sees(keyword) && after.is_none_or(|byte| is_meta(*byte))
    }

    fn command(&mut self, open: &mut Vec<&'static str>) -> Read<()> {
        const SKIPPED: [&str; 8] = ["then", "elif", "else", "while", "until", "time", "!", "coproc"];
        const OPENING: [(&str, &str); 3] = [("if", "fi"), ("do", "done"), ("{", "}")];
        const CLOSING: [&str; 3] = ["fi", "done", "}"];
        if let Some(keyword) = SKIPPED.into_iter().find(|keyword| self.at_keyword(keyword)) {
            self.at += keyword.len();
            match keyword {
                "time" => self.skip_options_of_time(),
                "coproc" => self.skip_name_of_coproc(),
                _ => {}
            }
            return Ok(());
        }
        if let Some((keyword, closing)) = OPENING.into_iter().find(|(keyword, _)| self.at_keyword(keyword)) {
            self.at += keyword.len();
            open.push(closing);
            return if open.len() > 4 * MAX_DEPTH { Err(Defect::TooDeep) } else { Ok(()) };
        }
        if let Some(keyword) = CLOSING.into_iter().find(|keyword| self.at_keyword(keyword)) {
            self.at += keyword.len();
            let matches = open.pop() == Some(keyword);
            return if matches { Ok(()) } else { Err(Defect::Syntax("a block is closed that was not opened")) };
        }
        if self.at_keyword("for") || self.at_keyword("select") {
            return self.for_head();
        }
        if self.at_keyword("case") {
            self.at += "case".len();
            return self.deeper(Self::case);
        }
        if self.at_keyword("function") {
            self.at += "function".len();
            self.skip_blanks();
            let name = self.word()?.whole().text;
            self.script.functions.push(name);
            self.skip_blanks();
            if self.take("(") {
                self.skip_blanks();
                return if self.take(")") { Ok(()) } else { Err(Defect::Syntax("a function's head is not closed")) };
            }
            return Ok(());
        }
        if self.at_keyword("[[") {
            self.at += 2;
            return self.condition();
        }
        self.simple()
    }

    fn skip_options_of_time(&mut self) {
        loop {
            self.skip_blanks();
            match ["-p", "--"].into_iter().find(|option| self.at_keyword(option)) {
                Some(option) => self.at += option.len(),
                None => return,
            }
        }
    }

    /// `coproc NAME { …; }`: a name stands there only before a block.
    fn skip_name_of_coproc(&mut self) {
        self.skip_blanks();
        let rest = &self.text[self.at..];
        let name = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(rest.len());
        if rest[name..].trim_start_matches([' ', '\t']).starts_with(['{', '(']) {
            self.at += name;
        }
    }

    fn for_head(&mut self) -> Read<()> {
        self.at += if self.sees("for") { "for".len() } else { "select".len() };
        self.skip_blanks();
        if self.sees("((") {
            return self.arithmetic("((");
        }
        let name = self.word()?.whole().text;
        let mut loop_variable = Simple::default();
        let unknown = Word { pieces: vec![super::word::Piece::Hole], ..Word::default() };
        loop_variable.assignments.push((name.clone(), unknown));
        self.script.commands.push(loop_variable);
        self.skip_blanks();
        while self.peek() == Some(b'\n') {
            self.line_end()?;
            self.skip_blanks();
        }
        if self.at_keyword("in") {
            self.at += 2;
            loop {
                self.skip_blanks();
                match self.peek() {
                    None | Some(b'\n' | b';') => break,
                    Some(byte) if is_meta(byte) && !self.at_process_substitution() => {
                        return Err(Defect::Syntax("a list of words holds an operator"));
                    }
                    Some(_) => {
                        let value = self.word()?;
                        if holds_code_for_arithmetic(&value.whole().text) {
                            let assignments = vec![(name.clone(), value)];
                            self.script.commands.push(Simple { assignments, ..Simple::default() });
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn case(&mut self) -> Read<()> {
        self.skip_blanks();
        self.word()?;
        self.skip_blanks_and_lines()?;
        if !self.at_keyword("in") {
            return Err(Defect::Syntax("`case` without `in`"));
        }
        self.at += 2;
        loop {
            self.skip_blanks_and_lines()?;
            if self.at_keyword("esac") {
                self.at += "esac".len();
                return Ok(());
            }
            self.take("(");
            loop {
                self.skip_blanks();
                self.word()?;
                self.skip_blanks();
                if self.take(")") {
                    break;
                }
                if !self.take("|") {
                    return Err(Defect::Syntax("a pattern of `case` is not closed"));
                }
            }
            self.list(End::CaseClause)?;
        }
    }

    fn skip_blanks_and_lines(&mut self) -> Read<()> {
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b'\n') => self.line_end()?,
                Some(b'#') => self.skip_comment(),
                _ => return Ok(()),
            }
        }
    }

    /// `[[ … ]]`: only its expansions can run anything, and words that are read as arithmetic, quoted or not.
    fn condition(&mut self) -> Read<()> {
        let mut words = Simple::default();
        let read = self.condition_words(&mut words);
        if words.words.iter().any(|word| holds_substitution(&word.whole().text)) {
            self.script.commands.push(words);
        }
        read
    }

    fn condition_words(&mut self, simple: &mut Simple) -> Read<()> {
        simple.words.push(Word { pieces: vec![super::word::Piece::Text("[[".to_owned())], ..Word::default() });
        loop {
            self.skip_blanks_and_lines()?;
            match self.peek() {
                None => return Err(Defect::Syntax("`[[` is not closed")),
                Some(b'<' | b'>' | b'(' | b')' | b'&' | b'|' | b';') => self.at += 1,
                Some(_) => {
                    let word = self.word()?;
                    if word.plain() == Some("]]") {
                        return Ok(());
                    }
                    simple.words.push(word);
                }
            }
        }
    }

    fn simple(&mut self) -> Read<()> {
        let mut simple = Simple::default();
        let result = self.simple_parts(&mut simple);
        if !simple.is_empty() {
            self.script.commands.push(simple);
        }
        result
    }

    fn simple_parts(&mut self, simple: &mut Simple) -> Read<()> {
        loop {
            self.skip_blanks();
            match self.peek() {
                None | Some(b'\n' | b';' | b'|' | b')') => return Ok(()),
                Some(b'#') => self.skip_comment(),
                Some(b'&') if !self.sees("&>") => return Ok(()),
                Some(b'(') => return self.function_head(simple),
                Some(b'<' | b'>') if !self.at_process_substitution() => self.redirect(simple)?,
                Some(b'&') => self.redirect(simple)?,
                Some(_) => self.word_of(simple)?,
            }
        }
    }

    /// `name ()`; anything else before a parenthesis is not understood.
    fn function_head(&mut self, simple: &mut Simple) -> Read<()> {
        self.at += 1;
        self.skip_blanks();
        let alone = simple.words.len() == 1 && simple.assignments.is_empty() && simple.redirects.is_empty();
        if !alone || !self.take(")") {
            return Err(Defect::Syntax("a parenthesis stands where none can"));
        }
        let name = simple.words.remove(0).whole().text;
        self.script.functions.push(name);
        Ok(())
    }

    fn word_of(&mut self, simple: &mut Simple) -> Read<()> {
        let started = self.at;
        let word = self.word()?;
        if self.at == started {
            return Err(Defect::Syntax("a character stands where none can"));
        }
        if word.plain().is_some_and(is_descriptor)
            && matches!(self.peek(), Some(b'<' | b'>'))
            && !self.at_process_substitution()
        {
            return Ok(());
        }
        match assignment(&self.text[started..self.at]) {
            Some(name) if simple.words.is_empty() => simple.assignments.push((name.to_owned(), word)),
            _ => simple.words.push(word),
        }
        Ok(())
    }

    fn redirect(&mut self, simple: &mut Simple) -> Read<()> {
        const OPERATORS: [(&str, RedirectKind); 12] = [
            ("&>>", RedirectKind::Write),
            ("&>", RedirectKind::Write),
            ("<<<", RedirectKind::Text),
            ("<<-", RedirectKind::Text),
            ("<<", RedirectKind::Text),
            ("<>", RedirectKind::Write),
            ("<&", RedirectKind::Read),
            ("<", RedirectKind::Read),
            (">>", RedirectKind::Write),
            (">|", RedirectKind::Write),
            (">&", RedirectKind::Write),
            (">", RedirectKind::Write),
        ];
        // These close a descriptor and have no target: what follows, even without a blank, is a word of its own.
        if self.take("<&-") || self.take(">&-") {
            return Ok(());
        }
        let (operator, kind) = OPERATORS
            .into_iter()
            .find(|(operator, _)| self.sees(operator))
            .ok_or(Defect::Syntax("an operator is not known"))?;
        self.at += operator.len();
        self.skip_blanks();
        let started = self.at;
        let target = self.word()?;
        if self.at == started {
            return Err(Defect::Syntax("a redirection goes nowhere"));
        }
        if matches!(operator, "<<" | "<<-") {
            self.pending.push(Pending::new(&target, operator == "<<-")?);
        }
        let duplicates = matches!(operator, ">&" | "<&")
            && target.plain().is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'));
        if !duplicates {
            simple.redirects.push(Redirect { kind, target });
        }
        Ok(())
    }

    pub fn at_process_substitution(&self) -> bool {
        self.sees("<(") || self.sees(">(")
    }
}

/// The name that `text`, a word as written, assigns to: `NAME=…`, `NAME+=…`, `NAME[…]=…`.
fn assignment(text: &str) -> Option<&str> {
    let end = text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')?;
    let (name, rest) = text.split_at(end);
    let named = !name.is_empty() && !name.starts_with(|letter: char| letter.is_ascii_digit());
    let assigns = match rest.as_bytes()[0] {
        b'=' => true,
        b'+' => rest.starts_with("+="),
        b'[' => rest.contains("]=") || rest.contains("]+="),
        _ => false,
    };
    (named && assigns).then_some(name)
}

/// Text that becomes a command if it is expanded once more.
pub fn holds_substitution(text: &str) -> bool {
    text.contains("$(") || text.contains('`')
}

/// `a[$(…)]`: a variable that holds this runs it wherever its name stands in an arithmetic expression.
pub fn holds_code_for_arithmetic(text: &str) -> bool {
    text.split_once('[').is_some_and(|(_, subscript)| holds_substitution(subscript))
}

/// Ends a word when it is not quoted. A carriage return does not: to a shell it is a letter.
pub(super) const fn is_meta(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
}

/// `2>file`, and `{name}>file`, which has the shell choose the number.
fn is_descriptor(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) || (text.starts_with('{') && text.ends_with('}'))
}
