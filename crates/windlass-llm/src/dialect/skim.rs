//! JSON looked at without building it: a cursor that goes into objects and arrays and over everything else, once. A request
//! repeats a whole conversation to say one new thing, so nearly all of it is only to be skipped.

use memchr::memchr;

/// Nested deeper than anything that means well.
const DEEPEST: usize = 512;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotJson;

#[derive(Debug)]
pub struct Skim<'j> {
    json: &'j [u8],
    at: usize,
}

/// A place in an object or an array.
#[derive(Debug)]
pub struct Inside {
    before_the_first: bool,
}

impl<'j> Skim<'j> {
    pub fn new(json: &'j [u8]) -> Self {
        let mut skim = Self { json, at: 0 };
        skim.blank();
        skim
    }

    pub fn peek(&self) -> Option<u8> {
        self.json.get(self.at).copied()
    }

    pub fn object(&mut self) -> Result<Inside, NotJson> {
        self.expect(b'{')?;
        Ok(Inside { before_the_first: true })
    }

    pub fn array(&mut self) -> Result<Inside, NotJson> {
        self.expect(b'[')?;
        Ok(Inside { before_the_first: true })
    }

    /// The next name, as it is written between its quotes; its value comes next. `None` when the object has ended.
    pub fn name(&mut self, inside: &mut Inside) -> Result<Option<&'j [u8]>, NotJson> {
        if !self.goes_on(inside, b'}')? {
            return Ok(None);
        }
        self.expect(b'"')?;
        let start = self.at;
        self.end_string()?;
        let name = &self.json[start..self.at - 1];
        self.blank();
        self.expect(b':')?;
        self.blank();
        Ok(Some(name))
    }

    /// The next item of an array, whole. `None` when the array has ended.
    pub fn item(&mut self, inside: &mut Inside) -> Result<Option<&'j [u8]>, NotJson> {
        if !self.goes_on(inside, b']')? {
            return Ok(None);
        }
        self.value().map(Some)
    }

    /// The value here, whole.
    pub fn value(&mut self) -> Result<&'j [u8], NotJson> {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            let byte = self.peek().ok_or(NotJson)?;
            match byte {
                b'"' => {
                    self.at += 1;
                    self.end_string()?;
                }
                b'{' | b'[' => {
                    self.at += 1;
                    depth += 1;
                    if depth > DEEPEST {
                        return Err(NotJson);
                    }
                }
                b'}' | b']' => {
                    self.at += 1;
                    depth = depth.checked_sub(1).ok_or(NotJson)?;
                }
                b',' | b':' | b' ' | b'\n' | b'\r' | b'\t' if depth > 0 => self.at += 1,
                b',' | b':' => return Err(NotJson),
                _ => self.end_word(),
            }
            if depth == 0 {
                return Ok(&self.json[start..self.at]);
            }
        }
    }

    fn goes_on(&mut self, inside: &mut Inside, end: u8) -> Result<bool, NotJson> {
        self.blank();
        let is_first = std::mem::replace(&mut inside.before_the_first, false);
        match self.peek() {
            Some(byte) if byte == end => {
                self.at += 1;
                Ok(false)
            }
            Some(_) if is_first => Ok(true),
            _ => {
                self.expect(b',')?;
                self.blank();
                Ok(true)
            }
        }
    }

    fn blank(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), NotJson> {
        if self.peek() != Some(byte) {
            return Err(NotJson);
        }
        self.at += 1;
        Ok(())
    }

    /// From after the opening quote to after the closing one: the first with an even number of backslashes before it.
    fn end_string(&mut self) -> Result<(), NotJson> {
        let start = self.at;
        loop {
            let quote = self.at + memchr(b'"', &self.json[self.at..]).ok_or(NotJson)?;
            self.at = quote + 1;
            let backslashes = self.json[start..quote].iter().rev().take_while(|byte| **byte == b'\\').count();
            if backslashes.is_multiple_of(2) {
                return Ok(());
            }
        }
    }

    /// A number, or one of the three words.
    fn end_word(&mut self) {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        self.at += 1;
        while self.peek().is_some_and(is_part) {
            self.at += 1;
        }
    }
}

/// The value of one field of an object, if it has it; the first wins.
pub fn field<'j>(json: &'j [u8], wanted: &str) -> Option<&'j [u8]> {
    let mut skim = Skim::new(json);
    let mut inside = skim.object().ok()?;
    while let Some(name) = skim.name(&mut inside).ok()? {
        let value = skim.value().ok()?;
        if name == wanted.as_bytes() {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn fields(json: &str) -> Result<Vec<(String, String)>, NotJson> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut skim = Skim::new(json.as_bytes());
        let mut inside = skim.object()?;
        let mut fields = Vec::new();
        while let Some(name) = skim.name(&mut inside)? {
            fields.push((text(name), text(skim.value()?)));
        }
        Ok(fields)
    }

    fn items(json: &str) -> Result<Vec<&str>, NotJson> {
        let mut skim = Skim::new(json.as_bytes());
        let mut inside = skim.array()?;
        let mut items = Vec::new();
        while let Some(item) = skim.item(&mut inside)? {
            items.push(std::str::from_utf8(item).expect("text"));
        }
        Ok(items)
    }

    #[test]
    fn values_are_found_as_they_are_written() {
        let json = r#" { "a" : "x\"},\\" , "b":[1,{"c":"]"}], "d": -1.5e+3 ,"e":null,"f":{} } "#;
        let expected = [("a", r#""x\"},\\""#), ("b", r#"[1,{"c":"]"}]"#), ("d", "-1.5e+3"), ("e", "null"), ("f", "{}")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(fields(json).expect("it is JSON"), expected);
        assert_eq!(field(json.as_bytes(), "d"), Some(&b"-1.5e+3"[..]));
        assert_eq!(items("[ \"a\" ,[ ] , 3 ]").expect("it is JSON"), ["\"a\"", "[ ]", "3"]);
        assert_eq!(items(r#"["\\","\\\"",""]"#).expect("it is JSON"), [r#""\\""#, r#""\\\"""#, "\"\""]);
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
        assert!(items(&"[".repeat(100_000)).is_err() && items("[1,]").is_err() && items("[,1]").is_err());
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
