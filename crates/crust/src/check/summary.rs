//! What `crust check` says of a valid program.

use crust_stan::ast::BlockKind;
use crust_stan::data::{Data, ParameterInfo, parameter_table, quantity_table};
use crust_stan::eval::{Limits, Outcome};
use crust_stan::front_end::Reading;
use crust_stan::typed::VariableId;
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
            with_data: false,
        }
    }

    /// With data: sizes are known, and with them the dimension of the space that samplers move in.
    pub fn with_data(reading: &Reading, data: &Data, limits: Limits) -> Outcome<Self> {
        let program = &reading.typed;
        let read = quantity_table(program, &reading.source, data, limits, BlockKind::Data)?;
        let parameters = parameter_table(program, &reading.source, data, limits)?;
        Ok(Self {
            data: read.iter().map(VariableSummary::from).collect(),
            unconstrained_dimension: parameters.iter().map(|p| p.dimension).sum(),
            parameters: parameters.iter().map(VariableSummary::from).collect(),
            with_data: true,
            ..Self::of_program(reading)
        })
    }

    pub fn text(&self, file: &str) -> String {
        let end = if self.with_data { ", and its data fit" } else { "" };
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
        lines.join("\n")
    }
}

fn table(title: &str, variables: &[VariableSummary]) -> Vec<String> {
    let width =
        |text: fn(&VariableSummary) -> &str| variables.iter().map(|v| text(v).chars().count()).max().unwrap_or(0);
    let (names, types) = (width(|v| &v.name), width(|v| &v.ty));
    let rows = variables.iter().enumerate().map(|(i, v)| {
        let title = if i == 0 { title } else { "" };
        let dimension = match (&v.unconstrained_dimension, &v.reason) {
            (Some(n), _) => n.to_string(),
            (None, Some(reason)) => format!("? ({reason})"),
            (None, None) => String::new(),
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
            reason: info.reason.clone(),
        }
    }
}

fn as_declared(reading: &Reading, id: VariableId) -> VariableSummary {
    let variable = reading.typed.variable(id);
    let ty =
        variable.declared.as_ref().map_or_else(|| variable.ty.to_string(), |d| one_line(reading.source.slice(d.span)));
    VariableSummary { name: variable.name.clone(), ty, unconstrained_dimension: None, reason: None }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
