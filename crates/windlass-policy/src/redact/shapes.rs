//! What looks like a credential though nobody told us its value: tokens with well-known prefixes, signed web tokens, private
//! key blocks, authorization headers, and passwords in URLs. Each shape needs only a bounded look ahead to be recognised.
//!
//! A false alarm is costly, since an agent that reads `[REDACTED]` may write it back. So shapes ask for a distinctive
//! prefix, a least length and, where a prefix is an ordinary word, letters as mixed as a key's.

use super::run::{Alphabet, KeyBlock, Run};
use super::search::{Found, Words};

/// A stretch of text to be replaced, for as long as its run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Region {
    pub start: usize,
    pub run: Run,
}

/// More text is needed to decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Undecided;

type Decision = Result<Option<Region>, Undecided>;

/// How far beyond its beginning a shape is looked at before it is decided.
pub(super) const LOOK_AHEAD: usize = 600;
/// How far before its beginning.
pub(super) const LOOK_BEHIND: usize = 16;

const LONGEST_WEB_TOKEN_HEADER: usize = 512;
const LONGEST_USER_AND_PASSWORD: usize = 512;
const LONGEST_KEY_LABEL: usize = 40;

pub(super) struct Shapes(Words);

struct Shape {
    prefix: &'static str,
    rule: Rule,
}

enum Rule {
    Token { alphabet: Alphabet, least: usize, stands: Stands, letters: Letters },
    WebToken,
    KeyBlock,
    Bearer,
    Authorization,
    Url,
}

/// Whether a prefix counts only where a word may begin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stands {
    Anywhere,
    AtWordStart,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Letters {
    Any,
    Mixed,
}

const fn token(prefix: &'static str, least: usize) -> Shape {
    let rule = Rule::Token { alphabet: Alphabet::Dashed, least, stands: Stands::Anywhere, letters: Letters::Any };
    Shape { prefix, rule }
}

const fn word(prefix: &'static str, alphabet: Alphabet, least: usize, letters: Letters) -> Shape {
    Shape { prefix, rule: Rule::Token { alphabet, least, stands: Stands::AtWordStart, letters } }
}

const fn shape(prefix: &'static str, rule: Rule) -> Shape {
    Shape { prefix, rule }
}

/// No prefix here begins another, so one place never has two candidates.
const SHAPES: &[Shape] = &[
    word("sk-", Alphabet::Dashed, MIXED_SAMPLE, Letters::Mixed),
    token("sk_live_", 16),
    token("rk_live_", 16),
    token("ghp_", 30),
    token("gho_", 30),
    token("ghu_", 30),
    token("ghs_", 30),
    token("ghr_", 30),
    token("github_pat_", 22),
    token("glpat-", 20),
    word("npm_", Alphabet::Dashed, 30, Letters::Mixed),
    word("hf_", Alphabet::Dashed, 30, Letters::Mixed),
    word("AKIA", Alphabet::Upper, 16, Letters::Any),
    word("ASIA", Alphabet::Upper, 16, Letters::Any),
    word("AIza", Alphabet::Dashed, 35, Letters::Any),
    token("xoxa-", 10),
    token("xoxb-", 10),
    token("xoxp-", 10),
    token("xoxr-", 10),
    token("xoxs-", 10),
    shape("eyJ", Rule::WebToken),
    shape("-----BEGIN ", Rule::KeyBlock),
    shape("Bearer ", Rule::Bearer),
    shape("bearer ", Rule::Bearer),
    shape("BEARER ", Rule::Bearer),
    shape("uthorization", Rule::Authorization),
    shape("UTHORIZATION", Rule::Authorization),
    shape("://", Rule::Url),
    shape(":\\/\\/", Rule::Url),
];

impl Shapes {
    pub fn new() -> Self {
        Self(Words::new(SHAPES.iter().map(|shape| shape.prefix.as_bytes().to_vec()).collect()))
    }

    /// The first prefix that begins at `from` or later, and which shape it belongs to.
    pub fn find(&self, text: &[u8], from: usize) -> Option<(usize, usize)> {
        self.0.find(text, from).map(|Found { start, word, .. }| (start, word))
    }

    /// Whether there is a region where a prefix was found.
    pub fn decide(&self, view: View<'_>, at: usize, shape: usize) -> Decision {
        let Shape { prefix, rule } = &SHAPES[shape];
        let after = at + prefix.len();
        match rule {
            Rule::Token { stands: Stands::AtWordStart, .. } | Rule::WebToken if !view.word_starts(at) => Ok(None),
            Rule::Token { alphabet, least, letters, .. } => token_region(view, at, after, *alphabet, *least, *letters),
            Rule::WebToken => web_token(view, at, after),
            Rule::KeyBlock => key_block(view, at, after),
            Rule::Bearer => token_region(view, after, after, Alphabet::Token68, MIXED_SAMPLE, Letters::Mixed),
            Rule::Authorization => authorization(view, after),
            Rule::Url => url(view, after),
        }
    }

    /// The first place at `from` or later where a prefix may begin that ends beyond the text.
    pub fn unfinished(&self, text: &[u8], from: usize) -> Option<usize> {
        self.0.unfinished(text, from)
    }
}

/// The text there is, and whether there will be more.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub text: &'a [u8],
    pub complete: bool,
    /// Where the last region ended.
    pub region_end: usize,
}

impl View<'_> {
    /// How many bytes from `from` on belong, counting no further than `most`.
    fn span(self, from: usize, most: usize, belongs: impl Fn(u8) -> bool) -> Result<usize, Undecided> {
        let rest = &self.text[from.min(self.text.len())..];
        let count = rest.iter().take(most).take_while(|byte| belongs(**byte)).count();
        let ran_out = count == rest.len() && count < most && !self.complete;
        if ran_out { Err(Undecided) } else { Ok(count) }
    }

    fn skip(self, from: usize, most: usize, belongs: impl Fn(u8) -> bool) -> Result<usize, Undecided> {
        Ok(from + self.span(from, most, belongs)?)
    }

    /// Past `expected`, if it stands at `from`.
    fn past(self, from: usize, expected: &str) -> Result<Option<usize>, Undecided> {
        let there = self.text[from.min(self.text.len())..].iter().zip(expected.as_bytes());
        let same = there.clone().take_while(|(byte, expected)| byte == expected).count();
        match same {
            _ if same == expected.len() => Ok(Some(from + same)),
            _ if same == there.count() && !self.complete => Err(Undecided),
            _ => Ok(None),
        }
    }

    /// Whether a word may begin here: after anything but a letter or digit, where an escape, a percent code, a colour or
    /// what is itself redacted does not count as letters.
    fn word_starts(self, at: usize) -> bool {
        let before = &self.text[at.saturating_sub(LOOK_BEHIND)..at];
        let Some(last) = before.last() else {
            return true;
        };
        !last.is_ascii_alphanumeric() || self.region_end == at || ends_with_code(before)
    }
}

fn ends_with_code(before: &[u8]) -> bool {
    match before {
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f'] => true,
        [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => true,
        [.., b'\\', b'u', a, b, c, d] if [a, b, c, d].iter().all(|digit| digit.is_ascii_hexdigit()) => true,
        [colour @ .., b'm'] => {
            let codes = colour.iter().rev().take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
            let opening = &colour[..colour.len() - codes];
            [&b"\x1b["[..], b"\\u001b[", b"\\x1b[", b"\\e[", b"\\033["].iter().any(|code| opening.ends_with(code))
        }
        _ => false,
    }
}

fn token_region(
    view: View<'_>,
    start: usize,
    from: usize,
    alphabet: Alphabet,
    least: usize,
    letters: Letters,
) -> Decision {
    if view.span(from, least, |byte| alphabet.has(byte))? < least {
        return Ok(None);
    }
    let accepted = letters == Letters::Any || mixed(&view.text[from..from + least]);
    Ok(accepted.then_some(Region { start, run: Run::Token(alphabet) }))
}

const MIXED_SAMPLE: usize = 20;

/// Whether a sample is as mixed as a random key: several digits, or letters that change their kind at every turn.
/// Words joined by dashes, camel case and placeholders in capitals are not.
fn mixed(sample: &[u8]) -> bool {
    let kind = |byte: u8| (byte.is_ascii_lowercase(), byte.is_ascii_uppercase(), byte.is_ascii_digit());
    let counts = |pair: &&[u8]| pair.iter().all(u8::is_ascii_alphanumeric) && kind(pair[0]) != kind(pair[1]);
    let turns = sample.windows(2).filter(counts).count();
    let digits = sample.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = sample.iter().any(u8::is_ascii_alphabetic);
    (digits >= 3 && letters) || turns >= 9
}

/// `header.payload.signature`, each base64 of JSON or of bytes.
fn web_token(view: View<'_>, start: usize, after: usize) -> Decision {
    const LEAST: usize = 10;
    let header = view.span(after, LONGEST_WEB_TOKEN_HEADER, |byte| Alphabet::Dashed.has(byte))?;
    let Some(payload) = view.past(after + header, ".")? else {
        return Ok(None);
    };
    if header < LEAST {
        return Ok(None);
    }
    let payload = view.span(payload, LEAST, |byte| Alphabet::Dashed.has(byte))?;
    Ok((payload == LEAST).then_some(Region { start, run: Run::Token(Alphabet::Dotted) }))
}

/// A private key's first line, and then something that is not just a sentence about it.
fn key_block(view: View<'_>, start: usize, after: usize) -> Decision {
    const HEADERS: [&str; 4] = ["Proc-Type:", "DEK-Info:", "Version:", "Comment:"];
    const LEAST: usize = 16;
    let is_label = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ';
    let label_end = view.skip(after, LONGEST_KEY_LABEL, is_label)?;
    let label = &view.text[after..label_end];
    if !(label.ends_with(b"PRIVATE KEY") || label.ends_with(b"PRIVATE KEY BLOCK")) {
        return Ok(None);
    }
    let Some(line_end) = view.past(label_end, "-----")? else {
        return Ok(None);
    };
    let region = Region { start, run: Run::Key(KeyBlock::BEGINNING) };

    // The end of the line, and what tools put before the next one: indentation, numbers, quoting, diff marks.
    let is_margin = |byte: u8| byte.is_ascii_whitespace() || byte.is_ascii_digit() || b"|>:+-#".contains(&byte);
    let mut body = view.skip(line_end, LOOK_BEHIND, is_margin)?;
    while let Some(escape) = view.past(body, "\\")? {
        body = view.skip(escape, 1, |byte| b"nrt\\".contains(&byte))?;
        body = view.skip(body, LOOK_BEHIND, is_margin)?;
        if body > line_end + LONGEST_KEY_LABEL {
            return Ok(None);
        }
    }
    for header in HEADERS {
        if view.past(body, header)?.is_some() {
            return Ok(Some(region));
        }
    }
    let letters = view.span(body, LEAST, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))?;
    Ok((letters == LEAST).then_some(region))
}

/// `Authorization: Basic …`, also as a field of JSON or an argument of a command.
fn authorization(view: View<'_>, after: usize) -> Decision {
    const LEAST: usize = 8;
    let is_around = |byte: u8| matches!(byte, b' ' | b'"' | b'\'' | b'\\');
    let sign = view.skip(after, 4, is_around)?;
    let value = match view.past(sign, ":")? {
        Some(value) => value,
        None => match view.past(sign, "=")? {
            Some(value) => value,
            None => return Ok(None),
        },
    };
    let scheme = view.skip(value, 4, is_around)?;
    let scheme_end = view.skip(scheme, LOOK_BEHIND, |byte| byte.is_ascii_alphabetic())?;
    let Some(credentials) = view.past(scheme_end, " ")? else {
        return Ok(None);
    };
    if scheme_end - scheme < 3 {
        return Ok(None);
    }
    let sample = view.span(credentials, MIXED_SAMPLE, |byte| Alphabet::Token68.has(byte))?;
    let letters = &view.text[credentials..credentials + sample];
    let varied = letters.iter().any(u8::is_ascii_digit)
        || (letters.iter().any(u8::is_ascii_uppercase)
            && letters[1..].iter().any(u8::is_ascii_uppercase)
            && letters.iter().any(u8::is_ascii_lowercase));
    let region = Region { start: credentials, run: Run::Token(Alphabet::Token68) };
    Ok((sample >= LEAST && varied).then_some(region))
}

/// The password of `scheme://user:password@host`; a variable or a word in its place is no secret.
fn url(view: View<'_>, after: usize) -> Decision {
    let belongs = |byte: u8| !(byte.is_ascii_whitespace() || b"/?#\"'`<>\\".contains(&byte));
    let length = view.span(after, LONGEST_USER_AND_PASSWORD, belongs)?;
    let authority = &view.text[after..after + length];
    let find = |byte: u8| authority.iter().position(|other| *other == byte);
    let (Some(colon), Some(at)) = (find(b':'), authority.iter().rposition(|byte| *byte == b'@')) else {
        return Ok(None);
    };
    if at <= colon + 1 || is_placeholder(&authority[colon + 1..at]) {
        return Ok(None);
    }
    Ok(Some(Region { start: after + colon + 1, run: Run::Bytes(at - colon - 1) }))
}

fn is_placeholder(password: &[u8]) -> bool {
    const WORDS: [&[u8]; 6] = [b"password", b"passwd", b"pass", b"pwd", b"secret", b"token"];
    match password {
        [b'$', b'{', .., b'}'] | [b'$', b'(', .., b')'] | [b'{', .., b'}'] | [b'[', .., b']'] | [b'%', b's'] => true,
        [b'$', name @ ..] => {
            name.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
        }
        _ if WORDS.iter().any(|word| word.eq_ignore_ascii_case(password)) => true,
        _ => password.iter().all(|byte| matches!(byte, b'*' | b'x' | b'.')),
    }
}
