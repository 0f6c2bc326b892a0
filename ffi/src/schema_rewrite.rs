//! Keywords that the compiler does not know, said by those that it knows. What a rewriting
//! yields allows exactly what the keywords allow.

use serde_json::{json, Map, Value};

use crate::schema_negate::{any_of, negated};
use crate::schema_pattern;

/// Lists without repetition are written out, 65 of them for four values.
const MOST_UNIQUE: usize = 4;
/// Alternatives of a oneOf that are compared with each other.
const MOST_EXCLUSIVE: usize = 12;

/// Keywords that `composed` takes away, or fails for.
pub const COMPOSED: [&str; 7] =
    ["not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies"];

/// Keywords that say nothing as they stand, or the same as others.
pub fn simplify(object: &mut Map<String, Value>) {
    if object.get("uniqueItems") == Some(&Value::Bool(false)) {
        object.shift_remove("uniqueItems");
    }
    for name in ["unevaluatedItems", "unevaluatedProperties"] {
        if object.get(name) == Some(&Value::Bool(true)) {
            object.shift_remove(name);
        }
    }
    if !object.contains_key("then") && !object.contains_key("else") {
        object.shift_remove("if");
    }
    if !object.contains_key("if") {
        object.shift_remove("then");
        object.shift_remove("else");
    }
    let composed = ["$ref", "allOf", "anyOf", "oneOf", "if"];
    let alone = composed.iter().all(|name| !object.contains_key(*name));
    if alone && !object.contains_key("additionalProperties") {
        if let Some(rest) = object.shift_remove("unevaluatedProperties") {
            object.insert("additionalProperties".into(), rest);
        }
    }
    names_as_patterns(object);
    translate_patterns(object);
}

/// {"propertyNames": {"pattern": P}} of a plain dictionary.
fn names_as_patterns(object: &mut Map<String, Value>) {
    let plain = !object.contains_key("properties") && !object.contains_key("patternProperties");
    let Some(names) = object.get("propertyNames").and_then(Value::as_object) else { return };
    let pattern = names.get("pattern").and_then(Value::as_str).map(String::from);
    let only = names.keys().all(|name| name == "pattern" || name == "type");
    if let (true, true, Some(pattern)) = (plain, only, pattern) {
        object.shift_remove("propertyNames");
        let values = object.shift_remove("additionalProperties").unwrap_or(Value::Bool(true));
        object.insert("patternProperties".into(), json!({pattern: values}));
        object.insert("additionalProperties".into(), Value::Bool(false));
    }
}

fn translate_patterns(object: &mut Map<String, Value>) {
    if let Some(map) = object.get_mut("patternProperties").and_then(Value::as_object_mut) {
        let parts = std::mem::take(map);
        map.extend(parts.into_iter().map(|(key, part)| (schema_pattern::in_strings(&key), part)));
    }
    let Some(pattern) = object.get("pattern").and_then(Value::as_str) else { return };
    let mut pattern = schema_pattern::in_strings(pattern);
    if let Some((rest, more)) = schema_pattern::without_lookaheads(&pattern) {
        pattern = rest;
        also(object, more);
    }
    object.insert("pattern".into(), Value::String(pattern));
}

/// Has these schemas hold as well. At the end: the order of keys is that of their first mention.
fn also(object: &mut Map<String, Value>, more: Vec<Value>) {
    let mut list = match object.shift_remove("allOf") {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    };
    list.extend(more);
    object.insert("allOf".into(), Value::Array(list));
}

/// Rewrites a schema whose parts are rewritten already; `root` is what references refer to.
/// The error is the keyword that no rewriting is known for.
pub fn composed(object: &mut Map<String, Value>, root: &Value) -> Result<(), &'static str> {
    let mut more = Vec::new();
    if let Some(part) = object.shift_remove("not") {
        more.push(any_of(negated(&part, root).ok_or("not")?));
    }
    if let Some(condition) = object.shift_remove("if") {
        let opposite = negated(&condition, root).ok_or("if")?;
        let mut branch = |name: &str| object.shift_remove(name).unwrap_or(Value::Bool(true));
        let (then, other) = (branch("then"), branch("else"));
        more.push(json!({"anyOf": [
            {"allOf": [condition, then]}, {"allOf": [any_of(opposite), other]}]}));
    }
    for keyword in ["dependentRequired", "dependentSchemas", "dependencies"] {
        let Some(Value::Object(map)) = object.shift_remove(keyword) else { continue };
        for (name, needs) in map {
            let needs = if needs.is_array() { json!({ "required": needs }) } else { needs };
            more.push(json!({"anyOf": [
                {"properties": {&name: false}},
                {"allOf": [{"type": "object", "required": [name]}, needs]},
                {"type": ["null", "boolean", "number", "string", "array"]}]}));
        }
    }
    if !more.is_empty() {
        also(object, more);
    }
    unique_items(object);
    match object.contains_key("uniqueItems") {
        true => Err("uniqueItems"),
        false => Ok(()),
    }
}

/// Lists of at most one item, and of few known values.
fn unique_items(object: &mut Map<String, Value>) {
    if object.get("uniqueItems") != Some(&Value::Bool(true)) {
        return;
    }
    if object.get("maxItems").and_then(Value::as_u64).is_some_and(|most| most <= 1) {
        object.shift_remove("uniqueItems");
        return;
    }
    let items = object.get("items").and_then(Value::as_object);
    let values = items.and_then(|items| items.get("enum")).and_then(Value::as_array);
    let Some(values) = values.filter(|values| values.len() <= MOST_UNIQUE).cloned() else { return };
    let mut lists = Vec::new();
    arrange(&values, &mut Vec::new(), &mut lists);
    let lists = lists.into_iter().map(|list| {
        let each: Vec<Value> = list.iter().map(|value| json!({ "const": value })).collect();
        json!({"prefixItems": each, "items": false, "minItems": list.len()})
    });
    let lists: Vec<Value> = lists.collect();
    object.shift_remove("uniqueItems");
    also(object, vec![json!({ "anyOf": lists })]);
}

/// All lists of the values without repetition.
fn arrange(values: &[Value], begun: &mut Vec<Value>, lists: &mut Vec<Vec<Value>>) {
    lists.push(begun.clone());
    for value in values {
        if !begun.contains(value) {
            begun.push(value.clone());
            arrange(values, begun, lists);
            begun.pop();
        }
    }
}

/// Has the alternatives of a oneOf exclude each other in so many words, where that can be
/// said of all of them: the compiler then sees that they do.
pub fn exclusive(object: &mut Map<String, Value>, root: &Value) {
    let Some(parts) = object.get("oneOf").and_then(Value::as_array) else { return };
    if parts.len() > MOST_EXCLUSIVE {
        return;
    }
    let opposites: Option<Vec<Value>> =
        parts.iter().map(|part| negated(part, root).map(any_of)).collect();
    let Some(opposites) = opposites else { return };
    let narrowed = parts.iter().enumerate().map(|(index, part)| {
        let others = opposites.iter().enumerate().filter(|(other, _)| *other != index);
        let mut all = vec![part.clone()];
        all.extend(others.map(|(_, opposite)| opposite.clone()));
        json!({ "allOf": all })
    });
    let narrowed: Vec<Value> = narrowed.collect();
    object.insert("oneOf".into(), Value::Array(narrowed));
}
