//! Patterns that switch a lazy grammar on.

use regex_lite::{Regex, RegexBuilder};

use crate::schema_pattern;

/// Of compiled patterns.
const MAX_BYTES: usize = 1 << 20;

pub struct Pattern {
    regex: Regex,
}

impl Pattern {
    /// `whole` patterns must match all of the text.
    pub fn compile(text: &str, whole: bool) -> Result<Pattern, String> {
        let translated = schema_pattern::translated(text);
        let source = if whole { format!("^(?:{translated})$") } else { translated };
        match RegexBuilder::new(&source).size_limit(MAX_BYTES).build() {
            Ok(regex) => Ok(Pattern { regex }),
            Err(error) => {
                Err(error.to_string().lines().last().unwrap_or("no such pattern").to_string())
            }
        }
    }

    /// Where the first group that holds text begins, or else the match. `text` may be cut
    /// in the middle of a character.
    pub fn find(&self, text: &[u8]) -> Option<usize> {
        let text = match std::str::from_utf8(text) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&text[..error.valid_up_to()]).unwrap_or_default(),
        };
        let found = self.regex.captures(text)?;
        let groups = found.iter().skip(1).flatten();
        let begin = groups.filter(|group| !group.is_empty()).map(|group| group.start()).next();
        begin.or(found.get(0).map(|all| all.start()))
    }
}
