//! The result of `crust check`: what is wrong with a program and its data, or what is in it.

use serde::{Deserialize, Serialize};

/// A program that was checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Checked {
    pub file: String,
    pub ok: bool,
    pub diagnostics: Vec<Diagnostic>,
    /// Of a valid program.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub summary: Option<ProgramSummary>,
    /// The generative reading of a valid program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joint: Option<JointReading>,
}

/// A mistake or a warning. Lines and columns count from one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// `error` or `warning`.
    pub severity: String,
    pub code: String,
    pub file: String,
    pub line: usize,
    pub column: usize,
    pub end_line: usize,
    pub end_column: usize,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub help: Vec<String>,
}

/// What is in a valid program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProgramSummary {
    pub functions: usize,
    pub blocks: Vec<BlockSummary>,
    pub data: Vec<VariableSummary>,
    pub parameters: Vec<VariableSummary>,
    /// Known once there are data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unconstrained_dimension: Option<usize>,
    /// Worth knowing of the data: names that the program does not declare, and the like.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    #[serde(skip)]
    pub with_data: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BlockSummary {
    pub name: String,
    pub variables: usize,
    pub statements: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VariableSummary {
    pub name: String,
    #[serde(rename = "type")]
    pub ty: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unconstrained_dimension: Option<usize>,
    /// Of a single number in the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Why the dimension is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How a program is read as a joint distribution, or why it cannot be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JointReading {
    pub readable: bool,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub summary: Option<JointSummary>,
    /// What stands in the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub obstacles: Vec<Diagnostic>,
    /// What `bread` rests on with these data, where it works all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bread: Option<String>,
    /// The reading in lines for people.
    #[serde(skip)]
    pub lines: Vec<String>,
}

/// The generative reading in words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JointSummary {
    /// In the order in which they are drawn.
    pub parameters: Vec<DrawnParameter>,
    pub outcomes: Vec<DrawnOutcome>,
    pub hyperparameters: Vec<String>,
    /// Everything that is drawn, in order.
    pub order: Vec<String>,
    pub notes: Vec<String>,
    pub warnings: Vec<String>,
}

/// A parameter and where it is drawn from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DrawnParameter {
    pub name: String,
    /// One line for each statement.
    pub prior: Vec<String>,
    /// The parameters that its prior depends on.
    pub depends_on: Vec<String>,
}

/// An outcome and where it is drawn from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DrawnOutcome {
    pub name: String,
    pub likelihood: Vec<String>,
    pub depends_on: Vec<String>,
}
