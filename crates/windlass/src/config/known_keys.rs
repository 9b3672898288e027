//! Every key that `windlass.toml` may have, found by asking the types that read it: a reader that notes each field it is asked for
//! and answers with something. For tests that hold the documents to the code.

use std::cell::RefCell;

use serde::Deserialize as _;
use serde::de::value::{Error, StrDeserializer};
use serde::de::{self, DeserializeSeed, IntoDeserializer as _, Visitor};
use serde::forward_to_deserialize_any;

use super::FileConfig;

pub fn known_keys() -> Vec<String> {
    let notes = RefCell::default();
    FileConfig::deserialize(Asked { path: Vec::new(), notes: &notes }).expect("every type takes what it is given");
    notes.into_inner()
}

#[derive(Clone)]
struct Asked<'a> {
    path: Vec<&'static str>,
    notes: &'a RefCell<Vec<String>>,
}

impl Asked<'_> {
    fn note(&self) {
        self.notes.borrow_mut().push(self.path.join("."));
    }

    fn inside(&self, name: &'static str) -> Self {
        let mut path = self.path.clone();
        path.push(name);
        Self { path, notes: self.notes }
    }
}

struct Fields<'a> {
    asked: Asked<'a>,
    left: std::slice::Iter<'static, &'static str>,
    now: &'static str,
}

impl<'de> de::MapAccess<'de> for Fields<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some(name) = self.left.next() else { return Ok(None) };
        self.now = name;
        let name: StrDeserializer<'_, Error> = name.into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(self.asked.inside(self.now))
    }
}

impl<'de> de::Deserializer<'de> for Asked<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.note();
        visitor.visit_u64(1)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.note();
        visitor.visit_bool(true)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.note();
        visitor.visit_str("1")
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.note();
        visitor.visit_seq(de::value::SeqDeserializer::<_, Error>::new(std::iter::empty::<u8>()))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        // Read by hand: it has names of its own beside those that are given.
        if self.path == ["models"] {
            self.note();
            return visitor.visit_map(Fields { asked: self, left: [].iter(), now: "" });
        }
        visitor.visit_map(Fields { asked: self, left: ["NAME"].iter(), now: "" })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_map(Fields { asked: self, left: fields.iter(), now: "" })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.note();
        let first: StrDeserializer<'_, Error> = variants[0].into_deserializer();
        visitor.visit_enum(first)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct newtype_struct tuple
        tuple_struct identifier ignored_any
    }
}
