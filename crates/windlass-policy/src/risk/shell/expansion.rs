//! Words with their quotes and expansions. Commands inside substitutions are read like any others; what they would put in
//! their place is a hole.

use super::ansi;
use super::parser::{Defect, End, Parser, Read, is_meta, read_at};
use super::word::{Piece, Simple, Word};

/// Whether an expansion stands in double quotes, where it parts no words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Double,
}

impl Parser<'_> {
    pub fn word(&mut self) -> Read<Word> {
        let mut word = Word::default();
        let mut brace_open = false;
        loop {
            let Some(byte) = self.peek() else { return Ok(ended(word)) };
            match byte {
                b'(' if self.opens_array(&word) => self.array(&mut word)?,
                b'<' | b'>' if self.at_process_substitution() => {
                    self.at += 2;
                    self.deeper(|parser| parser.list(End::Parenthesis))?;
                    word.push_text("/dev/fd/");
                    word.pieces.push(Piece::Hole);
                }
                _ if is_meta(byte) => return Ok(ended(word)),
                b'\\' => self.escape(&mut word),
                b'\'' => self.single_quotes(&mut word)?,
                b'"' => {
                    self.at += 1;
                    self.deeper(|parser| parser.double_quotes(&mut word))?;
                }
                b'$' => self.dollar(&mut word, Quotes::None)?,
                b'`' => self.backticks(&mut word)?,
                _ => {
                    brace_open |= byte == b'{';
                    word.brace |= brace_open && (byte == b',' || self.sees(".."));
                    word.glob |= matches!(byte, b'*' | b'?' | b'[');
                    self.letters(&mut word);
                }
            }
        }
    }

    /// One letter that means something, or as many as mean nothing.
    fn letters(&mut self, word: &mut Word) {
        let rest = &self.text.as_bytes()[self.at..];
        let special = |byte: &u8| {
            is_meta(*byte)
                || matches!(byte, b'\\' | b'\'' | b'"' | b'$' | b'`' | b'{' | b',' | b'.' | b'*' | b'?' | b'[')
        };
        // From the second byte on: the first is what brought us here.
        let more = rest[1..].iter().position(special).unwrap_or(rest.len() - 1);
        let taken = self.at..self.at + 1 + more;
        word.push_text(&self.text[taken.clone()]);
        self.at = taken.end;
    }

    fn escape(&mut self, word: &mut Word) {
        self.at += 1;
        let Some(letter) = self.text[self.at..].chars().next() else {
            word.push_text("\\");
            return;
        };
        self.at += letter.len_utf8();
        if letter != '\n' {
            word.quoted = true;
            word.push_text(letter.encode_utf8(&mut [0; 4]));
        }
    }

    fn single_quotes(&mut self, word: &mut Word) -> Read<()> {
        let inside = &self.text[self.at + 1..];
        let end = inside.find('\'').ok_or(Defect::Syntax("a quote is not closed"))?;
        word.quoted = true;
        word.push_text(&inside[..end]);
        self.at += end + 2;
        Ok(())
    }

    /// After the opening quote, past the closing one.
    fn double_quotes(&mut self, word: &mut Word) -> Read<()> {
        word.quoted = true;
        word.push_text("");
        loop {
            match self.peek().ok_or(Defect::Syntax("a quote is not closed"))? {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                _ => self.inside_quotes(word)?,
            }
        }
    }

    /// The text of a here-document, to its end: like double quotes, but quotes are letters.
    pub fn heredoc_text(&mut self) -> Read<()> {
        let mut word = Word::default();
        while let Some(byte) = self.peek() {
            if byte == b'"' {
                self.at += 1;
            } else {
                self.inside_quotes(&mut word)?;
            }
        }
        Ok(())
    }

    fn inside_quotes(&mut self, word: &mut Word) -> Read<()> {
        match self.peek() {
            Some(b'\\') => {
                self.at += 1;
                match self.peek() {
                    Some(byte @ (b'$' | b'`' | b'"' | b'\\')) => {
                        word.push_text(char::from(byte).encode_utf8(&mut [0; 4]));
                        self.at += 1;
                    }
                    Some(b'\n') => self.at += 1,
                    _ => word.push_text("\\"),
                }
            }
            Some(b'$') => self.dollar(word, Quotes::Double)?,
            Some(b'`') => self.backticks(word)?,
            _ => {
                let rest = &self.text.as_bytes()[self.at..];
                let special = |byte: &u8| matches!(byte, b'\\' | b'$' | b'`' | b'"');
                let end = rest.iter().position(special).unwrap_or(rest.len());
                word.push_text(&self.text[self.at..self.at + end]);
                self.at += end;
            }
        }
        Ok(())
    }

    fn dollar(&mut self, word: &mut Word, quotes: Quotes) -> Read<()> {
        if self.sees("$((") {
            if self.closes_as_arithmetic("$((") {
                self.at += 1;
                self.arithmetic("((")?;
                word.pieces.push(Piece::Hole);
                return Ok(());
            }
            return self.substitution(word);
        }
        if self.sees("$(") {
            return self.substitution(word);
        }
        if self.sees("${") {
            return self.braces(word, quotes);
        }
        if self.sees("$[") {
            return Err(Defect::Syntax("`$[` is not read"));
        }
        if quotes == Quotes::None && self.sees("$'") {
            let (text, length) =
                ansi::decode(&self.text[self.at + 2..]).ok_or(Defect::Syntax("a quote is not closed"))?;
            word.quoted = true;
            word.push_text(&text);
            self.at += 2 + length;
            return Ok(());
        }
        if quotes == Quotes::None && self.sees("$\"") {
            self.at += 2;
            return self.deeper(|parser| parser.double_quotes(word));
        }
        self.at += 1;
        let name = self.name();
        match name {
            "" => word.push_text("$"),
            "IFS" if quotes == Quotes::None => word.pieces.push(Piece::Separator),
            _ => word.pieces.push(Piece::Hole),
        }
        Ok(())
    }

    /// A variable's name, a digit or a special parameter.
    fn name(&mut self) -> &str {
        let rest = &self.text[self.at..];
        let length = match rest.as_bytes().first() {
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => {
                let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
                end.unwrap_or(rest.len())
            }
            Some(b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') => 1,
            _ => 0,
        };
        self.at += length;
        &rest[..length]
    }

    fn substitution(&mut self, word: &mut Word) -> Read<()> {
        self.at += 2;
        self.deeper(|parser| parser.list(End::Parenthesis))?;
        word.pieces.push(Piece::Hole);
        Ok(())
    }

    /// `${…}`: whatever stands inside may hold expansions of its own.
    fn braces(&mut self, word: &mut Word, quotes: Quotes) -> Read<()> {
        self.at += 2;
        let started = self.at;
        let is_ifs = self.sees("IFS") && !self.text[self.at + 3..].starts_with(is_name_letter);
        let mut inside = Word::default();
        self.deeper(|parser| parser.braced(&mut inside, quotes))?;
        self.assigned_in_braces(started);
        // `${x@P}` expands what is in x as a prompt, commands included.
        if self.text[started..self.at - 1].ends_with("@P") {
            return Err(Defect::Syntax("`${…@P}` runs what a variable holds"));
        }
        word.pieces.push(if is_ifs && quotes == Quotes::None { Piece::Separator } else { Piece::Hole });
        Ok(())
    }

    /// `${NAME:=value}` and `${NAME=value}` assign, too.
    fn assigned_in_braces(&mut self, started: usize) {
        let inside = &self.text[started..self.at];
        let end = inside.find(|letter| !is_name_letter(letter)).unwrap_or(inside.len());
        let (name, rest) = inside.split_at(end);
        if rest.starts_with(":=") || rest.starts_with('=') {
            let assignments = vec![(name.to_owned(), Word { pieces: vec![Piece::Hole], ..Word::default() })];
            self.script.commands.push(Simple { assignments, ..Simple::default() });
        }
    }

    fn braced(&mut self, inside: &mut Word, quotes: Quotes) -> Read<()> {
        loop {
            match self.peek().ok_or(Defect::Syntax("`${` is not closed"))? {
                b'}' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\'' if quotes == Quotes::None => self.single_quotes(inside)?,
                b'\'' => self.apostrophe()?,
                b'"' => {
                    self.at += 1;
                    self.deeper(|parser| parser.double_quotes(inside))?;
                }
                b'\\' => self.escape(inside),
                b'$' => self.dollar(inside, quotes)?,
                b'`' => self.backticks(inside)?,
                _ => {
                    let letter = self.text[self.at..].chars().next().map_or(1, char::len_utf8);
                    self.at += letter;
                }
            }
        }
    }

    /// Inside double quotes `"${x:-'$(a)'}"` runs a, whereas in `"${x#'}'}"` the quotes quote. Where that decides how the
    /// rest is read, it is not understood.
    fn apostrophe(&mut self) -> Read<()> {
        self.at += 1;
        let quoted = self.text[self.at..].split_once('\'').map_or("", |(quoted, _)| quoted);
        match quoted.contains(['}', '"', '\\', '`']) {
            true => Err(Defect::Syntax("quotes stand inside `${…}` in quotes")),
            false => Ok(()),
        }
    }

    /// Backquotes: the text between them, one level of backslashes taken off, is a script.
    fn backticks(&mut self, word: &mut Word) -> Read<()> {
        self.at += 1;
        let mut inside = String::new();
        loop {
            let letter = self.text[self.at..].chars().next().ok_or(Defect::Syntax("a backquote is not closed"))?;
            self.at += letter.len_utf8();
            match letter {
                '`' => break,
                '\\' if matches!(self.peek(), Some(b'`' | b'\\' | b'$')) => {
                    inside.push(char::from(self.text.as_bytes()[self.at]));
                    self.at += 1;
                }
                _ => inside.push(letter),
            }
        }
        word.pieces.push(Piece::Hole);
        let depth = self.depth + 1;
        if depth >= super::parser::MAX_DEPTH {
            return Err(Defect::TooDeep);
        }
        let script = read_at(&inside, depth, self.doubled);
        self.script.commands.extend(script.commands);
        self.script.functions.extend(script.functions);
        script.defect.map_or(Ok(()), Err)
    }

    /// `((…))`: numbers, names and expansions. Anything that looks like more is not understood.
    pub fn arithmetic(&mut self, opening: &str) -> Read<()> {
        self.at += opening.len();
        let mut open = 0_usize;
        let mut inside = Word::default();
        loop {
            match self.peek().ok_or(Defect::Syntax("`((` is not closed"))? {
                b')' if open == 0 => {
                    return if self.take("))") { Ok(()) } else { Err(Defect::Syntax("`((` is not closed by `))`")) };
                }
                b')' => open -= 1,
                b'(' => open += 1,
                b'$' => {
                    self.deeper(|parser| parser.dollar(&mut inside, Quotes::Double))?;
                    continue;
                }
                b'\'' | b'"' | b'`' | b'\\' | b'{' | b'}' => {
                    return Err(Defect::Syntax("an arithmetic expression holds quotes"));
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Whether what follows `((` is closed by `))` side by side, as arithmetic is; a subshell in parentheses is not.
    pub fn closes_as_arithmetic(&self, opening: &str) -> bool {
        let mut open = 0_usize;
        let inside = &self.text.as_bytes()[self.at + opening.len()..];
        for (index, byte) in inside.iter().enumerate() {
            match byte {
                b'(' => open += 1,
                b')' if open == 0 => return inside.get(index + 1) == Some(&b')'),
                b')' => open -= 1,
                b'\'' | b'"' | b'`' | b'\\' | b'\n' => return false,
                _ => {}
            }
        }
        false
    }

    /// `NAME=(…)` and `NAME+=(…)`.
    fn opens_array(&self, word: &Word) -> bool {
        !word.quoted && matches!(word.pieces.as_slice(), [Piece::Text(text)] if text.ends_with('='))
    }

    fn array(&mut self, word: &mut Word) -> Read<()> {
        self.at += 1;
        self.deeper(|parser| {
            loop {
                parser.skip_blanks();
                match parser.peek().ok_or(Defect::Syntax("an array is not closed"))? {
                    b')' => {
                        parser.at += 1;
                        return Ok(());
                    }
                    b'\n' => parser.line_end()?,
                    byte if is_meta(byte) && !parser.at_process_substitution() => {
                        return Err(Defect::Syntax("an array holds an operator"));
                    }
                    _ => {
                        parser.word()?;
                    }
                }
            }
        })?;
        word.pieces.push(Piece::Hole);
        Ok(())
    }
}

/// `[` alone is a program and no pattern.
fn ended(mut word: Word) -> Word {
    word.glob &= word.plain() != Some("[");
    word
}

fn is_name_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}
