//! What is typed at a screen, and the one thing among it that is not for the program: Ctrl-] twice.

/// Ctrl-].
const LEAVE: u8 = 0x1d;

#[derive(Debug, Default)]
pub struct Keys {
    /// One was pressed, and may be the first of two.
    is_leaving: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Pressed {
    Typed(Vec<u8>),
    /// With what was typed before that.
    Leave(Vec<u8>),
}

impl Keys {
    pub fn press(&mut self, bytes: &[u8]) -> Pressed {
        let mut typed = Vec::with_capacity(bytes.len() + 1);
        for byte in bytes {
            match (*byte, std::mem::take(&mut self.is_leaving)) {
                (LEAVE, true) => return Pressed::Leave(typed),
                (LEAVE, false) => self.is_leaving = true,
                (byte, was_leaving) => {
                    typed.extend(was_leaving.then_some(LEAVE));
                    typed.push(byte);
                }
            }
        }
        Pressed::Typed(typed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_in_a_row_leave_and_everything_else_is_for_the_program() {
        let check = |pieces: &[&str], expected: &[Pressed]| {
            let mut keys = Keys::default();
            let pressed: Vec<Pressed> = pieces.iter().map(|piece| keys.press(piece.as_bytes())).collect();
            assert_eq!(pressed, expected, "{pieces:?}");
        };
        let typed = |text: &str| Pressed::Typed(text.as_bytes().to_vec());
        let leave = |text: &str| Pressed::Leave(text.as_bytes().to_vec());
        check(&["ab\u{3}"], &[typed("ab\u{3}")]);
        check(&["a\u{1d}\u{1d}b"], &[leave("a")]);
        check(&["\u{1d}", "\u{1d}"], &[typed(""), leave("")]);
        check(&["\u{1d}", "x", "\u{1d}"], &[typed(""), typed("\u{1d}x"), typed("")]);
    }
}
