//! What a message holds in OpenAI's two languages: text, or a list of parts, each of a kind that its language names.

use serde_json::{Map, Value};

use crate::gateway::translate::picture::Shown;
use crate::gateway::translate::told::{Untold, malformed, object, unsayable};

pub enum Part<'v> {
    Text(&'v str),
    Picture(Shown),
}

/// The content of a message, and how its language's parts are read.
#[derive(Clone, Copy)]
pub struct Content<'v> {
    pub content: &'v Value,
    pub part: fn(&'v Map<String, Value>) -> Result<Part<'v>, Untold>,
}

impl<'v> Content<'v> {
    pub fn each(self, mut take: impl FnMut(Part<'v>)) -> Result<(), Untold> {
        match self.content {
            Value::Null => {}
            Value::String(text) => take(Part::Text(text)),
            Value::Array(parts) => {
                for part in parts {
                    take((self.part)(object(part)?)?);
                }
            }
            _ => return malformed("there is a message without content"),
        }
        Ok(())
    }

    pub fn sorted(self) -> Result<(Vec<&'v str>, Vec<Shown>), Untold> {
        let (mut said, mut pictures) = (Vec::new(), Vec::new());
        self.each(|part| match part {
            Part::Text(text) => said.push(text),
            Part::Picture(picture) => pictures.push(picture),
        })?;
        Ok((said, pictures))
    }

    /// Of whom nobody takes pictures.
    pub fn only_text(self) -> Result<String, Untold> {
        match self.sorted()? {
            (said, pictures) if pictures.is_empty() => Ok(said.join("\n\n")),
            _ => unsayable("a picture in such a message"),
        }
    }
}
