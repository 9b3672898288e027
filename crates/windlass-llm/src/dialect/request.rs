//! A request as far as everybody needs it: which model, which turn, whether to stream and, only when asked, what it says.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::dialect::skim::{self, NotJson, Skim};
use crate::dialect::{Dialect, flat};
use crate::tokens;

/// A tool or a folder of them, as far as their names.
#[derive(Deserialize)]
struct Described {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    tools: Vec<Described>,
}

#[derive(Debug)]
pub struct Request<'j> {
    pub dialect: Dialect,
    pub model: String,
    pub stream: bool,
    /// A streamed chat completion has no bill unless one is asked for.
    pub wants_usage: bool,
    /// How many answers the conversation has had.
    pub turn: u32,
    system: Option<&'j [u8]>,
    tools: Option<&'j [u8]>,
    items: Vec<&'j [u8]>,
}

impl<'j> Request<'j> {
    pub fn read(dialect: Dialect, json: &'j [u8]) -> Result<Self, NotJson> {
        let (mut model, mut stream, mut options, mut system, mut tools) = (None, None, None, None, None);
        let mut items = Vec::new();
        let mut skim = Skim::new(json);
        let mut inside = skim.object()?;
        while let Some(name) = skim.name(&mut inside)? {
            // What is spelt so that it is not found here would be read by the server, and not counted.
            if name.contains(&b'\\') {
                return Err(NotJson);
            }
            match (dialect, name) {
                (_, b"model") => model = Some(skim.value()?),
                (_, b"stream") => stream = Some(skim.value()?),
                (_, b"stream_options") => options = Some(skim.value()?),
                (_, b"tools") => tools = Some(skim.value()?),
                (Dialect::Messages, b"system") | (Dialect::Responses, b"instructions") => system = Some(skim.value()?),
                (Dialect::Responses, b"input") | (Dialect::Chat | Dialect::Messages, b"messages") => {
                    items = conversation(&mut skim)?;
                }
                _ => {
                    skim.value()?;
                }
            }
        }
        let include_usage = options.and_then(|options| skim::field(options, "include_usage"));
        Ok(Self {
            dialect,
            model: model.and_then(text_of).ok_or(NotJson)?.into_owned(),
            stream: stream == Some(b"true"),
            wants_usage: include_usage == Some(b"true"),
            turn: turn(dialect, &items),
            system,
            tools,
            items,
        })
    }

    pub fn offers_tools(&self) -> bool {
        let Some(tools) = self.tools else { return false };
        let mut skim = Skim::new(tools);
        skim.array().is_ok_and(|mut inside| skim.item(&mut inside).is_ok_and(|first| first.is_some()))
    }

    /// Tools that the client keeps in folders, by their one name: folder and name of each. What is not readable is in none.
    pub fn folders(&self) -> BTreeMap<String, (String, String)> {
        let described = self.tools.and_then(|tools| serde_json::from_slice::<Vec<Described>>(tools).ok());
        let folders = described.into_iter().flatten().filter(|tool| tool.kind == "namespace");
        let inside =
            folders.flat_map(|folder| folder.tools.into_iter().map(move |tool| (folder.name.clone(), tool.name)));
        inside.map(|(folder, name)| (flat(&folder, &name), (folder, name))).collect()
    }

    /// About how many tokens all of it is, erring upwards: the definitions of its tools and its pictures as well.
    pub fn estimated_input(&self) -> u64 {
        let tools = self.tools.map_or(0, |tools| tokens::estimate(&String::from_utf8_lossy(tools)));
        self.tokens() + tools + self.pictures() * tokens::LARGEST_IMAGE_TOKENS
    }

    fn pictures(&self) -> u64 {
        let of = |item: &&[u8]| {
            let item = serde_json::from_slice::<Item<'_>>(item).ok()?;
            Some([item.content, item.output].iter().flatten().map(|content| pictures(content.get())).sum::<u64>())
        };
        self.items.iter().filter_map(of).sum()
    }

    /// Estimated as the provider in the process does it, from the same texts.
    pub fn tokens(&self) -> u64 {
        let mut tokens = 0;
        self.each_text(|text| tokens += tokens::estimate(text));
        tokens
    }

    pub fn each_text(&self, mut take: impl FnMut(&str)) {
        let mut take = |text: &str| {
            if !text.is_empty() {
                take(text);
            }
        };
        if let Some(system) = self.system {
            said(system, &mut take);
        }
        for item in &self.items {
            match serde_json::from_slice::<Item>(item) {
                Ok(item) => item.each_text(&mut take),
                Err(_) => said(item, &mut take),
            }
        }
    }

    pub fn last_result(&self) -> Option<String> {
        self.items.iter().rev().find_map(|item| serde_json::from_slice::<Item>(item).ok()?.last_result())
    }
}

fn conversation<'j>(skim: &mut Skim<'j>) -> Result<Vec<&'j [u8]>, NotJson> {
    // Responses take a bare text for a conversation of one message.
    if skim.peek() == Some(b'"') {
        return Ok(vec![skim.value()?]);
    }
    let mut inside = skim.array()?;
    let mut items = Vec::new();
    while let Some(item) = skim.item(&mut inside)? {
        items.push(item);
    }
    Ok(items)
}

/// Counts assistant messages. In responses an answer is several items, a message and its calls; what stands between two
/// answers is always something else.
fn turn(dialect: Dialect, items: &[&[u8]]) -> u32 {
    if dialect != Dialect::Responses {
        let answers = items.iter().filter(|item| skim::field(item, "role") == Some(b"\"assistant\""));
        return u32::try_from(answers.count()).unwrap_or(u32::MAX);
    }
    let mut answers = 0;
    let mut in_answer = false;
    for item in items {
        let is_said = is_said_by_assistant(item);
        answers += u32::from(is_said && !in_answer);
        in_answer = is_said;
    }
    answers
}

fn is_said_by_assistant(item: &[u8]) -> bool {
    let kind = skim::field(item, "type").and_then(text_of).unwrap_or_default();
    skim::field(item, "role") == Some(b"\"assistant\"") || kind.ends_with("_call") || kind == "reasoning"
}

pub fn text_of(json: &[u8]) -> Option<Cow<'_, str>> {
    let plain = json.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if !plain.contains(&b'\\') {
        return std::str::from_utf8(plain).ok().map(Cow::Borrowed);
    }
    serde_json::from_slice(json).ok().map(Cow::Owned)
}

/// A message of any dialect, with what it may have.
#[derive(Deserialize)]
struct Item<'j> {
    #[serde(borrow)]
    role: Option<Cow<'j, str>>,
    #[serde(borrow)]
    content: Option<&'j RawValue>,
    tool_calls: Option<Vec<Call>>,
    /// Of a call in responses.
    arguments: Option<String>,
    /// Of a result in responses.
    #[serde(borrow)]
    output: Option<&'j RawValue>,
}

#[derive(Deserialize)]
struct Call {
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    #[serde(default)]
    arguments: String,
}

/// A part of a message's content.
#[derive(Deserialize)]
struct Part<'j> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'j, str>>,
    text: Option<String>,
    #[serde(borrow)]
    input: Option<&'j RawValue>,
    #[serde(borrow)]
    content: Option<&'j RawValue>,
}

impl Item<'_> {
    fn each_text(&self, take: &mut dyn FnMut(&str)) {
        [self.content, self.output].iter().flatten().for_each(|value| said(value.get().as_bytes(), take));
        self.tool_calls.iter().flatten().for_each(|call| take(&call.function.arguments));
        self.arguments.iter().for_each(|arguments| take(arguments));
    }

    fn last_result(&self) -> Option<String> {
        let is = |value: &Option<Cow<'_, str>>, wanted: &str| value.as_ref().is_some_and(|value| value == wanted);
        if let Some(output) = self.output {
            return Some(whole_text(output.get()));
        }
        if is(&self.role, "tool") {
            return Some(self.content.map(|content| whole_text(content.get())).unwrap_or_default());
        }
        let parts = serde_json::from_str::<Vec<Part<'_>>>(self.content?.get()).ok()?;
        let result = parts.iter().rev().find(|part| is(&part.kind, "tool_result"))?;
        Some(result.content.map(|content| whole_text(content.get())).unwrap_or_default())
    }
}

fn whole_text(json: &str) -> String {
    let mut all = String::new();
    said(json.as_bytes(), &mut |text| all.push_str(text));
    all
}

/// Text, or a list of parts with text in them.
fn said(json: &[u8], take: &mut dyn FnMut(&str)) {
    if let Some(text) = text_of(json) {
        return take(&text);
    }
    for part in serde_json::from_slice::<Vec<Part<'_>>>(json).unwrap_or_default() {
        part.text.iter().for_each(|text| take(text));
        part.input.iter().for_each(|input| take(input.get()));
        part.content.iter().for_each(|content| said(content.get().as_bytes(), take));
    }
}

fn pictures(json: &str) -> u64 {
    let parts = serde_json::from_str::<Vec<Part<'_>>>(json).unwrap_or_default();
    let of = |part: &Part<'_>| {
        let is_one = part.kind.as_ref().is_some_and(|kind| matches!(&**kind, "image" | "image_url" | "input_image"));
        u64::from(is_one) + part.content.map_or(0, |content| pictures(content.get()))
    };
    parts.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(request: &Request<'_>) -> Vec<String> {
        let mut texts = Vec::new();
        request.each_text(|text| texts.push(text.to_owned()));
        texts
    }

    fn check(dialect: Dialect, json: &str, turn: u32, texts_expected: &[&str], last: Option<&str>) {
        let request = Request::read(dialect, json.as_bytes()).expect("it is JSON");
        assert_eq!(request.model, "rehearsal/x");
        assert_eq!((request.turn, request.last_result().as_deref()), (turn, last), "{json}");
        assert_eq!(texts(&request), texts_expected, "{json}");
    }

    #[test]
    fn chat_completions() {
        let json = r#"{"model":"rehearsal\/x","stream":true,"stream_options":{"include_usage":true},"messages":[
            {"role":"system","content":"sys"},{"role":"user","content":[{"type":"text","text":"a\nb"}]},
            {"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"t","arguments":"{\"role\":\"assistant\"}"}}]},
            {"content":"\"role\":\"assistant\"","tool_call_id":"1","role":"tool"},{"role":"assistant","content":"done"},{"role":"user","content":"more"}]}"#;
        check(
            Dialect::Chat,
            json,
            2,
            &["sys", "a\nb", r#"{"role":"assistant"}"#, "\"role\":\"assistant\"", "done", "more"],
            Some("\"role\":\"assistant\""),
        );
        let request = Request::read(Dialect::Chat, json.as_bytes()).expect("it is JSON");
        assert!(request.stream && request.wants_usage);
    }

    #[test]
    fn tools_in_folders_have_one_name_each() {
        let json = r#"{"model":"x","input":"hi","tools":[{"type":"function","name":"plain"},
            {"type":"namespace","name":"crew","tools":[{"type":"function","name":"spawn"}]},{"type":"web_search"}]}"#;
        let folders = Request::read(Dialect::Responses, json.as_bytes()).expect("it is JSON").folders();
        let expected = ("crew__spawn".to_owned(), ("crew".to_owned(), "spawn".to_owned()));
        assert_eq!(folders, BTreeMap::from([expected]));
        let odd = r#"{"model":"x","input":"hi","tools":[1,"x"]}"#;
        assert_eq!(Request::read(Dialect::Responses, odd.as_bytes()).expect("it is JSON").folders(), BTreeMap::new());
    }

    #[test]
    fn messages() {
        let json = r#"{"model":"rehearsal/x","system":[{"type":"text","text":"sys","cache_control":{}}],"messages":[
            {"role":"user","content":"hi"},
            {"role":"assistant","content":[{"type":"text","text":"ok"},{"type":"tool_use","id":"1","name":"t","input":{"role":"assistant"}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"one"},{"type":"tool_result","tool_use_id":"2","content":[{"type":"text","text":"two"}]}]}]}"#;
        check(Dialect::Messages, json, 1, &["sys", "hi", "ok", r#"{"role":"assistant"}"#, "one", "two"], Some("two"));
    }

    #[test]
    fn responses() {
        let json = r#"{"model":"rehearsal/x","instructions":"sys","input":[
            {"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]},
            {"type":"reasoning","summary":[]},
            {"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]},
            {"type":"function_call","call_id":"1","name":"t","arguments":"{}"},
            {"type":"function_call","call_id":"2","name":"t","arguments":"{\"a\":1}"},
            {"type":"function_call_output","call_id":"1","output":"one"},
            {"type":"function_call_output","call_id":"2","output":[{"type":"input_text","text":"two"}]},
            {"role":"assistant","content":"fine"}]}"#;
        check(Dialect::Responses, json, 2, &["sys", "hi", "ok", "{}", "{\"a\":1}", "one", "two", "fine"], Some("two"));
        check(Dialect::Responses, r#"{"model":"rehearsal/x","input":"hi"}"#, 0, &["hi"], None);
    }

    #[test]
    fn tools_and_pictures_are_part_of_what_is_read() {
        let read = |json: &str| {
            let request = Request::read(Dialect::Messages, json.as_bytes()).expect("it is JSON");
            (request.offers_tools(), request.estimated_input() - request.tokens())
        };
        assert_eq!(read(r#"{"model":"m","messages":[]}"#), (false, 0));
        assert_eq!(read(r#"{"model":"m","tools":[ ],"messages":[]}"#), (false, 1));
        assert_eq!(read(r#"{"model":"m","tools":[{"name":"a tool"}],"messages":[]}"#), (true, 6));
        let picture = r#"{"type":"image","source":{"type":"base64","data":"AAAAAAAAAAAAAAAAAAAAAAAAAAAA"}}"#;
        let result = format!(r#"{{"type":"tool_result","content":[{picture}]}}"#);
        let json = format!(r#"{{"model":"m","messages":[{{"role":"user","content":[{picture},{result}]}}]}}"#);
        assert_eq!(read(&json), (false, 2 * tokens::LARGEST_IMAGE_TOKENS));
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for json in [
            r#"{"model":"m","mess\u0061ges":[]}"#,
            "",
            "[]",
            "{}",
            "{\"model\":1}",
            "{\"model\":\"m\",\"messages\":{}}",
            "{\"model\":\"m\",\"messages\":[}",
        ] {
            assert!(Request::read(Dialect::Chat, json.as_bytes()).is_err(), "{json}");
        }
    }
}
