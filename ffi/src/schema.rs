//! JSON schemas before they are compiled: what would be ignored in silence is refused
//! with its path, what has no effect is taken out, what the compiler cannot see through
//! is rewritten.

use serde_json::{json, Map, Value};

use crate::schema_rewrite;

/// Deeper schemas are refused.
const MAX_DEPTH: usize = 100;

/// Keywords that assert something which cannot be enforced while a text is written.
const UNSUPPORTED: [&str; 11] = [
    "propertyNames",
    "contains",
    "unevaluatedItems",
    "unevaluatedProperties",
    "$dynamicRef",
    "$recursiveRef",
    "extends",
    "disallow",
    "divisibleBy",
    "requires",
    "x-guidance",
];

/// Without effect: annotations, and parts of keywords that are not there.
const WITHOUT_EFFECT: [&str; 7] = [
    "deprecated",
    "$vocabulary",
    "$dynamicAnchor",
    "$recursiveAnchor",
    "contentSchema",
    "minContains",
    "maxContains",
];

const UNDERSTOOD: [&str; 43] = [
    "anyOf",
    "oneOf",
    "allOf",
    "$ref",
    "const",
    "enum",
    "type",
    "items",
    "additionalItems",
    "prefixItems",
    "minItems",
    "maxItems",
    "uniqueItems",
    "properties",
    "additionalProperties",
    "patternProperties",
    "required",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "$anchor",
    "$defs",
    "definitions",
    "$schema",
    "$id",
    "id",
    "$comment",
    "title",
    "description",
    "default",
    "readOnly",
    "writeOnly",
    "examples",
    "contentMediaType",
    "contentEncoding",
];

const ENFORCED_FORMATS: [&str; 10] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid", "uri"];

/// Of the specification, but not enforced. Others are private words without a meaning.
const OTHER_FORMATS: [&str; 9] = [
    "idn-email",
    "idn-hostname",
    "iri",
    "iri-reference",
    "json-pointer",
    "regex",
    "relative-json-pointer",
    "uri-reference",
    "uri-template",
];

/// How keywords hold further schemas.
pub const ONE_SCHEMA: [&str; 7] =
    ["items", "additionalItems", "additionalProperties", "not", "if", "then", "else"];
pub const SCHEMA_LISTS: [&str; 5] = ["anyOf", "oneOf", "allOf", "prefixItems", "items"];
pub const SCHEMA_MAPS: [&str; 6] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];

/// Spaces as models were trained to write them, and nothing else between values: so
/// that most of what is no value is forced, and no answer ends in endless spaces.
pub fn with_options(schema: &Value) -> Value {
    let mut schema = match schema {
        Value::Bool(true) => json!({}),
        Value::Bool(false) => json!({"anyOf": []}),
        other => other.clone(),
    };
    if let Some(object) = schema.as_object_mut() {
        object.insert(
            "x-guidance".into(),
            json!({
                "item_separator": ", ",
                "key_separator": ": ",
                "whitespace_flexible": false,
                "json_allow_general_unicode_escapes": true,
            }),
        );
    }
    schema
}

/// Checks and rewrites; the error names the path. `exclusive` has the alternatives of each
/// oneOf exclude each other by more than they say, which makes grammars larger.
pub fn prepare(
    schema: &mut Value,
    exclusive: bool,
    warnings: &mut Vec<String>,
) -> Result<(), String> {
    let root = schema.clone();
    Preparer { root: &root, exclusive, warnings }.schema(schema, "#", 0)
}

struct Preparer<'a> {
    root: &'a Value,
    exclusive: bool,
    warnings: &'a mut Vec<String>,
}

impl Preparer<'_> {
    fn schema(&mut self, schema: &mut Value, path: &str, depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("{path}: nested deeper than {MAX_DEPTH}"));
        }
        let object = match schema {
            Value::Bool(_) => return Ok(()),
            Value::Object(object) => object,
            other => {
                return Err(format!("{path}: expected a schema, got {}", kind_of(other)));
            }
        };
        schema_rewrite::simplify(object);
        self.keywords(object, path)?;
        self.open_references(object);
        for (name, value) in object.iter_mut() {
            let path = format!("{path}/{}", escaped(name));
            match value {
                Value::Array(list) if SCHEMA_LISTS.contains(&name.as_str()) => {
                    for (index, part) in list.iter_mut().enumerate() {
                        self.schema(part, &format!("{path}/{index}"), depth + 1)?;
                    }
                }
                Value::Object(map) if SCHEMA_MAPS.contains(&name.as_str()) => {
                    let names = name == "dependencies";
                    for (key, part) in map.iter_mut().filter(|(_, p)| !(names && p.is_array())) {
                        self.schema(part, &format!("{path}/{}", escaped(key)), depth + 1)?;
                    }
                }
                part if ONE_SCHEMA.contains(&name.as_str()) => {
                    self.schema(part, &path, depth + 1)?;
                }
                _ => {}
            }
        }
        if self.exclusive {
            schema_rewrite::exclusive(object, self.root);
        }
        schema_rewrite::composed(object, self.root)
            .map_err(|name| format!("{path}/{name}: not supported"))
    }

    fn keywords(&mut self, object: &mut Map<String, Value>, path: &str) -> Result<(), String> {
        for name in UNSUPPORTED {
            if object.contains_key(name) {
                return Err(format!("{path}/{}: not supported", escaped(name)));
            }
        }
        object.retain(|name, _| !WITHOUT_EFFECT.contains(&name.as_str()));
        for (name, value) in object.iter() {
            let name = name.as_str();
            if !UNDERSTOOD.contains(&name) && !schema_rewrite::COMPOSED.contains(&name) {
                self.warnings.push(format!("{path}/{}: has no effect", escaped(name)));
            }
            check_shape(name, value).map_err(|why| format!("{path}/{}: {why}", escaped(name)))?;
        }
        self.format(object, path)?;
        match object.get("$ref").and_then(Value::as_str) {
            Some(reference) if self.is_missing(reference) => {
                Err(format!("{path}/$ref: \"{reference}\" is not there"))
            }
            _ => Ok(()),
        }
    }

    fn format(&mut self, object: &mut Map<String, Value>, path: &str) -> Result<(), String> {
        let Some(format) = object.get("format").and_then(Value::as_str) else { return Ok(()) };
        if ENFORCED_FORMATS.contains(&format) {
            return Ok(());
        }
        if OTHER_FORMATS.contains(&format) {
            let known = ENFORCED_FORMATS.join(", ");
            return Err(format!(
                "{path}/format: \"{format}\" is not supported, allowed is {known}"
            ));
        }
        self.warnings.push(format!("{path}/format: \"{format}\" has no effect"));
        object.shift_remove("format");
        Ok(())
    }

    /// Of references into this very document; others are the compiler's to find.
    fn is_missing(&self, reference: &str) -> bool {
        let has_id = self.root.get("$id").is_some() || self.root.get("id").is_some();
        let Some(pointer) = reference.strip_prefix('#') else { return false };
        !has_id
            && (pointer.is_empty() || pointer.starts_with('/'))
            && self.target(pointer).is_none()
    }

    fn target(&self, pointer: &str) -> Option<&Value> {
        self.root.pointer(&percent_decoded(pointer))
    }

    /// Exclusive alternatives are compared as they stand, so that references in
    /// them are replaced by what they refer to, once.
    fn open_references(&self, object: &mut Map<String, Value>) {
        let Some(Value::Array(list)) = object.get_mut("oneOf") else { return };
        for part in list {
            let Some(alone) = part.as_object().filter(|o| o.len() == 1) else { continue };
            let Some(reference) = alone.get("$ref").and_then(Value::as_str) else { continue };
            let Some(pointer) = reference.strip_prefix("#/") else { continue };
            let target = self.target(&format!("/{pointer}"));
            if let Some(target) = target.filter(|t| t.is_object() && t.get("$id").is_none()) {
                *part = target.clone();
            }
        }
    }
}

/// What would be misread: numbers that are not exact as floating-point ones, and wrong types.
fn check_shape(name: &str, value: &Value) -> Result<(), String> {
    match name {
        "const" => check_exact(value),
        "enum" => match value {
            Value::Array(list) => list.iter().try_for_each(check_exact),
            _ => Err("expected an array".into()),
        },
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            check_exact(value)
        }
        "$ref" | "pattern" | "format" if !value.is_string() => {
            Err(format!("expected a string, got {}", kind_of(value)))
        }
        "dependentRequired" => match value.as_object() {
            Some(map) => map.values().try_for_each(|names| check_shape("required", names)),
            None => Err(format!("expected an object, got {}", kind_of(value))),
        },
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
        | "dependencies"
            if !value.is_object() =>
        {
            Err(format!("expected an object, got {}", kind_of(value)))
        }
        "uniqueItems" if !value.is_boolean() => {
            Err(format!("expected a boolean, got {}", kind_of(value)))
        }
        "required" if !value.as_array().is_some_and(|l| l.iter().all(Value::is_string)) => {
            Err("expected an array of strings".into())
        }
        "anyOf" | "oneOf" | "allOf" | "prefixItems" if !value.is_array() => {
            Err(format!("expected an array, got {}", kind_of(value)))
        }
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            match value.as_u64() {
                Some(number) if number <= u64::from(u32::MAX / 2) => Ok(()),
                _ => {
                    Err(format!("expected a whole number from 0 to {}, got {value}", u32::MAX / 2))
                }
            }
        }
        _ => Ok(()),
    }
}

fn check_exact(value: &Value) -> Result<(), String> {
    const MOST: u64 = 1 << 53;
    match value {
        Value::Number(number) => {
            let size = number.as_i64().map(i64::unsigned_abs).or(number.as_u64());
            match size {
                Some(size) if size > MOST => Err(format!("{number} is beyond 2^53")),
                _ => Ok(()),
            }
        }
        Value::Array(list) => list.iter().try_for_each(check_exact),
        Value::Object(map) => map.values().try_for_each(check_exact),
        _ => Ok(()),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// As in a JSON pointer.
pub fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

pub fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = bytes.get(at + 1..at + 3).and_then(|hex| std::str::from_utf8(hex).ok());
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if bytes[at] == b'%' => {
                out.push(byte);
                at += 3;
            }
            _ => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
