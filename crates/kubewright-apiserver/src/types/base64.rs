//! Base64 as Go reads and writes it.

use base64::{
    Engine, alphabet,
    engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig},
};

/// Takes any bits in the last place, and leaves none there.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// The text that Go writes for the same bytes, if it is another one.
pub(super) fn canonical(text: &str) -> Option<String> {
    let bytes = LENIENT.decode(text.replace(['\r', '\n'], "")).ok()?;
    Some(LENIENT.encode(bytes)).filter(|written| written != text)
}

/// Checks a text as Go decodes it: padded, with line ends anywhere, and any bits in the last place.
///
/// # Errors
/// The offset that Go names.
pub(super) fn check(text: &str) -> Result<(), usize> {
    let bytes = text.as_bytes();
    let skip_lines = |mut at: usize| {
        while matches!(bytes.get(at), Some(b'\n' | b'\r')) {
            at += 1;
        }
        at
    };
    // How many characters of a group of four have been read.
    let (mut at, mut read) = (0, 0);
    loop {
        at = skip_lines(at);
        let Some(byte) = bytes.get(at) else {
            // Go counts back to where the group would begin if no line ended in it.
            return if read == 0 { Ok(()) } else { Err(at - read) };
        };
        match (byte, read) {
            (b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/', _) => read = (read + 1) % 4,
            (b'=', 2) => {
                let second = skip_lines(at + 1);
                return match bytes.get(second) {
                    None => Err(bytes.len()),
                    Some(b'=') => check_end(bytes.len(), skip_lines(second + 1)),
                    Some(_) => Err(second - 1),
                };
            }
            (b'=', 3) => return check_end(bytes.len(), skip_lines(at + 1)),
            _ => return Err(at),
        }
        at += 1;
    }
}

/// Nothing may follow the padding.
fn check_end(length: usize, at: usize) -> Result<(), usize> {
    if at < length { Err(at) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::{canonical, check};

    #[test]
    fn texts_are_judged_as_go_judges_them() {
        for (text, written) in [
            ("", None),
            ("YQ==", None),
            ("YWI=", None),
            ("YWJj", None),
            ("YW\nJj\n", Some("YWJj")),
            ("YR==", Some("YQ==")),
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
            assert_eq!(canonical(text).as_deref(), written, "{text}");
        }
        for (text, at) in [
            ("!!", 0),
            ("abc", 0),
            ("YWJjYQ", 4),
            ("YQ=", 3),
            ("YQ==x", 4),
            ("YQ=x", 2),
            ("aGVsbG8=x", 8),
            ("=", 0),
        ] {
            assert_eq!(check(text), Err(at), "{text}");
        }
    }
}
