//! `[models]` in `windlass.toml`: who asks which model, and what is wanted of models, by name. It is read by hand, because what
//! is wrong in it is to be found where it stands.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use windlass_llm::Adjustment;

#[derive(Debug, Clone, Default)]
pub struct ModelsConfig {
    /// Unless a command names one.
    pub proxy: Option<String>,
    pub planner: Option<String>,
    pub executor: Option<String>,
    pub by_name: BTreeMap<String, Adjustment>,
}

impl<'de> Deserialize<'de> for ModelsConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = ModelsConfig;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a table of models")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<ModelsConfig, A::Error> {
        let mut read = ModelsConfig::default();
        while let Some(name) = entries.next_key::<String>()? {
            match name.as_str() {
                "proxy" => read.proxy = Some(entries.next_value()?),
                "planner" => read.planner = Some(entries.next_value()?),
                "executor" => read.executor = Some(entries.next_value()?),
                _ => {
                    let wanted = entries.next_value()?;
                    read.by_name.insert(name, wanted);
                }
            }
        }
        Ok(read)
    }
}
