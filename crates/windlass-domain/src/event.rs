//! Events as they are stored: a type, a version and JSON, so that what an old Windlass wrote a new one can read. Each
//! family of events is one enum made by `events!`; a payload of an older version passes its upcast first.

use serde_json::value::RawValue;

/// An event ready to be stored.
#[derive(Debug, Clone)]
pub struct Encoded {
    pub kind: &'static str,
    pub version: u16,
    pub data: Box<RawValue>,
}

#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    #[error(
        "the journal holds `{kind}` version {version}, which this version of windlass does not know; use a newer one"
    )]
    Newer { kind: String, version: u16 },
    #[error("the journal's `{kind}` version {version} cannot be read: {source}")]
    Malformed { kind: String, version: u16, source: serde_json::Error },
}

/// Turns the payload of one version into that of the next.
pub type Upcast = fn(serde_json::Value) -> serde_json::Value;

/// Reads a payload, upcast step by step from `version` to `1 + upcasts.len()`. The current version is parsed straight
/// from its text: that is every event but a few.
pub fn decode_payload<T: serde::de::DeserializeOwned>(
    kind: &str,
    version: u16,
    upcasts: &[Upcast],
    data: &str,
) -> Result<T, Unreadable> {
    let steps = version.checked_sub(1).map(usize::from).and_then(|from| upcasts.get(from..));
    let malformed = |source| Unreadable::Malformed { kind: kind.to_owned(), version, source };
    match steps {
        None => Err(Unreadable::Newer { kind: kind.to_owned(), version }),
        Some([]) => serde_json::from_str(data).map_err(malformed),
        Some(steps) => {
            let oldest = serde_json::from_str(data).map_err(malformed)?;
            let newest = steps.iter().fold(oldest, |value, upcast| upcast(value));
            serde_json::from_value(newest).map_err(malformed)
        }
    }
}

/// What every family of events can do, for code that does not care which it is.
pub trait EventFamily: Sized {
    fn encode(&self) -> Encoded;

    fn decode(kind: &str, version: u16, data: &str) -> Result<Self, Unreadable>;
}

/// A family of events: `Variant(Payload) = "stored.name"`, followed by its upcasts, oldest first, where it has any.
macro_rules! events {
    (
        $(#[$doc:meta])* pub enum $family:ident {
            $($(#[$variant_doc:meta])* $variant:ident($payload:ty) = $kind:literal $(upcast [$($upcast:path),+])?,)+
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub enum $family { $($(#[$variant_doc])* $variant($payload),)+ }

        impl $family {
            pub const KINDS: &'static [&'static str] = &[$($kind),+];

            pub const fn kind(&self) -> &'static str {
                match self { $(Self::$variant(_) => $kind,)+ }
            }

            pub fn encode(&self) -> $crate::event::Encoded {
                match self { $(Self::$variant(payload) => {
                    let upcasts: &[$crate::event::Upcast] = &[$($($upcast),+)?];
                    $crate::event::Encoded {
                        kind: $kind,
                        version: 1 + u16::try_from(upcasts.len()).expect("few versions"),
                        data: serde_json::value::to_raw_value(payload).expect("payloads are plain data"),
                    }
                })+ }
            }

            pub fn decode(kind: &str, version: u16, data: &str) -> Result<Self, $crate::event::Unreadable> {
                match kind {
                    $($kind => $crate::event::decode_payload(kind, version, &[$($($upcast),+)?], data)
                        .map(Self::$variant),)+
                    _ => Err($crate::event::Unreadable::Newer { kind: kind.to_owned(), version }),
                }
            }
        }

        impl $crate::event::EventFamily for $family {
            fn encode(&self) -> $crate::event::Encoded {
                Self::encode(self)
            }

            fn decode(kind: &str, version: u16, data: &str) -> Result<Self, $crate::event::Unreadable> {
                Self::decode(kind, version, data)
            }
        }
    };
}
pub(crate) use events;

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};
    use serde_json::{Value, json};

    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct Hauled {
        metres: u32,
        load: String,
    }

    events! {
        pub enum Winch {
            Hauled(Hauled) = "winch.hauled" upcast [name_the_load, feet_to_metres],
        }
    }

    fn name_the_load(mut payload: Value) -> Value {
        payload["load"] = json!("anchor");
        payload
    }

    fn feet_to_metres(payload: Value) -> Value {
        json!({ "metres": payload["feet"].as_u64().unwrap_or(0) * 3 / 10, "load": payload["load"] })
    }

    #[test]
    fn every_older_version_is_read_as_the_newest() {
        let newest = Hauled { metres: 3, load: "anchor".into() };
        for (version, data) in
            [(1, r#"{"feet":10}"#), (2, r#"{"feet":10,"load":"anchor"}"#), (3, r#"{"metres":3,"load":"anchor"}"#)]
        {
            let Winch::Hauled(read) = Winch::decode("winch.hauled", version, data).expect("readable");
            assert_eq!(read, newest, "version {version}");
        }
        let hauled = Winch::Hauled(newest);
        assert_eq!((hauled.kind(), hauled.encode().version), (Winch::KINDS[0], 3));
    }

    #[test]
    fn what_a_newer_windlass_wrote_is_said_to_be_newer() {
        for (kind, version) in [("winch.hauled", 4), ("winch.hauled", 0), ("winch.oiled", 1)] {
            let refused = Winch::decode(kind, version, "{}").expect_err("unknown");
            assert!(matches!(refused, Unreadable::Newer { .. }), "{kind} {version}: {refused}");
        }
    }
}
