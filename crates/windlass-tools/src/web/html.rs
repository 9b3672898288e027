//! A page as Markdown: what is worth reading of it where that can be told, and all of its text where not.
//!
//! Pages are hostile: a megabyte of nested elements overflows a stack or takes a day in whatever walks the tree. Hence nothing
//! builds a tree of a page as it came. Its tokens, which cost as much as there are, are written anew, nested no deeper than
//! `DEEPEST` and closed in order, without scripts, styles and drawings; only that is parsed.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use dom_smoothie::{Config, Readability, TextMode};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};

const DEEPEST: usize = 120;
/// Of a larger page only the text is told.
const LARGEST_PARSED: usize = 2 * 1024 * 1024;
const MOST_ELEMENTS: usize = 30_000;
const LONGEST_TITLE: usize = 300;

/// Elements whose content is no text for people.
const LEFT_OUT: [&str; 14] = [
    "script", "style", "svg", "math", "template", "iframe", "object", "canvas", "audio", "video", "noembed",
    "noframes", "textarea", "select",
];
const EMPTY: [&str; 13] =
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"];
/// Elements that begin a line of their own.
const BLOCKS: [&str; 30] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "br",
    "dd",
    "div",
    "dl",
    "dt",
    "figcaption",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "li",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "table",
    "tr",
    "ul",
];
const KEPT_ATTRIBUTES: [&str; 14] = [
    "href", "src", "alt", "title", "class", "id", "role", "lang", "name", "property", "content", "itemprop", "colspan",
    "rel",
];

#[derive(Debug, PartialEq, Eq)]
pub struct Readable {
    pub title: String,
    pub text: String,
}

/// `address` makes links whole.
pub fn readable(html: &str, address: &str) -> Readable {
    let Tamed { html, text, title, elements, .. } = tame(html);
    let title = one_line(&title);
    let article =
        (html.len() <= LARGEST_PARSED && elements <= MOST_ELEMENTS).then(|| article(&html, address)).flatten();
    match article {
        Some(article) => {
            Readable { title: if title.is_empty() { one_line(&article.title) } else { title }, text: article.text }
        }
        None => Readable { title, text: lines(&text) },
    }
}

/// What a reader would want of the page; `None` where there is no such thing to be found.
fn article(html: &str, address: &str) -> Option<Readable> {
    let config = Config { text_mode: TextMode::Markdown, ..Config::default() };
    // What others wrote to read pages may stumble over one; that is no reason to end a run.
    let read = catch_unwind(AssertUnwindSafe(|| {
        Readability::new(html, Some(address), Some(config)).and_then(|mut page| page.parse())
    }));
    let article = read.ok()?.ok()?;
    let text = article.text_content.trim().to_owned();
    (!text.is_empty()).then_some(Readable { title: article.title, text })
}

/// A page written anew, and its mere text.
#[derive(Default)]
struct Tamed {
    html: String,
    text: String,
    title: String,
    elements: usize,
    open: Vec<String>,
    /// Elements that were not opened because of how deep they would have been.
    too_deep: Vec<String>,
    /// What is being left out, and how often it is open.
    skipping: Option<(String, usize)>,
    in_title: bool,
}

fn tame(html: &str) -> Tamed {
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(html));
    let tokenizer = Tokenizer::new(Tamer::default(), TokenizerOpts::default());
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    let mut tamed = tokenizer.sink.0.take();
    while !tamed.open.is_empty() {
        tamed.close_last();
    }
    tamed
}

#[derive(Default)]
struct Tamer(RefCell<Tamed>);

impl TokenSink for Tamer {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        let mut tamed = self.0.borrow_mut();
        match token {
            Token::CharacterTokens(text) => tamed.text(&text),
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => return tamed.open(&tag),
            Token::TagToken(tag) => tamed.close(&tag.name),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

impl Tamed {
    fn text(&mut self, text: &str) {
        if self.skipping.is_some() {
            return;
        }
        if self.in_title {
            return self.title.push_str(text);
        }
        self.text.push_str(text);
        escape(text, &mut self.html);
    }

    fn open(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        let name: &str = &tag.name;
        let raw = raw_kind(name);
        match &mut self.skipping {
            Some((skipped, times)) => *times += usize::from(skipped == name && !tag.self_closing),
            None if LEFT_OUT.contains(&name) => {
                if !tag.self_closing || raw.is_some() {
                    self.skipping = Some((name.to_owned(), 1));
                }
            }
            None if name == "title" => self.in_title = true,
            None => self.element(tag),
        }
        raw.map_or(TokenSinkResult::Continue, TokenSinkResult::RawData)
    }

    fn element(&mut self, tag: &Tag) {
        let name: &str = &tag.name;
        if self.open.last().is_some_and(|last| ends_with_next(last, name)) {
            self.close_last();
        }
        if BLOCKS.contains(&name) {
            self.text.push('\n');
        }
        // A name is written as it came: of any other letters it would not be the same element again.
        if !name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-') || name == "noscript" {
            return;
        }
        let is_empty = EMPTY.contains(&name);
        if self.open.len() == DEEPEST && !is_empty {
            return self.too_deep.push(name.to_owned());
        }
        self.elements += 1;
        self.html.push('<');
        self.html.push_str(name);
        for attribute in tag.attrs.iter().filter(|attribute| KEPT_ATTRIBUTES.contains(&&*attribute.name.local)) {
            self.html.push_str(&format!(" {}=\"", attribute.name.local));
            escape(&attribute.value, &mut self.html);
            self.html.push('"');
        }
        self.html.push('>');
        if !is_empty {
            self.open.push(name.to_owned());
        }
    }

    /// Closes what is open above it too, as long as it is open at all.
    fn close(&mut self, name: &str) {
        if let Some((skipped, times)) = &mut self.skipping {
            *times -= usize::from(skipped == name);
            if *times == 0 {
                self.skipping = None;
            }
            return;
        }
        if name == "title" {
            self.in_title = false;
            return;
        }
        if self.too_deep.last().is_some_and(|last| last == name) {
            self.too_deep.pop();
            return;
        }
        let Some(place) = self.open.iter().rposition(|open| open == name) else { return };
        self.too_deep.clear();
        while self.open.len() > place {
            self.close_last();
        }
    }

    fn close_last(&mut self) {
        if let Some(name) = self.open.pop() {
            self.html.push_str(&format!("</{name}>"));
        }
    }
}

/// Elements that need no end: the next one is theirs.
fn ends_with_next(open: &str, next: &str) -> bool {
    match open {
        "p" => BLOCKS.contains(&next) && next != "br",
        "li" | "tr" | "option" => open == next,
        "td" | "th" => matches!(next, "td" | "th" | "tr"),
        "dt" | "dd" => matches!(next, "dt" | "dd"),
        _ => false,
    }
}

/// What the tokenizer must not look for tags in.
fn raw_kind(name: &str) -> Option<RawKind> {
    match name {
        "title" | "textarea" => Some(RawKind::Rcdata),
        "style" | "xmp" | "iframe" | "noembed" | "noframes" => Some(RawKind::Rawtext),
        "script" => Some(RawKind::ScriptData),
        _ => None,
    }
}

fn escape(text: &str, out: &mut String) {
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            letter => out.push(letter),
        }
    }
}

fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line[..line.floor_char_boundary(LONGEST_TITLE)].to_owned()
}

/// Lines with words in them, each with single spaces.
fn lines(text: &str) -> String {
    let line = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.lines().map(line).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tamed(html: &str) -> String {
        tame(html).html
    }

    #[test]
    fn a_page_is_written_anew_in_order() {
        assert_eq!(tamed("<p>One<b>two</p>three"), "<p>One<b>two</b></p>three");
        assert_eq!(tamed("<p>one<p>two<ul><li>a<li>b"), "<p>one</p><p>two</p><ul><li>a</li><li>b</li></ul>");
        assert_eq!(tamed("<a href='/x' onclick=evil()>x</a>"), "<a href=\"/x\">x</a>");
        assert_eq!(tamed("a &lt;script> b"), "a &lt;script&gt; b");
        assert_eq!(tamed("<script>if (a < b) { '<p>' }</script>x<style>p{}</style>y"), "xy");
        assert_eq!(tamed("<svg><g><svg></svg></g></svg>x<svg/>y"), "xy");
        assert_eq!(tamed("<!-- <p> --><img src=a alt=b><br>x</nothing>"), "<img src=\"a\" alt=\"b\"><br>x");
        assert_eq!(tamed("<a\"b>x</a\"b>"), "x");
    }

    #[test]
    fn nothing_is_nested_deeper_than_can_be_walked() {
        let deepest = |html: &str| {
            let mut depth = 0_usize;
            let mut most = 0;
            for part in tamed(html).split('<').skip(1) {
                depth = if part.starts_with('/') { depth - 1 } else { depth + 1 };
                most = most.max(depth);
            }
            most
        };
        assert_eq!(deepest(&"<div>".repeat(5_000)), DEEPEST);
        assert_eq!(deepest(&"<b></x><div></y>".repeat(5_000)), DEEPEST);
        assert_eq!(deepest(&"<svg><![CDATA[></svg>]]><div>".repeat(1_000)), DEEPEST);
        let page = format!("{}deep{}<p>after", "<div>".repeat(1_000), "</div>".repeat(1_000));
        let tamed = tame(&page);
        assert!(tamed.html.ends_with("<p>after</p>") && tamed.text.contains("deep"), "{}", tamed.html);
    }

    #[test]
    fn an_article_is_found_and_told_as_markdown() {
        let body: String = (0..20)
            .map(|number| {
                format!("<p>Paragraph {number} is about something, and says so at some length, with commas.</p>")
            })
            .collect();
        let html = format!(
            "<html><head><title> A  title </title></head><body><nav><a href=/>Home</a></nav><article><h2>Part</h2>{body}\
             <p>See <a href='/more'>more</a>.</p><pre><code>let x = 1;</code></pre></article><script>evil()</script></body></html>"
        );
        let Readable { title, text } = readable(&html, "https://example.org/a");
        assert_eq!(title, "A title");
        assert!(text.contains("## Part") && text.contains("Paragraph 7"), "{text}");
        assert!(text.contains("[more](https://example.org/more)"), "{text}");
        assert!(text.contains("let x = 1;") && !text.contains("evil"), "{text}");
    }

    #[test]
    fn what_is_no_article_is_told_as_text() {
        let read = |html: &str| readable(html, "https://example.org/").text;
        assert_eq!(read("<body>Just words"), "Just words");
        assert_eq!(read(""), "");
        assert!(read(&format!("{}x", "<p>word ".repeat(MOST_ELEMENTS + 1))).starts_with("word\nword"));
    }
}
