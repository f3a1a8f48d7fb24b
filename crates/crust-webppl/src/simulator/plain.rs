//! Values that can leave their thread, and be written to a file.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::coerce;
use crate::distributions::Dist;
use crate::tensor::Tensor;
use crate::value::{Text, Value};

/// The value of a choice or of an observation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Plain {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    Array(Vec<Self>),
    /// A tensor.
    Tensor {
        dims: Vec<usize>,
        data: Vec<f64>,
    },
    /// The place in the support of a distribution whose values are none of these.
    Place {
        support: usize,
    },
    Object {
        fields: Vec<(String, Self)>,
    },
}

impl Plain {
    /// The value, if it is of this kind at all.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Null => Self::Null,
            Value::Bool(b) => Self::Bool(*b),
            Value::Number(x) => Self::Number(*x),
            Value::Text(t) => Self::Text(t.to_string()),
            Value::Array(a) => Self::Array(a.items().iter().map(Self::of).collect::<Option<_>>()?),
            Value::Tensor(t) => Self::Tensor { dims: t.dims.clone(), data: t.data.clone() },
            Value::Object(o) => {
                let field = |(k, v): &(Text, Value)| Some((k.to_string(), Self::of(v)?));
                Self::Object { fields: o.fields().iter().map(field).collect::<Option<_>>()? }
            }
            Value::Ad(ad) => return Self::of(ad.read()),
            _ => return None,
        })
    }

    /// A draw from a distribution: its value, or where it is in the support.
    pub(crate) fn drawn(dist: &Dist, value: &Value) -> Option<Self> {
        if let Some(plain) = Self::of(value).filter(|_| !matches!(value, Value::Array(_) | Value::Object(_))) {
            return Some(plain);
        }
        let place = match dist.support() {
            Ok(Value::Array(support)) => support.items().iter().position(|v| coerce::identical(v, value)),
            _ => None,
        };
        place.map(|support| Self::Place { support }).or_else(|| Self::of(value))
    }

    /// The value, for a distribution that it was drawn from.
    pub(crate) fn value(&self, dist: Option<&Dist>) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(b) => Value::Bool(*b),
            Self::Number(x) => Value::Number(*x),
            Self::Text(t) => Value::text(t),
            Self::Array(items) => Value::array(items.iter().map(|i| i.value(None)).collect()),
            Self::Tensor { dims, data } => Value::Tensor(Rc::new(Tensor::new(dims.clone(), data.clone()))),
            Self::Object { fields } => {
                Value::object(fields.iter().map(|(k, v)| (Text::from(k.as_str()), v.value(None))))
            }
            Self::Place { support } => match dist.map(Dist::support) {
                Some(Ok(Value::Array(all))) => all.items().get(*support).cloned().unwrap_or(Value::Undefined),
                _ => Value::Undefined,
            },
        }
    }

    /// All numbers in it, in order; truth values are 0 and 1.
    pub fn numbers(&self) -> Vec<f64> {
        match self {
            Self::Null | Self::Text(_) => Vec::new(),
            Self::Bool(b) => vec![f64::from(u8::from(*b))],
            Self::Number(x) => vec![*x],
            Self::Array(items) => items.iter().flat_map(Self::numbers).collect(),
            Self::Tensor { data, .. } => data.clone(),
            Self::Place { support } => vec![*support as f64],
            Self::Object { fields } => fields.iter().flat_map(|(_, v)| v.numbers()).collect(),
        }
    }

    /// The same kind of value with other numbers, taken from an iterator.
    #[must_use]
    pub fn with_numbers(&self, numbers: &mut impl Iterator<Item = f64>) -> Self {
        let next = |numbers: &mut dyn Iterator<Item = f64>| numbers.next().unwrap_or(f64::NAN);
        match self {
            Self::Null | Self::Text(_) | Self::Place { .. } | Self::Object { .. } => self.clone(),
            Self::Bool(_) => Self::Bool(next(numbers) != 0.0),
            Self::Number(_) => Self::Number(next(numbers)),
            Self::Array(items) => Self::Array(items.iter().map(|i| i.with_numbers(numbers)).collect()),
            Self::Tensor { dims, data } => {
                Self::Tensor { dims: dims.clone(), data: data.iter().map(|_| next(numbers)).collect() }
            }
        }
    }
}
