//! Events as they are stored: a type, a version and JSON, so that what an old Windlass wrote a new one can read. Each
//! family of events is one enum made by `events!`; a payload of an older version passes its upcast first. And what a new one
//! writes an old one can read for as long as it lives: a payload of a newer version passes its downcasts where somebody at work
//! is not yet at the level at which it may be written.

use serde_json::value::RawValue;

/// What this Windlass can read: every owner registers with it. Whoever gives an event a new version raises it by one, and
/// says `since` that number in the event's `older`; whoever makes a new kind of event raises it too, and says `since` of the kind. An old
/// Windlass reads a new version by its downcast. Of a new kind it can read nothing, hence the store refuses it for as long as such a one is
/// at work, and whoever writes the first has something to do in that case.
///
/// Until the first release nobody is at level 1 but this Windlass, which is why records of it still change without a new version.
pub const JOURNAL_LEVEL: u32 = 1;

/// An event ready to be stored.
#[derive(Debug, Clone)]
pub struct Encoded {
    pub kind: &'static str,
    pub version: u16,
    pub data: Box<RawValue>,
    /// The journal's level from which on there are such events at all.
    pub since: u32,
    /// How it becomes one of an earlier version: the first makes a first out of a second.
    pub older: &'static [Older],
}

/// A version of an event, from its second on, and the way back.
#[derive(Debug, Clone, Copy)]
pub struct Older {
    /// The journal's level from which on it may be written.
    pub since: u32,
    /// Makes one of the version before.
    pub downcast: Downcast,
}

pub type Downcast = fn(serde_json::Value) -> serde_json::Value;

impl Encoded {
    /// From which level on it can be read as it is.
    pub fn level(&self) -> u32 {
        self.last_step().map_or(self.since, |step| step.since)
    }

    /// As those read it who are at `level`, or as near to that as there is a way back.
    #[must_use]
    pub fn for_level(mut self, level: u32) -> Self {
        while let Some(step) = self.last_step().filter(|step| step.since > level) {
            let newer = serde_json::from_str(self.data.get()).expect("what was encoded is JSON");
            self.data = serde_json::value::to_raw_value(&(step.downcast)(newer)).expect("a value is JSON");
            self.version -= 1;
        }
        self
    }

    fn last_step(&self) -> Option<Older> {
        let index = usize::from(self.version).checked_sub(2)?;
        self.older.get(index).copied()
    }
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

/// A family of events: `Variant(Payload) = "stored.name"`, followed by `since` and a level where the kind came later, and by its upcasts, oldest first, where it has any, and by as
/// many `older`: the level since which each version is written, and its downcast.
macro_rules! events {
    (
        $(#[$doc:meta])* pub enum $family:ident {
            $($(#[$variant_doc:meta])* $variant:ident($payload:ty) = $kind:literal $(since $first:literal)?
                $(upcast [$($upcast:path),+] older [$($since:literal => $downcast:path),+])?,)+
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
                    const UPCASTS: &[$crate::event::Upcast] = &[$($($upcast),+)?];
                    const OLDER: &[$crate::event::Older] =
                        &[$($($crate::event::Older { since: $since, downcast: $downcast }),+)?];
                    const { assert!(UPCASTS.len() == OLDER.len(), "every way forth has its way back") };
                    $crate::event::Encoded {
                        kind: $kind,
                        version: 1 + u16::try_from(UPCASTS.len()).expect("few versions"),
                        data: serde_json::value::to_raw_value(payload).expect("payloads are plain data"),
                        since: 1 $(- 1 + $first)?,
                        older: OLDER,
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
            Hauled(Hauled) = "winch.hauled" upcast [name_the_load, feet_to_metres] older [4 => unnamed, 6 => in_feet],
            Oiled(Oiled) = "winch.oiled" since 3 upcast [with_oil] older [5 => whatever_oil],
        }
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct Oiled {
        oil: String,
    }

    fn with_oil(_: Value) -> Value {
        json!({ "oil": "any" })
    }

    fn whatever_oil(_: Value) -> Value {
        json!({})
    }

    fn hauled_of(read: Winch) -> Hauled {
        match read {
            Winch::Hauled(hauled) => hauled,
            Winch::Oiled(oiled) => panic!("{oiled:?}"),
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
            let read = Winch::decode("winch.hauled", version, data).expect("readable");
            assert_eq!(hauled_of(read), newest, "version {version}");
        }
        let hauled = Winch::Hauled(newest);
        assert_eq!((hauled.kind(), hauled.encode().version), (Winch::KINDS[0], 3));
    }

    fn unnamed(payload: Value) -> Value {
        json!({ "feet": payload["feet"] })
    }

    fn in_feet(payload: Value) -> Value {
        json!({ "feet": payload["metres"].as_u64().unwrap_or(0) * 10 / 3, "load": payload["load"] })
    }

    #[test]
    fn whoever_is_not_so_far_is_written_for_as_they_read() {
        let hauled = || Winch::Hauled(Hauled { metres: 3, load: "anchor".into() }).encode();
        assert_eq!(hauled().level(), 6);
        for (level, version, level_written) in [(1, 1, 1), (3, 1, 1), (4, 2, 4), (5, 2, 4), (6, 3, 6), (7, 3, 6)] {
            let written = hauled().for_level(level);
            assert_eq!((written.version, written.level()), (version, level_written), "level {level}");
            let read = Winch::decode(written.kind, written.version, written.data.get());
            let read = hauled_of(read.expect("a version that there is"));
            assert_eq!(read, Hauled { metres: 3, load: "anchor".into() }, "level {level}");
        }
    }

    /// There is nothing that an old one could read of it, and that is said by its level.
    #[test]
    fn a_new_kind_is_of_the_level_that_it_came_with_however_old_whoever_reads_is() {
        let oiled = || Winch::Oiled(Oiled { oil: "linseed".into() }).encode();
        assert_eq!((oiled().version, oiled().level()), (2, 5));
        for (level, version, level_written) in [(1, 1, 3), (2, 1, 3), (3, 1, 3), (4, 1, 3), (5, 2, 5)] {
            let written = oiled().for_level(level);
            assert_eq!((written.version, written.level()), (version, level_written), "level {level}");
        }
    }

    #[test]
    fn what_a_newer_windlass_wrote_is_said_to_be_newer() {
        for (kind, version) in [("winch.hauled", 4), ("winch.hauled", 0), ("winch.painted", 1)] {
            let refused = Winch::decode(kind, version, "{}").expect_err("unknown");
            assert!(matches!(refused, Unreadable::Newer { .. }), "{kind} {version}: {refused}");
        }
    }
}
