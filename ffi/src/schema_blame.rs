//! Where in a schema the compiler's error comes from: it names no place, so parts are
//! compiled on their own until none of them fails in the same way.

use serde_json::Value;

use crate::schema::{escaped, ONE_SCHEMA, SCHEMA_LISTS, SCHEMA_MAPS};

/// Compilations that looking for the cause of an error may take.
const MAX_BLAME: usize = 400;

/// The path of the innermost schema that fails on its own in the same way.
pub fn blame(root: &Value, error: &str, compile: &dyn Fn(&Value) -> Option<String>) -> String {
    let mut path = String::from("#");
    let mut place = root.clone();
    let mut left = MAX_BLAME;
    'deeper: loop {
        for (name, part) in parts(&place) {
            if left == 0 {
                return path;
            }
            left -= 1;
            let alone = with_definitions(&part, root);
            if compile(&alone).is_some_and(|e| same(&e, error)) {
                path.push('/');
                path.push_str(&name);
                place = part;
                continue 'deeper;
            }
        }
        return path;
    }
}

fn same(one: &str, other: &str) -> bool {
    let line = |text: &str| text.lines().next().unwrap_or_default().to_string();
    line(one) == line(other)
}

fn parts(schema: &Value) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    let Some(object) = schema.as_object() else { return found };
    for (name, value) in object {
        match value {
            Value::Array(list) if SCHEMA_LISTS.contains(&name.as_str()) => {
                let each = list.iter().enumerate();
                found
                    .extend(each.map(|(i, part)| (format!("{}/{i}", escaped(name)), part.clone())));
            }
            Value::Object(map) if SCHEMA_MAPS.contains(&name.as_str()) => {
                let each = map.iter();
                found.extend(each.map(|(key, part)| {
                    (format!("{}/{}", escaped(name), escaped(key)), part.clone())
                }));
            }
            part if ONE_SCHEMA.contains(&name.as_str()) => {
                found.push((escaped(name), part.clone()))
            }
            _ => {}
        }
    }
    found
}

fn with_definitions(part: &Value, root: &Value) -> Value {
    let mut part = part.clone();
    if let Some(object) = part.as_object_mut() {
        for name in ["$schema", "$defs", "definitions"] {
            if let (Some(value), false) = (root.get(name), object.contains_key(name)) {
                object.insert(name.into(), value.clone());
            }
        }
    }
    part
}
