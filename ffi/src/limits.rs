//! How much a template may ask for. Templates come with model files, so they are
//! input: a wrong or hostile one must end in an error, soon.
//!
//! Not covered, as the engine has no limit for it: lists that a template doubles
//! again and again, and values that it nests tens of thousands deep.

/// The largest real templates have about 40 KB.
const MAX_SOURCE_BYTES: usize = 1 << 20;

/// The compiler recurses once per operator of a chain ("a + a + a ...") and once
/// per elif. A level takes up to 500 bytes of stack, so these fit 2 MB.
const MAX_TOKENS_PER_TAG: usize = 4_000;
const MAX_ELIFS: usize = 2_000;

/// The fuel for rendering `context_bytes` of context. One fuel is an instruction
/// or 64 bytes of data. Real templates use up to 4 per byte of a short
/// conversation; some look at every message for every message, hence the square.
pub fn fuel_for(context_bytes: usize) -> u64 {
    let bytes = context_bytes as u64;
    (20_000 + bytes.saturating_mul(8))
        .saturating_add(bytes.saturating_mul(bytes) / 64)
        .min(16_000_000)
}

/// Refuses sources that would overflow the compiler's stack.
pub fn check_source(source: &str) -> Result<(), String> {
    if source.len() > MAX_SOURCE_BYTES {
        return Err(format!("a template of {} bytes; at most {MAX_SOURCE_BYTES}", source.len()));
    }
    let mut elifs = 0;
    let mut rest = source;
    while let Some(at) = rest.find('{') {
        let tag = &rest[at + 1..];
        rest = match tag.as_bytes().first() {
            Some(b'#') => tag.split_once("#}").map_or("", |(_, after)| after),
            Some(b'%') | Some(b'{') => {
                let body = &tag[1..];
                let line = || source[..source.len() - tag.len()].matches('\n').count() + 1;
                elifs += usize::from(body.trim_start_matches(['-', '+', ' ']).starts_with("elif"));
                if elifs > MAX_ELIFS {
                    return Err(format!("line {}: more than {MAX_ELIFS} elif", line()));
                }
                skip_tag(body).ok_or_else(|| {
                    format!("line {}: more than {MAX_TOKENS_PER_TAG} tokens in a tag", line())
                })?
            }
            _ => tag,
        };
    }
    Ok(())
}

/// What follows the tag that `body` starts with, or None if the tag is too long.
/// Any run of letters and digits, any string and any other character counts as a
/// token; `%}` and `}}` end the tag outside strings, `}` alone may close a dict.
fn skip_tag(body: &str) -> Option<&str> {
    let bytes = body.as_bytes();
    let mut at = 0;
    let mut tokens = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if matches!(byte, b'%' | b'}') && bytes.get(at + 1) == Some(&b'}') {
            return Some(&body[at + 2..]);
        }
        at += match byte {
            b'\'' | b'"' => string_length(&bytes[at..]),
            _ if is_word(byte) => bytes[at..].iter().take_while(|b| is_word(**b)).count(),
            _ => 1,
        };
        tokens += usize::from(!byte.is_ascii_whitespace());
        if tokens > MAX_TOKENS_PER_TAG {
            return None;
        }
    }
    Some("")
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The length of the string literal at the start of `bytes`, with its quotes.
fn string_length(bytes: &[u8]) -> usize {
    let mut at = 1;
    while at < bytes.len() && bytes[at] != bytes[0] {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}
