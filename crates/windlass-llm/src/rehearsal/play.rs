//! What a line sounds like: the pieces of an answer, in the portions that a real model would send, whole or cut off.

use windlass_domain::{StopReason, Usage};

use crate::answer::{CallPiece, Piece, call_id};
use crate::rehearsal::script::Line;
use crate::tokens;

/// Characters at a time.
const PORTION: usize = 64;

/// `prompt` is the estimated length of the request, used where the script has no figure.
pub fn pieces(line: &Line, turn: u32, prompt: impl FnOnce() -> u64) -> Vec<Piece> {
    // The bill comes first: there are formats that begin with it.
    let mut pieces = vec![Piece::Usage(line.usage.unwrap_or_else(|| estimated(line, prompt())))];
    pieces.extend(spoken(line, turn));
    pieces.push(Piece::Stop(if line.calls.is_empty() { StopReason::EndTurn } else { StopReason::ToolCalls }));
    pieces.push(Piece::Done);
    pieces
}

fn spoken(line: &Line, turn: u32) -> Vec<Piece> {
    let mut pieces = portions(&line.reply).map(|text| Piece::Text(text.to_owned())).collect::<Vec<_>>();
    for (index, call) in line.calls.iter().enumerate() {
        let slot = index as u64;
        let (id, tool) = (call_id(turn, index), call.tool.clone());
        pieces.push(Piece::Call(CallPiece { slot, id, tool, arguments: String::new() }));
        pieces.extend(
            portions(&call.arguments)
                .map(|part| Piece::Call(CallPiece { slot, arguments: part.to_owned(), ..CallPiece::default() })),
        );
    }
    pieces
}

/// The first so many characters of what would have been said.
pub fn cut(line: Option<&Line>, turn: u32, after: usize) -> Vec<Piece> {
    let mut left = after;
    let mut kept = Vec::new();
    for mut piece in line.map(|line| spoken(line, turn)).unwrap_or_default() {
        if let Piece::Text(text) | Piece::Call(CallPiece { arguments: text, .. }) = &mut piece {
            let end = text.char_indices().nth(left).map_or(text.len(), |(end, _)| end);
            left -= text[..end].chars().count();
            text.truncate(end);
        }
        kept.push(piece);
        if left == 0 {
            break;
        }
    }
    kept
}

fn estimated(line: &Line, prompt: u64) -> Usage {
    let calls = line.calls.iter().map(|call| tokens::estimate(&call.tool) + tokens::estimate(&call.arguments));
    Usage { input: prompt, output: tokens::estimate(&line.reply) + calls.sum::<u64>(), ..Usage::default() }
}

fn portions(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(PORTION).map_or(rest.len(), |(end, _)| end);
        let (portion, after) = rest.split_at(end);
        rest = after;
        (!portion.is_empty()).then_some(portion)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rehearsal::Script;

    fn said(pieces: &[Piece]) -> String {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Call(part) => format!("{}{}", part.tool, part.arguments),
            _ => String::new(),
        };
        pieces.iter().map(text).collect()
    }

    #[test]
    fn a_cut_answer_has_exactly_so_many_characters() {
        let text = "version: 1\ntracks:\n  t:\n    - reply: 'ärger'\n      calls: [ { tool: x, args: { a: 1 } } ]\n";
        let script = Script::parse(text).expect("a valid script");
        let line = &script.tracks["t"].lines[0];
        assert_eq!(said(&cut(Some(line), 0, 0)), "");
        assert_eq!(said(&cut(Some(line), 0, 3)), "ärg");
        assert_eq!(said(&cut(Some(line), 0, 5)), "ärger");
        assert_eq!(said(&cut(Some(line), 0, 7)), "ärgerx{\"");
        assert_eq!(said(&cut(Some(line), 0, 999)), "ärgerx{\"a\":1}");
        assert!(cut(None, 0, 5).is_empty());
    }

    #[test]
    fn portions_make_up_the_whole() {
        let text = "ü".repeat(PORTION * 2 + 1);
        assert_eq!(portions(&text).collect::<Vec<_>>().len(), 3);
        assert_eq!(portions(&text).collect::<String>(), text);
        assert_eq!(portions("").count(), 0);
    }
}
