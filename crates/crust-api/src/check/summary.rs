//! What `crust check` says of a valid program.

use crust_stan::ast::BlockKind;
use crust_stan::data::{Data, ParameterInfo, parameter_table, quantity_table};
use crust_stan::eval::{Limits, Outcome};
use crust_stan::front_end::Reading;
use crust_stan::typed::VariableId;
use crust_stan::value::Value;
use serde::Serialize;

#[derive(Clone, Serialize)]
pub struct Summary {
    functions: usize,
    blocks: Vec<BlockSummary>,
    data: Vec<VariableSummary>,
    parameters: Vec<VariableSummary>,
    /// Known once there are data.
    #[serde(skip_serializing_if = "Option::is_none")]
    unconstrained_dimension: Option<usize>,
    /// Worth knowing of the data: names that the program does not declare, and the like.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip)]
    with_data: bool,
}

#[derive(Clone, Serialize)]
struct BlockSummary {
    name: &'static str,
    variables: usize,
    statements: usize,
}

#[derive(Clone, Serialize)]
struct VariableSummary {
    name: String,
    #[serde(rename = "type")]
    ty: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    unconstrained_dimension: Option<usize>,
    /// Of a single number in the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    /// Why the dimension is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Summary {
    /// From the program alone: types as declared.
    pub fn of_program(reading: &Reading) -> Self {
        let program = &reading.typed;
        let blocks = BlockKind::ALL.into_iter().filter(|k| program.blocks[*k as usize].is_some()).map(|kind| {
            let variables = program.declared_in(kind).count();
            BlockSummary { name: kind.name(), variables, statements: program.block(kind).len() - variables }
        });
        let variables = |kind| program.declared_in(kind).map(|id| as_declared(reading, id)).collect();
        Self {
            functions: program.functions.len(),
            blocks: blocks.collect(),
            data: variables(BlockKind::Data),
            parameters: variables(BlockKind::Parameters),
            unconstrained_dimension: None,
            notes: Vec::new(),
            with_data: false,
        }
    }

    /// With data: sizes are known, and with them the dimension of the space that samplers move in.
    pub fn with_data(reading: &Reading, data: &Data, limits: Limits) -> Outcome<Self> {
        let program = &reading.typed;
        let read = quantity_table(program, &reading.source, data, limits, BlockKind::Data)?;
        let parameters = parameter_table(program, &reading.source, data, limits)?;
        Ok(Self {
            data: read.iter().map(|info| VariableSummary { value: number(data, info.id), ..info.into() }).collect(),
            unconstrained_dimension: parameters.iter().map(|p| p.dimension).sum(),
            parameters: parameters.iter().map(VariableSummary::from).collect(),
            notes: notes(data),
            with_data: true,
            ..Self::of_program(reading)
        })
    }

    pub fn text(&self, file: &str) -> String {
        let end = match (self.functions, self.blocks.as_slice(), self.with_data) {
            (0, [], _) => ", but an empty one",
            (_, _, true) => ", and its data fit",
            (_, _, false) => "",
        };
        let mut lines = vec![format!("{file}: a valid Stan program{end}")];
        let mut parts = Vec::new();
        if self.functions > 0 {
            parts.push(format!("functions ({})", self.functions));
        }
        for block in &self.blocks {
            let n = if block.name == "model" { block.statements } else { block.variables };
            parts.push(format!("{} ({n})", block.name));
        }
        if !parts.is_empty() {
            lines.push(format!("  blocks      {}", parts.join(", ")));
        }
        lines.extend(table("data", &self.data));
        lines.extend(table("parameters", &self.parameters));
        if self.with_data {
            lines.push(match self.unconstrained_dimension {
                Some(n) => format!("  unconstrained dimension {n}"),
                None => "  unconstrained dimension not known: a size cannot be computed yet".to_owned(),
            });
        }
        lines.extend(self.notes.iter().map(|note| format!("  note: {note}")));
        lines.join("\n")
    }
}

fn notes(data: &Data) -> Vec<String> {
    let unused = data.unused.iter().map(|name| format!("the data have `{name}`, which the program does not declare"));
    unused.chain(data.notes.iter().cloned()).collect()
}

fn number(data: &Data, id: VariableId) -> Option<f64> {
    match data.get(id) {
        Some(Value::Int(n)) => Some(f64::from(*n)),
        Some(Value::Real(x)) => Some(*x),
        _ => None,
    }
}

fn table(title: &str, variables: &[VariableSummary]) -> Vec<String> {
    let width =
        |text: fn(&VariableSummary) -> &str| variables.iter().map(|v| text(v).chars().count()).max().unwrap_or(0);
    let (names, types) = (width(|v| &v.name), width(|v| &v.ty));
    let rows = variables.iter().enumerate().map(|(i, v)| {
        let title = if i == 0 { title } else { "" };
        let dimension = match (&v.unconstrained_dimension, &v.reason, v.value) {
            (Some(n), ..) => n.to_string(),
            (None, Some(reason), _) => format!("? ({reason})"),
            (None, None, Some(value)) => format!("= {value}"),
            (None, None, None) => String::new(),
        };
        let row = format!("  {title:<11} {:<names$}  {:<types$}  {dimension}", v.name, v.ty);
        row.trim_end().to_owned()
    });
    rows.collect()
}

impl From<&ParameterInfo> for VariableSummary {
    fn from(info: &ParameterInfo) -> Self {
        Self {
            name: info.name.clone(),
            ty: info.declared.clone(),
            unconstrained_dimension: info.dimension,
            value: None,
            reason: info.reason.clone(),
        }
    }
}

fn as_declared(reading: &Reading, id: VariableId) -> VariableSummary {
    let variable = reading.typed.variable(id);
    let ty =
        variable.declared.as_ref().map_or_else(|| variable.ty.to_string(), |d| one_line(reading.source.slice(d.span)));
    VariableSummary { name: variable.name.clone(), ty, unconstrained_dimension: None, value: None, reason: None }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
