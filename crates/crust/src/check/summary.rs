//! What `crust check` says of a valid program.

use crust_stan::ast::BlockKind;
use crust_stan::front_end::Reading;
use crust_stan::typed::VariableId;
use serde::Serialize;

#[derive(Clone, Serialize)]
pub struct Summary {
    functions: usize,
    blocks: Vec<BlockSummary>,
    data: Vec<VariableSummary>,
    parameters: Vec<VariableSummary>,
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
}

impl Summary {
    pub fn new(reading: &Reading) -> Self {
        let program = &reading.typed;
        let blocks = BlockKind::ALL.into_iter().filter(|k| program.blocks[*k as usize].is_some()).map(|kind| {
            let variables = program.declared_in(kind).count();
            BlockSummary { name: kind.name(), variables, statements: program.block(kind).len() - variables }
        });
        let variables = |kind| program.declared_in(kind).map(|id| variable(reading, id)).collect();
        Self {
            functions: program.functions.len(),
            blocks: blocks.collect(),
            data: variables(BlockKind::Data),
            parameters: variables(BlockKind::Parameters),
        }
    }

    pub fn text(&self, file: &str) -> String {
        let mut lines = vec![format!("{file}: a valid Stan program")];
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
        for (title, variables) in [("data", &self.data), ("parameters", &self.parameters)] {
            let width = variables.iter().map(|v| v.name.len()).max().unwrap_or(0);
            for (i, v) in variables.iter().enumerate() {
                let title = if i == 0 { title } else { "" };
                lines.push(format!("  {title:<11} {:<width$}  {}", v.name, v.ty));
            }
        }
        lines.join("\n")
    }
}

fn variable(reading: &Reading, id: VariableId) -> VariableSummary {
    let variable = reading.typed.variable(id);
    let ty =
        variable.declared.as_ref().map_or_else(|| variable.ty.to_string(), |d| one_line(reading.source.slice(d.span)));
    VariableSummary { name: variable.name.clone(), ty }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
