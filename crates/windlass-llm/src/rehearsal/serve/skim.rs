//! JSON looked at without building it: the fields of an object and the items of an array as slices of the text. A request
//! repeats a whole conversation to say one new thing, so nearly all of it is only to be skipped.

use std::ops::ControlFlow;

use memchr::memchr2;

/// Nested deeper than anything that means well.
const DEEPEST: usize = 512;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotJson;

/// Calls `field` with each name, as it is written between its quotes, and each value, until it has enough.
pub fn object<'j>(
    json: &'j [u8],
    mut field: impl FnMut(&'j [u8], &'j [u8]) -> ControlFlow<()>,
) -> Result<(), NotJson> {
    let mut at = expect(json, blank(json, 0), b'{')?;
    at = blank(json, at);
    if json.get(at) == Some(&b'}') {
        return Ok(());
    }
    loop {
        let name_start = expect(json, at, b'"')?;
        let name_end = end_of_string(json, name_start)?;
        let value_start = blank(json, expect(json, blank(json, name_end), b':')?);
        let value_end = end_of_value(json, value_start)?;
        if field(&json[name_start..name_end - 1], &json[value_start..value_end]).is_break() {
            return Ok(());
        }
        at = blank(json, value_end);
        match json.get(at) {
            Some(b',') => at = blank(json, at + 1),
            Some(b'}') => return Ok(()),
            _ => return Err(NotJson),
        }
    }
}

/// The items of an array.
pub fn array(json: &[u8]) -> Result<Vec<&[u8]>, NotJson> {
    let mut items = Vec::new();
    let mut at = expect(json, blank(json, 0), b'[')?;
    at = blank(json, at);
    if json.get(at) == Some(&b']') {
        return Ok(items);
    }
    loop {
        let end = end_of_value(json, at)?;
        items.push(&json[at..end]);
        at = blank(json, end);
        match json.get(at) {
            Some(b',') => at = blank(json, at + 1),
            Some(b']') => return Ok(items),
            _ => return Err(NotJson),
        }
    }
}

/// The value of one field of an object, if it has it; the first wins.
pub fn field<'j>(json: &'j [u8], wanted: &str) -> Option<&'j [u8]> {
    let mut found = None;
    let look = |name: &'j [u8], value: &'j [u8]| {
        if name != wanted.as_bytes() {
            return ControlFlow::Continue(());
        }
        found = Some(value);
        ControlFlow::Break(())
    };
    object(json, look).ok()?;
    found
}

fn blank(json: &[u8], mut at: usize) -> usize {
    while json.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

fn expect(json: &[u8], at: usize, byte: u8) -> Result<usize, NotJson> {
    if json.get(at) == Some(&byte) { Ok(at + 1) } else { Err(NotJson) }
}

/// From after the opening quote to after the closing one.
fn end_of_string(json: &[u8], mut at: usize) -> Result<usize, NotJson> {
    loop {
        let found = at + memchr2(b'"', b'\\', json.get(at..).ok_or(NotJson)?).ok_or(NotJson)?;
        match json[found] {
            b'"' => return Ok(found + 1),
            _ => at = found + 2,
        }
    }
}

fn end_of_value(json: &[u8], mut at: usize) -> Result<usize, NotJson> {
    let mut depth = 0_usize;
    loop {
        match json.get(at).ok_or(NotJson)? {
            b'"' => at = end_of_string(json, at + 1)?,
            b'{' | b'[' => {
                depth += 1;
                if depth > DEEPEST {
                    return Err(NotJson);
                }
                at += 1;
                continue;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1).ok_or(NotJson)?;
                at += 1;
            }
            b',' | b':' | b' ' | b'\n' | b'\r' | b'\t' if depth > 0 => {
                at += 1;
                continue;
            }
            b',' | b':' => return Err(NotJson),
            _ => at = end_of_word(json, at),
        }
        if depth == 0 {
            return Ok(at);
        }
    }
}

/// A number, or one of the three words.
fn end_of_word(json: &[u8], start: usize) -> usize {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let length = json[start..].iter().take_while(|byte| is_part(byte)).count();
    start + length.max(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn fields(json: &str) -> Result<Vec<(String, String)>, NotJson> {
        let mut fields = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        object(json.as_bytes(), |name, value| {
            fields.push((text(name), text(value)));
            ControlFlow::Continue(())
        })?;
        Ok(fields)
    }

    #[test]
    fn values_are_found_as_they_are_written() {
        let json = r#" { "a" : "x\"},\\" , "b":[1,{"c":"]"}], "d": -1.5e+3 ,"e":null,"f":{} } "#;
        let expected = [("a", r#""x\"},\\""#), ("b", r#"[1,{"c":"]"}]"#), ("d", "-1.5e+3"), ("e", "null"), ("f", "{}")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(fields(json).expect("it is JSON"), expected);
        assert_eq!(field(json.as_bytes(), "d"), Some(&b"-1.5e+3"[..]));
        assert_eq!(array(b"[ \"a\" ,[ ] , 3 ]").expect("it is JSON"), [&b"\"a\""[..], b"[ ]", b"3"]);
    }

    #[test]
    fn what_is_broken_is_refused_and_never_runs_off() {
        let json = r#"{"a":"x\"","b":[1,{"c":"]"}]}"#;
        for end in 0..json.len() {
            assert_eq!(fields(&json[..end]), Err(NotJson), "{}", &json[..end]);
        }
        for broken in ["", "[", "{\"a\" 1}", "{\"a\":}", "{a:1}", "{\"a\":1,}", "\"\\"] {
            assert_eq!(fields(broken), Err(NotJson), "{broken}");
        }
        assert!(array("[".repeat(100_000).as_bytes()).is_err());
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map("[a-z]{0,3}", inner, 0..6).prop_map(|map| map.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn skimming_agrees_with_parsing(map in prop::collection::btree_map("[a-z]{0,3}", any_json(), 0..6), pretty in any::<bool>()) {
            let value = Value::from_iter(map.clone());
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.expect("JSON");
            let found = fields(&text).map_err(|_| TestCaseError::fail("refused"))?;
            let parsed = found.into_iter().map(|(name, raw)| (name, serde_json::from_str::<Value>(&raw).expect("JSON")));
            let reparsed = serde_json::from_str::<std::collections::BTreeMap<String, Value>>(&text).expect("JSON");
            prop_assert_eq!(parsed.collect::<std::collections::BTreeMap<_, _>>(), reparsed);
        }
    }
}
