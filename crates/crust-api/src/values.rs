//! Values of parameters that the user gives, by name: initial values, and values that are not drawn.

use crate::error::{Error, ShapeError, ValuesError};
use crate::problem::Source;
use crate::session::{Message, Session};
use crust_engine::{Model, ParameterShape, Values};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Where chains are told to start.
#[derive(Clone, Debug)]
pub enum Init {
    /// Uniform between −radius and radius on the unconstrained scale.
    Radius(f64),
    /// A JSON object with values of parameters; others are random.
    Values(Source),
}

impl Default for Init {
    fn default() -> Self {
        Self::Radius(RADIUS)
    }
}

impl Init {
    /// As files of draws say it.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Radius(radius) => radius.to_string(),
            Self::Values(source) => source.name().to_owned(),
        }
    }
}

/// Where chains start.
pub(crate) struct Initial {
    /// Unconstrained numbers that are not random; empty if all are.
    pub given: Vec<Option<f64>>,
    /// Others are uniform between −radius and radius.
    pub radius: f64,
}

/// Stan's radius, also for parameters that a file leaves out.
const RADIUS: f64 = 2.0;

/// Reads what the user gave.
pub(crate) fn initial(init: &Init, model: &Arc<Model>, session: &Session<'_>) -> Result<Initial, Error> {
    let source = match init {
        Init::Radius(radius) if !(radius.is_finite() && *radius >= 0.0) => {
            return Err(Error::option("init", radius, "the radius of initial values must be finite and not negative"));
        }
        Init::Radius(radius) => return Ok(Initial { given: Vec::new(), radius: *radius }),
        Init::Values(source) => source,
    };
    let json = source.read("read the initial values")?;
    let values = read_values("initial value", source.name(), &json, &model.parameter_shapes(), session)?;
    match model.evaluator().unconstrain(&values) {
        Ok(given) => Ok(Initial { given, radius: RADIUS }),
        Err(error) => Err(ValuesError::Unusable { file: source.name().to_owned(), error }.into()),
    }
}

/// Reads values of parameters from JSON; `what` says what for.
pub(crate) fn read_values(
    what: &'static str,
    file: &str,
    json: &str,
    shapes: &[ParameterShape],
    session: &Session<'_>,
) -> Result<Values, ValuesError> {
    let values: Value =
        serde_json::from_str(json).map_err(|error| ValuesError::NotJson { what, file: file.to_owned(), error })?;
    let Value::Object(values) = values else { return Err(ValuesError::NoObject { what, file: file.to_owned() }) };
    numbers(&values, shapes, (what, file), session)
}

/// The values of parameters as flat lists. Other names are passed over: files of draws have all quantities in them.
fn numbers(
    given: &Map<String, Value>,
    shapes: &[ParameterShape],
    (what, file): (&'static str, &str),
    session: &Session<'_>,
) -> Result<Values, ValuesError> {
    let mut values = Values::new();
    for shape in shapes {
        let Some(value) = given.get(&shape.name) else { continue };
        let mut flat = Vec::new();
        let sizes = shape.sizes.as_deref().unwrap_or_default();
        // A tuple is refused by the engine, with the reason.
        if shape.sizes.is_some() {
            flatten(value, sizes, &mut flat).map_err(|found| {
                let (name, file) = (shape.name.clone(), file.to_owned());
                ValuesError::Shape { what, name, file, expected: expected(sizes), found }
            })?;
        }
        values.insert(shape.name.clone(), flat);
    }
    let unknown: Vec<&str> =
        given.keys().filter(|name| shapes.iter().all(|s| s.name != **name)).map(String::as_str).collect();
    if values.is_empty() && !shapes.is_empty() {
        let parameters = shapes.iter().map(|s| s.name.clone()).collect();
        return Err(ValuesError::NoneGiven { what, file: file.to_owned(), parameters });
    }
    if !unknown.is_empty() {
        session.message(Message::Note(&format!("{file} has {}, which are no parameters", unknown.join(", "))));
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
fn flatten(value: &Value, sizes: &[usize], flat: &mut Vec<f64>) -> Result<(), ShapeError> {
    match (value, sizes) {
        (Value::Number(number), []) => {
            let number = number.as_f64().ok_or_else(|| ShapeError::TooLarge(number.to_string()))?;
            flat.push(number);
            Ok(())
        }
        (Value::Array(list), [n, rest @ ..]) if list.len() == *n => {
            list.iter().try_for_each(|element| flatten(element, rest, flat))
        }
        (Value::Array(list), [n, ..]) => Err(ShapeError::Length { found: list.len(), wanted: *n }),
        (Value::Array(_), []) => Err(ShapeError::NoNumber),
        (other, _) => Err(ShapeError::Other(other.to_string())),
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
        assert!(flat(json!([1, 2]), &[3]).is_err_and(|e| e.to_string().contains("array of 2 where 3")));
        assert!(flat(json!([1, 2]), &[]).is_err());
        assert!(flat(json!("x"), &[]).is_err());
        assert!(flat(json!(1), &[1]).is_err());
    }
}
