//! What Hugging Face adds to Jinja, and Python behaviour that minijinja's own
//! compatibility layer does not cover.

use std::cell::Cell;

use minijinja::value::{from_args, Kwargs, Tuple, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State, Value};
use minijinja_contrib::pycompat;

use crate::clock;
use crate::json::{dumps, Style};

thread_local! {
    /// What the caller set for the render that is running on this thread.
    static CALL: Cell<Call> = const { Cell::new(Call { local_seconds: 0, marker: None }) };
}

#[derive(Clone, Copy)]
pub struct Call {
    pub local_seconds: i64,
    pub marker: Option<char>,
}

/// Makes `call` what strftime_now and replace see on this thread.
pub fn begin(call: Call) {
    CALL.set(call);
}

/// The source of an error that raise_exception made.
#[derive(Debug)]
pub struct Raised;

impl std::fmt::Display for Raised {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("raised by the template")
    }
}

impl std::error::Error for Raised {}

pub fn install(env: &mut Environment) {
    env.set_unknown_method_callback(method);
    env.add_function("raise_exception", |message: &Value| -> Result<Value, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, message.to_string()).with_source(Raised))
    });
    env.add_function("strftime_now", |format: &str| {
        clock::strftime(CALL.get().local_seconds, format)
    });
    env.add_filter("tojson", tojson);
    env.add_filter("trim", |value: &Value, chars: Option<&str>| {
        trim(&value.to_string(), chars, true, true).to_string()
    });
    env.add_filter("replace", |state: &mut State, value: &Value, args: &[Value]| {
        replace(state, &value.to_string(), args)
    });
    env.add_test("iterable", |value: &Value| !value.is_none() && value.try_iter().is_ok());
    // Python asks for a length and an index operator, which strings and dicts have.
    env.add_test("sequence", |value: &Value| {
        use ValueKind::{Map, Seq, String, Undefined};
        matches!(value.kind(), Seq | Map | String | Undefined)
    });
}

fn tojson(
    state: &mut State,
    value: &Value,
    ensure_ascii: Option<&Value>,
    indent: Option<&Value>,
    kwargs: Kwargs,
) -> Result<Value, Error> {
    let named = |name| kwargs.get::<Option<Value>>(name);
    let flag = |value: Option<Value>| value.is_some_and(|value| value.is_true());
    let indent = named("indent")?.or(indent.cloned()).filter(|indent| !indent.is_none());
    let separators = named("separators")?.filter(|separators| !separators.is_none());
    let (item, key) = match separators {
        Some(pair) => (text_item(&pair, 0)?, text_item(&pair, 1)?),
        None => (if indent.is_some() { "," } else { ", " }.to_string(), ": ".to_string()),
    };
    let style = Style {
        ensure_ascii: flag(named("ensure_ascii")?.or(ensure_ascii.cloned())),
        indent: indent.map(|indent| indent_text(state, &indent)).transpose()?,
        item_separator: item,
        key_separator: key,
        sort_keys: flag(named("sort_keys")?),
    };
    kwargs.assert_all_used()?;
    dumps(state, value, &style).map(Value::from)
}

fn text_item(pair: &Value, index: usize) -> Result<String, Error> {
    let item = pair.get_item_by_index(index)?;
    item.as_str().map(str::to_string).ok_or_else(|| {
        Error::new(ErrorKind::InvalidOperation, "tojson: separators must be two strings")
    })
}

fn indent_text(state: &State, indent: &Value) -> Result<String, Error> {
    if let Some(text) = indent.as_str() {
        return Ok(text.to_string());
    }
    let width = i64::try_from(indent.clone())?.max(0) as usize;
    state.consume_fuel(width as u64 / 64)?;
    Ok(" ".repeat(width))
}

/// Python's str methods first where minijinja's differ or are missing.
fn method(state: &mut State, value: &Value, name: &str, args: &[Value]) -> Result<Value, Error> {
    let Some(text) = value.as_str() else {
        return pycompat::unknown_method_callback(state, value, name, args);
    };
    match name {
        "strip" | "lstrip" | "rstrip" => {
            let (chars,): (Option<&str>,) = from_args(args)?;
            Ok(Value::from(trim(text, chars, name != "rstrip", name != "lstrip")))
        }
        "replace" => replace(state, text, args).map(Value::from),
        "format" => {
            check_widths(text)?;
            pycompat::unknown_method_callback(state, value, name, args)
        }
        "rsplit" => rsplit(text, args),
        "partition" | "rpartition" => partition(text, args, name == "rpartition"),
        "removeprefix" | "removesuffix" => {
            let (affix,): (&str,) = from_args(args)?;
            let rest = match name {
                "removeprefix" => text.strip_prefix(affix),
                _ => text.strip_suffix(affix),
            };
            Ok(Value::from(rest.unwrap_or(text)))
        }
        _ => pycompat::unknown_method_callback(state, value, name, args),
    }
}

/// '{:>1000000000}' would be padded before the engine can charge for it.
fn check_widths(format: &str) -> Result<(), Error> {
    let field = |part: &str| part.split('}').next().map_or(0, longest_number);
    if format.split('{').skip(1).map(field).max() > Some(4) {
        let message = "format: a width of more than four digits";
        return Err(Error::new(ErrorKind::InvalidOperation, message));
    }
    Ok(())
}

fn longest_number(text: &str) -> usize {
    text.split(|c: char| !c.is_ascii_digit()).map(str::len).max().unwrap_or(0)
}

fn is_python_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

fn trim<'a>(text: &'a str, chars: Option<&str>, left: bool, right: bool) -> &'a str {
    let drop = |c: char| chars.map_or_else(|| is_python_space(c), |chars| chars.contains(c));
    let text = if left { text.trim_start_matches(drop) } else { text };
    if right {
        text.trim_end_matches(drop)
    } else {
        text
    }
}

/// str.replace, except that deleting what stands between two texts leaves the
/// marker there: otherwise "<|im_XXend|>" without its "XX" would be one word.
fn replace(state: &State, text: &str, args: &[Value]) -> Result<String, Error> {
    let (old, new, count): (&Value, &Value, Option<i64>) = from_args(args)?;
    let (old, new) = (old.to_string(), new.to_string());
    let limit = usize::try_from(count.unwrap_or(-1)).unwrap_or(usize::MAX);
    let marker = CALL.get().marker.map(String::from).filter(|_| new.is_empty());
    let mut out = String::new();
    let mut rest = 0;
    for (at, found) in text.match_indices(old.as_str()).take(limit) {
        out.push_str(&text[rest..at]);
        rest = at + found.len();
        // Nothing but space on one side means that nothing is joined, and a
        // marker would be in the way of a later trim.
        let joins = !out.trim().is_empty() && !text[rest..].trim().is_empty();
        out.push_str(marker.as_deref().filter(|_| joins).unwrap_or(&new));
        state.consume_fuel(1 + new.len() as u64 / 64)?;
    }
    out.push_str(&text[rest..]);
    Ok(out)
}

fn rsplit(text: &str, args: &[Value]) -> Result<Value, Error> {
    let (separator, limit): (Option<&str>, Option<i64>) = from_args(args)?;
    let limit = usize::try_from(limit.unwrap_or(-1)).map_or(usize::MAX, |n| n.saturating_add(1));
    let mut parts: Vec<&str> = match separator {
        Some("") => return Err(Error::new(ErrorKind::InvalidOperation, "empty separator")),
        Some(separator) => text.rsplitn(limit, separator).collect(),
        None => rsplit_spaces(text, limit),
    };
    parts.reverse();
    Ok(parts.into_iter().map(Value::from).collect())
}

fn rsplit_spaces(text: &str, limit: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text.trim_end_matches(is_python_space);
    while !rest.is_empty() {
        let Some(at) = rest.rfind(is_python_space).filter(|_| parts.len() + 1 < limit) else {
            parts.push(rest);
            break;
        };
        let start = at + rest[at..].chars().next().map_or(1, char::len_utf8);
        parts.push(&rest[start..]);
        rest = rest[..at].trim_end_matches(is_python_space);
    }
    parts
}

fn partition(text: &str, args: &[Value], from_right: bool) -> Result<Value, Error> {
    let (separator,): (&str,) = from_args(args)?;
    let found = if from_right { text.rsplit_once(separator) } else { text.split_once(separator) };
    let parts = match found {
        Some((before, after)) => [before, separator, after],
        None if from_right => ["", "", text],
        None => [text, "", ""],
    };
    Ok(Value::from(Tuple::from(parts.map(Value::from))))
}
