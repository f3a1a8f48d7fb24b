//! Counts as numbers, and numbers in JSON, which has no NaN and no infinity: NaN is `null`, infinities are the strings
//! of Stan's JSON.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[expect(clippy::cast_precision_loss, reason = "no run has 2⁵³ draws")]
pub fn count(n: usize) -> f64 {
    n as f64
}

/// A number that may be NaN or infinite, which JSON cannot say otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Number(#[serde(with = "crate::number")] pub f64);

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Finite(f64),
    Infinite(Infinite),
    Missing(()),
}

#[derive(Deserialize)]
enum Infinite {
    #[serde(rename = "Infinity")]
    Positive,
    #[serde(rename = "-Infinity")]
    Negative,
}

pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    match *value {
        f64::INFINITY => serializer.serialize_str("Infinity"),
        f64::NEG_INFINITY => serializer.serialize_str("-Infinity"),
        finite if finite.is_finite() => serializer.serialize_f64(finite),
        _ => serializer.serialize_none(),
    }
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(match Written::deserialize(deserializer)? {
        Written::Finite(value) => value,
        Written::Infinite(Infinite::Positive) => f64::INFINITY,
        Written::Infinite(Infinite::Negative) => f64::NEG_INFINITY,
        Written::Missing(()) => f64::NAN,
    })
}

/// The same for lists.
pub mod list {
    use super::Number;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(values.iter().copied().map(Number))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        Ok(Vec::<Number>::deserialize(deserializer)?.into_iter().map(|number| number.0).collect())
    }
}

/// The same where there may be none.
pub mod option {
    use super::Number;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        value.map(Number).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
        Ok(Option::<Number>::deserialize(deserializer)?.map(|number| number.0))
    }
}
