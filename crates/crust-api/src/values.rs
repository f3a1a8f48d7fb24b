//! Initial values: a radius for random ones, or a file with the values of some or all parameters.

use crate::program::{Bound, read_text};
use crate::terminal;
use crust_engine::{ParameterShape, UnconstrainError, Values};
use serde_json::{Map, Value};
use std::path::Path;

/// Where chains start.
pub struct Initial {
    /// Unconstrained numbers that are not random; empty if all are.
    pub given: Vec<Option<f64>>,
    /// Others are uniform between −radius and radius.
    pub radius: f64,
}

/// Stan's radius, also for parameters that a file leaves out.
const RADIUS: f64 = 2.0;

/// Reads what `--init` says.
pub fn read(text: &str, bound: &Bound, quiet: bool) -> Result<Initial, String> {
    if let Ok(radius) = text.parse::<f64>() {
        if !(radius.is_finite() && radius >= 0.0) {
            return Err(format!("--init {text}: the radius of initial values must be finite and not negative"));
        }
        return Ok(Initial { given: Vec::new(), radius });
    }
    let values = read_values("initial value", Path::new(text), &bound.model.parameter_shapes(), quiet)?;
    match bound.model.evaluator().unconstrain(&values) {
        Ok(given) => Ok(Initial { given, radius: RADIUS }),
        Err(UnconstrainError::Engine(error)) => Err(format!("the initial values in {text} cannot be used: {error}")),
        Err(error) => Err(format!("the initial values in {text} cannot be used: {error}")),
    }
}

/// Reads values of parameters from a JSON file; `what` says what for.
pub fn read_values(what: &str, file: &Path, shapes: &[ParameterShape], quiet: bool) -> Result<Values, String> {
    let json = read_text(&format!("{what}s"), file)?;
    let file = file.display().to_string();
    let values: Value = serde_json::from_str(&json).map_err(|e| format!("the {what}s in {file} are not JSON: {e}"))?;
    let Value::Object(values) = values else {
        return Err(format!("the {what}s in {file} must be a JSON object: {{\"name\": value, …}}"));
    };
    numbers(&values, shapes, (what, &file), quiet)
}

/// The values of parameters as flat lists. Other names are passed over: files of draws have all quantities in them.
fn numbers(
    given: &Map<String, Value>,
    shapes: &[ParameterShape],
    (what, file): (&str, &str),
    quiet: bool,
) -> Result<Values, String> {
    let mut values = Values::new();
    for shape in shapes {
        let Some(value) = given.get(&shape.name) else { continue };
        let mut flat = Vec::new();
        let sizes = shape.sizes.as_deref().unwrap_or_default();
        // A tuple is refused by the engine, with the reason.
        if shape.sizes.is_some() {
            flatten(value, sizes, &mut flat).map_err(|found| {
                let name = &shape.name;
                format!("the {what} of `{name}` in {file} must be {}, but {found}", expected(sizes))
            })?;
        }
        values.insert(shape.name.clone(), flat);
    }
    let unknown: Vec<&str> =
        given.keys().filter(|name| shapes.iter().all(|s| s.name != **name)).map(String::as_str).collect();
    if values.is_empty() && !shapes.is_empty() {
        let names: Vec<&str> = shapes.iter().map(|s| s.name.as_str()).collect();
        return Err(format!("{file} has no {what} for any of the parameters {}", names.join(", ")));
    }
    if !unknown.is_empty() && !quiet {
        terminal::complain(&format!("note: {file} has {}, which are no parameters", unknown.join(", ")));
    }
    Ok(values)
}

fn expected(sizes: &[usize]) -> String {
    match sizes {
        [] => "a number".to_owned(),
        [n] => format!("an array of {n} numbers"),
        sizes => {
            let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
            format!("nested arrays of {} numbers", sizes.join(" × "))
        }
    }
}

/// Appends the numbers of nested arrays, the last index fastest; or says what stands there instead.
fn flatten(value: &Value, sizes: &[usize], flat: &mut Vec<f64>) -> Result<(), String> {
    match (value, sizes) {
        (Value::Number(number), []) => {
            let number = number.as_f64().ok_or_else(|| format!("{number} is too large"))?;
            flat.push(number);
            Ok(())
        }
        (Value::Array(list), [n, rest @ ..]) if list.len() == *n => {
            list.iter().try_for_each(|element| flatten(element, rest, flat))
        }
        (Value::Array(list), [n, ..]) => Err(format!("there is an array of {} where {n} belong", list.len())),
        (Value::Array(_), []) => Err("there is an array where a number belongs".to_owned()),
        (other, _) => Err(format!("there is {other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nested_arrays_are_flattened_and_checked() {
        let flat = |value: Value, sizes: &[usize]| {
            let mut flat = Vec::new();
            flatten(&value, sizes, &mut flat).map(|()| flat)
        };
        assert_eq!(flat(json!([[1, 2.5, 3], [4, 5, 6]]), &[2, 3]), Ok(vec![1.0, 2.5, 3.0, 4.0, 5.0, 6.0]));
        assert_eq!(flat(json!(7), &[]), Ok(vec![7.0]));
        assert_eq!(flat(json!([]), &[0]), Ok(vec![]));
        assert!(flat(json!([1, 2]), &[3]).is_err_and(|e| e.contains("array of 2 where 3")));
        assert!(flat(json!([1, 2]), &[]).is_err());
        assert!(flat(json!("x"), &[]).is_err());
        assert!(flat(json!(1), &[1]).is_err());
    }
}
