//! An answer put together again, for the formats that send it whole.

use std::collections::BTreeMap;

use windlass_domain::{StopReason, Usage};

use crate::answer::{CallPiece, Piece};

#[derive(Debug, Default)]
pub struct Spoken {
    pub text: String,
    pub calls: Vec<CallPiece>,
    pub usage: Usage,
    pub stop: Option<StopReason>,
}

impl Spoken {
    pub fn gather(pieces: &[Piece]) -> Self {
        let mut spoken = Self::default();
        for piece in pieces {
            match piece {
                Piece::Text(text) => spoken.text.push_str(text),
                Piece::Call(part) if part.tool.is_empty() => {
                    spoken.calls.iter_mut().filter(|call| call.slot == part.slot).for_each(|call| {
                        call.arguments.push_str(&part.arguments);
                    });
                }
                Piece::Call(part) => spoken.calls.push(part.clone()),
                Piece::Usage(usage) => spoken.usage = *usage,
                Piece::Stop(stop) => spoken.stop = Some(stop.clone()),
                Piece::RequestId(_) | Piece::Reasoning(_) | Piece::Thought(_) | Piece::Done => {}
            }
        }
        spoken
    }
}

/// What every format says about an answer besides the answer.
#[derive(Debug, Clone)]
pub struct About {
    /// As the client called it.
    pub model: String,
    /// What the answer's ids are made of.
    pub name: String,
    /// A streamed chat completion has no bill unless one is asked for.
    pub wants_usage: bool,
    /// Tools that the client keeps in folders, in the one language that has them: folder and name of each.
    pub folders: BTreeMap<String, (String, String)>,
}

/// The one name of a tool that is kept in a folder.
pub fn flat(folder: &str, name: &str) -> String {
    format!("{folder}__{name}")
}
