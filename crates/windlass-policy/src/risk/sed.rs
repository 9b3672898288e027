//! Scripts of `sed`: whether one runs a program (`e`, `s///e`) or writes a file (`w`, `W`, `s///w`). What this reader does not
//! follow counts as if it did.

use super::shell::Arg;

pub fn why_risky(args: &[Arg]) -> Option<&'static str> {
    let mut scripts: Vec<Arg> = Vec::new();
    let mut operands: Vec<&Arg> = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let text = arg.text.as_str();
        match text {
            "-e" | "--expression" => scripts.extend(rest.next().cloned()),
            "-f" | "--file" => return Some("is in a file"),
            "--" => {
                operands.extend(rest);
                break;
            }
            _ if text.starts_with("--expression=") => {
                let script = text.trim_start_matches("--expression=").to_owned();
                scripts.push(Arg { text: script, fixed: arg.fixed });
            }
            _ if text.starts_with("--e") || text.starts_with("--fi") => return Some("is in a file, or given in short"),
            _ if text.starts_with("--") => {}
            _ if text.starts_with('-') && text.len() > 1 => {
                // `-ne SCRIPT`, `-i.bak`, `-Ef FILE`. A suffix after `i` is no option.
                let letters = text[1..].split('i').next().unwrap_or_default();
                match letters.find(['e', 'f']) {
                    Some(at) if letters[at..] == *"e" => scripts.extend(rest.next().cloned()),
                    Some(_) => return Some("is given in one word or in a file"),
                    None => {}
                }
            }
            _ => operands.push(arg),
        }
    }
    if scripts.is_empty() {
        scripts.extend(operands.first().copied().cloned());
    }
    scripts.iter().find_map(|script| match script.fixed {
        true => script_risk(&script.text),
        false => Some("is known only when it runs"),
    })
}

const UNREADABLE: &str = "cannot be read";

fn script_risk(text: &str) -> Option<&'static str> {
    let mut script = Reader { letters: text.chars().peekable() };
    loop {
        script.skip(|letter| letter.is_whitespace() || matches!(letter, ';' | '{' | '}'));
        script.letters.peek()?;
        if script.address().is_none() {
            return Some(UNREADABLE);
        }
        let Some(command) = script.letters.next() else { return Some(UNREADABLE) };
        match command {
            'e' => return Some("runs a program"),
            'w' | 'W' => return Some("writes a file"),
            's' => match script.substitution() {
                None => return Some(UNREADABLE),
                Some(flags) if flags.contains('e') => return Some("runs a program"),
                Some(flags) if flags.contains('w') => return Some("writes a file"),
                Some(_) => {}
            },
            'y' => {
                if script.parts(2).is_none() {
                    return Some(UNREADABLE);
                }
            }
            'a' | 'i' | 'c' => script.text_lines(),
            'b' | 't' | 'T' | ':' | 'r' | 'R' => script.skip(|letter| !matches!(letter, '\n' | ';')),
            'd' | 'D' | 'p' | 'P' | 'h' | 'H' | 'g' | 'G' | 'x' | 'n' | 'N' | '=' | 'z' | 'F' => {}
            'q' | 'Q' | 'l' | 'L' => script.skip(|letter| letter.is_ascii_digit() || letter == ' '),
            '{' | '}' | ';' => {}
            '#' => script.skip(|letter| letter != '\n'),
            _ => return Some(UNREADABLE),
        }
    }
}

struct Reader<'a> {
    letters: std::iter::Peekable<std::str::Chars<'a>>,
}

impl Reader<'_> {
    fn skip(&mut self, skipped: impl Fn(char) -> bool) {
        while self.letters.next_if(|letter| skipped(*letter)).is_some() {}
    }

    /// `3`, `$`, `/re/I`, `\cREc`, `first~step`, `addr,addr`, `!`: nothing when it cannot be read.
    fn address(&mut self) -> Option<()> {
        loop {
            match self.letters.peek()? {
                '0'..='9' | '$' | ',' | '~' | '+' | '!' | ' ' | '\t' => {
                    self.letters.next();
                }
                '/' => {
                    self.letters.next();
                    self.until('/')?;
                    self.skip(|letter| matches!(letter, 'I' | 'M'));
                }
                '\\' => {
                    self.letters.next();
                    let delimiter = self.letters.next()?;
                    self.until(delimiter)?;
                    self.skip(|letter| matches!(letter, 'I' | 'M'));
                }
                _ => return Some(()),
            }
        }
    }

    /// Past the next `delimiter` that is not escaped. One inside brackets counts too, where sed would go on: what follows
    /// is then read as a command, and mostly cannot be.
    fn until(&mut self, delimiter: char) -> Option<()> {
        loop {
            match self.letters.next()? {
                '\\' => {
                    self.letters.next()?;
                }
                letter if letter == delimiter => return Some(()),
                _ => {}
            }
        }
    }

    fn parts(&mut self, count: usize) -> Option<()> {
        let delimiter = self.letters.next()?;
        (0..count).try_for_each(|_| self.until(delimiter))
    }

    /// The flags of `s///flags`.
    fn substitution(&mut self) -> Option<String> {
        self.parts(2)?;
        let mut flags = String::new();
        while let Some(letter) = self.letters.next_if(char::is_ascii_alphanumeric) {
            flags.push(letter);
        }
        Some(flags)
    }

    /// Text to the end of the line, and on where the line ends with a backslash.
    fn text_lines(&mut self) {
        while let Some(letter) = self.letters.next() {
            match letter {
                '\\' => {
                    self.letters.next();
                }
                '\n' => return,
                _ => {}
            }
        }
    }
}
