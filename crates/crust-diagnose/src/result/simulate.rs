//! The result of `crust simulate`: datasets with the parameters behind them.

use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::Error};
use serde_json::value::RawValue;

/// Simulated datasets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Simulate {
    pub hyperparameters: Vec<String>,
    pub datasets: Vec<SimulatedData>,
}

/// A simulated dataset with the parameters behind it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SimulatedData {
    pub parameters: Json,
    pub data: Json,
}

/// A text that is JSON: it goes into other JSON as it is, so that every number keeps its digits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Json(pub String);

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_json::Value::deserialize(deserializer).map(|value| Self(value.to_string()))
    }
}
