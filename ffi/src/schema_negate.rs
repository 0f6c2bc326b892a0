//! The opposite of a schema, where schemas can say it.

use serde_json::{json, Map, Value};

use crate::schema::percent_decoded;
use crate::schema_pattern;

/// References in references, and schemas in schemas.
const MAX_DEPTH: usize = 20;
/// More alternatives make no good grammar.
const MAX_ALTERNATIVES: usize = 60;

const TYPES: [&str; 6] = ["null", "boolean", "number", "string", "array", "object"];

/// Without influence on what a schema allows.
const ANNOTATIONS: [&str; 15] = [
    "$defs",
    "definitions",
    "$schema",
    "$comment",
    "$anchor",
    "title",
    "description",
    "default",
    "examples",
    "readOnly",
    "writeOnly",
    "deprecated",
    "contentMediaType",
    "contentEncoding",
    "contentSchema",
];

/// The schemas of which a value must satisfy one for it not to satisfy `schema`; none in the
/// list where every value satisfies it. None where that cannot be said.
pub fn negated(schema: &Value, root: &Value) -> Option<Vec<Value>> {
    let negator = Negator { root };
    let found = negator.schema(schema, MAX_DEPTH)?;
    (found.len() <= MAX_ALTERNATIVES).then_some(found)
}

/// One schema out of alternatives.
pub fn any_of(mut alternatives: Vec<Value>) -> Value {
    match alternatives.len() {
        0 => Value::Bool(false),
        1 => alternatives.remove(0),
        _ => json!({ "anyOf": alternatives }),
    }
}

struct Negator<'a> {
    root: &'a Value,
}

impl Negator<'_> {
    fn schema(&self, schema: &Value, depth: usize) -> Option<Vec<Value>> {
        let depth = depth.checked_sub(1)?;
        match schema {
            Value::Bool(true) => Some(Vec::new()),
            Value::Bool(false) => Some(vec![Value::Bool(true)]),
            Value::Object(object) => {
                let mut found = Vec::new();
                for (name, value) in object {
                    found.extend(self.keyword(name, value, depth)?);
                }
                Some(found)
            }
            _ => None,
        }
    }

    /// A schema is the conjunction of its keywords, so one of them must fail.
    fn keyword(&self, name: &str, value: &Value, depth: usize) -> Option<Vec<Value>> {
        match name {
            _ if ANNOTATIONS.contains(&name) => Some(Vec::new()),
            "type" => other_types(value),
            "const" => other_values(std::slice::from_ref(value)),
            "enum" => other_values(value.as_array()?),
            "required" => {
                let names = value.as_array()?.iter();
                names.map(|name| Some(without_key(name.as_str()?))).collect()
            }
            "properties" => self.properties(value.as_object()?, depth),
            "allOf" => {
                let each = value.as_array()?.iter().map(|part| self.schema(part, depth));
                Some(each.collect::<Option<Vec<_>>>()?.concat())
            }
            "anyOf" => {
                let each = value.as_array()?.iter().map(|part| self.schema(part, depth));
                let each: Vec<Value> =
                    each.map(|found| found.map(any_of)).collect::<Option<Vec<_>>>()?;
                Some(vec![json!({ "allOf": each })])
            }
            "$ref" => self.schema(self.target(value.as_str()?)?, depth),
            "additionalProperties" | "items" if value == &Value::Bool(true) => Some(Vec::new()),
            _ => bounds(name, value),
        }
    }

    fn properties(&self, properties: &Map<String, Value>, depth: usize) -> Option<Vec<Value>> {
        let mut found = Vec::new();
        for (name, schema) in properties {
            let opposite = self.schema(schema, depth)?;
            if !opposite.is_empty() {
                found.push(json!({
                    "type": "object", "properties": {name: any_of(opposite)}, "required": [name]
                }));
            }
        }
        Some(found)
    }

    fn target(&self, reference: &str) -> Option<&Value> {
        let pointer = reference.strip_prefix('#').filter(|p| p.starts_with('/'))?;
        self.root.pointer(&percent_decoded(pointer))
    }
}

fn without_key(name: &str) -> Value {
    json!({"type": "object", "properties": {name: false}})
}

fn other_types(value: &Value) -> Option<Vec<Value>> {
    let list = match value {
        Value::String(_) => std::slice::from_ref(value),
        Value::Array(list) => list.as_slice(),
        _ => return None,
    };
    let names: Vec<&str> = list.iter().map(Value::as_str).collect::<Option<_>>()?;
    if names.contains(&"integer") && !names.contains(&"number") {
        return None; // no schema says "a number with a fraction"
    }
    let others: Vec<&str> = TYPES.into_iter().filter(|name| !names.contains(name)).collect();
    Some(if others.is_empty() { Vec::new() } else { vec![json!({ "type": others })] })
}

/// All values but these, of which numbers, lists and objects cannot be left out.
fn other_values(values: &[Value]) -> Option<Vec<Value>> {
    let mut words = Vec::new();
    let mut booleans = vec![true, false];
    let mut types = vec!["number", "array", "object"];
    for value in values {
        match value {
            Value::String(word) => words.push(word.clone()),
            Value::Bool(known) => booleans.retain(|one| one != known),
            Value::Null => {}
            _ => return None,
        }
    }
    if !values.contains(&Value::Null) {
        types.push("null");
    }
    let mut found = vec![json!({ "type": types })];
    found.extend(booleans.iter().map(|one| json!({ "const": one })));
    found.push(match words.is_empty() {
        true => json!({"type": "string"}),
        false => json!({"type": "string", "pattern": schema_pattern::none_of(&words)?}),
    });
    Some(found)
}

fn bounds(name: &str, value: &Value) -> Option<Vec<Value>> {
    let (kind, opposite, step) = match name {
        "minLength" => ("string", "maxLength", -1),
        "maxLength" => ("string", "minLength", 1),
        "minItems" => ("array", "maxItems", -1),
        "maxItems" => ("array", "minItems", 1),
        "minimum" => ("number", "exclusiveMaximum", 0),
        "maximum" => ("number", "exclusiveMinimum", 0),
        "exclusiveMinimum" => ("number", "maximum", 0),
        "exclusiveMaximum" => ("number", "minimum", 0),
        _ => return None,
    };
    if step == 0 {
        return value.is_number().then(|| vec![json!({"type": kind, opposite: value})]);
    }
    let bound = i64::try_from(value.as_u64()?).ok()?.checked_add(step)?;
    Some(if bound < 0 { Vec::new() } else { vec![json!({"type": kind, opposite: bound})] })
}
