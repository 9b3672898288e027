//! `$'…'`: C escapes, in which a command can be spelt so that no eye reads it.

/// The text before the closing quote, and how many bytes were read, the quote included.
pub fn decode(text: &str) -> Option<(String, usize)> {
    let mut decoded = Vec::new();
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\'' => return Some((String::from_utf8_lossy(&decoded).into_owned(), at + 1)),
            '\\' => {
                let (_, escape) = letters.next()?;
                let mut digits = |radix, most: usize| {
                    let mut value = 0_u32;
                    for _ in 0..most {
                        let Some(digit) = letters.peek().and_then(|(_, letter)| letter.to_digit(radix)) else { break };
                        value = value.wrapping_mul(radix) | digit;
                        letters.next();
                    }
                    value
                };
                match escape {
                    'x' => decoded.push(low_byte(digits(16, 2))),
                    'u' => push(&mut decoded, char::from_u32(digits(16, 4)).unwrap_or('\u{fffd}')),
                    'U' => push(&mut decoded, char::from_u32(digits(16, 8)).unwrap_or('\u{fffd}')),
                    '0'..='7' => {
                        let first = escape.to_digit(8).unwrap_or(0);
                        let mut value = first;
                        for _ in 0..2 {
                            let Some(digit) = letters.peek().and_then(|(_, letter)| letter.to_digit(8)) else { break };
                            value = value * 8 + digit;
                            letters.next();
                        }
                        decoded.push(low_byte(value));
                    }
                    'c' => {
                        let (_, control) = letters.next()?;
                        decoded.push(low_byte(u32::from(control)) & 0x1f);
                    }
                    'a' => decoded.push(7),
                    'b' => decoded.push(8),
                    'e' | 'E' => decoded.push(0x1b),
                    'f' => decoded.push(12),
                    'n' => decoded.push(b'\n'),
                    'r' => decoded.push(b'\r'),
                    't' => decoded.push(b'\t'),
                    'v' => decoded.push(11),
                    '\\' | '\'' | '"' | '?' => push(&mut decoded, escape),
                    other => {
                        decoded.push(b'\\');
                        push(&mut decoded, other);
                    }
                }
            }
            other => push(&mut decoded, other),
        }
    }
    None
}

fn push(bytes: &mut Vec<u8>, letter: char) {
    bytes.extend(letter.encode_utf8(&mut [0; 4]).as_bytes());
}

fn low_byte(value: u32) -> u8 {
    u8::try_from(value & 0xff).unwrap_or(0)
}
