//! Python's json.dumps over template values.

use minijinja::value::ValueKind;
use minijinja::{Error, ErrorKind, State, Value};

/// Deeper values are refused; json.dumps would hit Python's recursion limit.
const MAX_DEPTH: usize = 200;

/// The arguments of json.dumps that Hugging Face's `tojson` accepts.
pub struct Style {
    pub ensure_ascii: bool,
    pub indent: Option<String>,
    pub item_separator: String,
    pub key_separator: String,
    pub sort_keys: bool,
}

/// Serializes `value`; fuel is charged for what is written.
pub fn dumps(state: &State, value: &Value, style: &Style) -> Result<String, Error> {
    let mut writer = Writer { state, style, out: String::new(), charged: 0 };
    writer.value(value, 0)?;
    Ok(writer.out)
}

struct Writer<'a, 'e> {
    state: &'a State<'e, 'e>,
    style: &'a Style,
    out: String,
    charged: usize,
}

impl Writer<'_, '_> {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        if depth > MAX_DEPTH {
            return Err(refuse(format!("tojson: values nest deeper than {MAX_DEPTH}")));
        }
        self.charge()?;
        match value.kind() {
            ValueKind::None => self.out.push_str("null"),
            ValueKind::Bool => self.out.push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::Number => self.number(value)?,
            ValueKind::String => self.string(value.as_str().unwrap_or_default()),
            ValueKind::Map => self.map(value, depth)?,
            ValueKind::Seq | ValueKind::Iterable => self.list(value, depth)?,
            kind => return Err(refuse(format!("tojson: {kind} is not JSON serializable"))),
        }
        Ok(())
    }

    fn list(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        self.out.push('[');
        let mut empty = true;
        for item in value.try_iter()?.checked() {
            self.begin_item(empty, depth)?;
            empty = false;
            self.value(&item?, depth + 1)?;
        }
        self.end(']', empty, depth)
    }

    fn map(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        let mut keys = Vec::new();
        for key in value.try_iter()?.checked() {
            keys.push(key?);
        }
        if self.style.sort_keys {
            keys.sort();
        }
        self.out.push('{');
        for (index, key) in keys.iter().enumerate() {
            self.begin_item(index == 0, depth)?;
            self.key(key)?;
            self.out.push_str(&self.style.key_separator);
            self.value(&value.get_item(key)?, depth + 1)?;
        }
        self.end('}', keys.is_empty(), depth)
    }

    fn key(&mut self, key: &Value) -> Result<(), Error> {
        match key.kind() {
            ValueKind::String => self.string(key.as_str().unwrap_or_default()),
            ValueKind::None | ValueKind::Bool | ValueKind::Number => {
                self.out.push('"');
                self.value(key, 0)?;
                self.out.push('"');
            }
            kind => return Err(refuse(format!("tojson: a key may not be {kind}"))),
        }
        Ok(())
    }

    fn number(&mut self, value: &Value) -> Result<(), Error> {
        if value.is_integer() {
            self.out.push_str(&value.to_string());
        } else {
            self.out.push_str(&float_repr(f64::try_from(value.clone())?));
        }
        Ok(())
    }

    fn begin_item(&mut self, first: bool, depth: usize) -> Result<(), Error> {
        if !first {
            self.out.push_str(&self.style.item_separator);
        }
        self.line(depth + 1)
    }

    fn end(&mut self, bracket: char, empty: bool, depth: usize) -> Result<(), Error> {
        if !empty {
            self.line(depth)?;
        }
        self.out.push(bracket);
        Ok(())
    }

    fn line(&mut self, depth: usize) -> Result<(), Error> {
        if let Some(indent) = &self.style.indent {
            self.out.push('\n');
            for _ in 0..depth {
                self.out.push_str(indent);
                self.charge()?;
            }
        }
        Ok(())
    }

    fn string(&mut self, text: &str) {
        self.out.push('"');
        for character in text.chars() {
            match character {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                '\u{8}' => self.out.push_str("\\b"),
                '\u{c}' => self.out.push_str("\\f"),
                '\0'..='\u{1f}' => self.unicode_escape(character),
                // The caller's markers must stay findable, so they stay as they are.
                '\u{fdd0}'..='\u{fdef}' => self.out.push(character),
                '\u{7f}'.. if self.style.ensure_ascii => self.unicode_escape(character),
                _ => self.out.push(character),
            }
        }
        self.out.push('"');
    }

    fn unicode_escape(&mut self, character: char) {
        for unit in character.encode_utf16(&mut [0; 2]) {
            self.out.push_str(&format!("\\u{unit:04x}"));
        }
    }

    /// Pays for what was written since the last call, at the rate the engine
    /// charges for its own serialization: a quarter of a fuel per byte.
    fn charge(&mut self) -> Result<(), Error> {
        let bytes = self.out.len() - self.charged;
        self.charged = self.out.len();
        self.state.consume_fuel(bytes as u64 / 4 + 1)
    }
}

fn refuse(message: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}

/// Python's repr of a float: shortest digits, exponents outside 1e-4 .. 1e16.
fn float_repr(value: f64) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.into();
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        return format!("{value:?}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}
