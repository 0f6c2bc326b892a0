//! Patterns of JSON schemas, which are JavaScript's regular expressions, as those of the
//! compiler; and patterns that allow every text but some.

use serde_json::{json, Value};

/// Longer texts are not told apart, as each character nests one level deeper.
const MOST_CHARACTERS: usize = 100;
const MOST_TEXTS: usize = 200;

/// For the contents of JSON strings. Where a class allows all control characters, the compiler
/// takes it to allow quotes and backslashes, too; so one of them is left out.
pub fn in_strings(pattern: &str) -> String {
    translate(pattern, "^\\x00")
}

/// With the brackets and operators escaped that mean themselves inside of a class there, and
/// nested classes or set operations here.
pub fn translated(pattern: &str) -> String {
    translate(pattern, "^")
}

fn translate(pattern: &str, negation: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut in_class = false;
    let mut at_its_start = false;
    let mut previous = '\0';
    let mut characters = pattern.chars();
    while let Some(c) = characters.next() {
        if in_class && at_its_start && c == '^' && previous == '[' {
            out.push_str(negation);
            previous = c;
            continue;
        }
        let doubled = c == previous && matches!(c, '&' | '~' | '-');
        if in_class && (c == '[' || doubled || (c == ']' && at_its_start)) {
            out.push('\\');
        }
        let begins = !in_class && c == '[';
        in_class = begins || (in_class && (c != ']' || at_its_start));
        at_its_start = begins;
        out.push(c);
        previous = c;
        if c == '\\' {
            out.extend(characters.next());
            previous = '\0';
        }
    }
    out
}

/// What a pattern with lookaheads at its beginning says without them: itself, and further
/// schemas that must hold as well. None where there are others, or what a lookahead
/// forbids is more than a few words.
pub fn without_lookaheads(pattern: &str) -> Option<(String, Vec<Value>)> {
    let mut rest = pattern.strip_prefix('^')?;
    let mut more = Vec::new();
    while let Some(inside) = rest.strip_prefix("(?=").or_else(|| rest.strip_prefix("(?!")) {
        let end = end_of_group(inside)?;
        let (body, after) = (&inside[..end], &inside[end + 1..]);
        if body.contains("(?") {
            return None;
        }
        if rest.starts_with("(?=") {
            more.push(json!({ "pattern": format!("^(?:{body})") }));
        } else {
            more.push(json!({ "pattern": not_at_the_start(body)? }));
        }
        rest = after;
    }
    if more.is_empty() || has_alternatives(rest) {
        return None;
    }
    Some((format!("^{rest}"), more))
}

/// Calls `visit` for each character outside of classes with its place and whether it is
/// escaped, until that returns false.
fn outside_classes(text: &str, mut visit: impl FnMut(usize, char, bool) -> bool) {
    let (mut in_class, mut escaped) = (false, false);
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
            if !in_class && !visit(at, c, true) {
                return;
            }
            continue;
        }
        escaped = c == '\\';
        if in_class {
            in_class = c != ']';
        } else if c == '[' {
            in_class = true;
        } else if !escaped && !visit(at, c, false) {
            return;
        }
    }
}

/// Where the group ends that `text` is the inside of.
fn end_of_group(text: &str) -> Option<usize> {
    let (mut depth, mut end) = (1, None);
    outside_classes(text, |at, c, escaped| {
        match c {
            '(' if !escaped => depth += 1,
            ')' if !escaped => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            end = Some(at);
        }
        depth > 0
    });
    end
}

fn has_alternatives(text: &str) -> bool {
    let (mut depth, mut found) = (0, false);
    outside_classes(text, |_, c, escaped| {
        match c {
            '(' if !escaped => depth += 1,
            ')' if !escaped => depth -= 1,
            '|' if !escaped && depth == 0 => found = true,
            _ => {}
        }
        !found
    });
    found
}

/// For alternatives that are plain words: what begins with none of them, or, where each
/// ends with "$", what is none of them.
fn not_at_the_start(body: &str) -> Option<String> {
    let mut words = vec![String::new()];
    let mut whole = vec![false];
    let mut characters = body.chars();
    while let Some(c) = characters.next() {
        if *whole.last()? && c != '|' {
            return None;
        }
        match c {
            '|' => {
                words.push(String::new());
                whole.push(false);
            }
            '$' => *whole.last_mut()? = true,
            '\\' => words.last_mut()?.push(characters.next().filter(char::is_ascii_punctuation)?),
            '.' | '[' | ']' | '(' | ')' | '*' | '+' | '?' | '{' | '}' | '^' => return None,
            c => words.last_mut()?.push(c),
        }
    }
    let all_whole = whole.iter().all(|one| *one);
    if !all_whole && whole.contains(&true) {
        return None;
    }
    without(&words, !all_whole)
}

/// A pattern of all texts that are none of `words`.
pub fn none_of(words: &[String]) -> Option<String> {
    without(words, false)
}

fn without(words: &[String], or_begins_with: bool) -> Option<String> {
    if words.len() > MOST_TEXTS || words.iter().any(|w| w.chars().count() > MOST_CHARACTERS) {
        return None;
    }
    let words: Vec<Vec<char>> = words.iter().map(|word| word.chars().collect()).collect();
    let words: Vec<&[char]> = words.iter().map(Vec::as_slice).collect();
    let rest = rest_without(&words, or_begins_with)?;
    Some(format!("^(?:{rest})$"))
}

/// What may follow where exactly these ends of words may not. None where nothing may.
fn rest_without(ends: &[&[char]], or_begins_with: bool) -> Option<String> {
    let ended = ends.iter().any(|end| end.is_empty());
    if ended && or_begins_with {
        return None;
    }
    let mut firsts: Vec<char> = ends.iter().filter_map(|end| end.first().copied()).collect();
    firsts.sort_unstable();
    firsts.dedup();
    let spelled = |c: &char| format!("\\x{{{:x}}}", u32::from(*c));
    let mut options = Vec::new();
    if !ended {
        options.push(String::new());
    }
    if firsts.is_empty() {
        options.push("(?s:.)+".to_string());
    } else {
        let mut class: String = firsts.iter().map(spelled).collect();
        if firsts.contains(&'"') || firsts.contains(&'\\') {
            class.push_str("\\x00"); // as above
        }
        options.push(format!("[^{class}](?s:.)*"));
    }
    for first in &firsts {
        let next: Vec<&[char]> =
            ends.iter().filter(|end| end.first() == Some(first)).map(|end| &end[1..]).collect();
        if let Some(rest) = rest_without(&next, or_begins_with) {
            options.push(format!("{}(?:{rest})", spelled(first)));
        }
    }
    Some(options.join("|"))
}
