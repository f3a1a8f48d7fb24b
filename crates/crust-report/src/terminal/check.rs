//! What `crust check` says of a valid program.

use crust_diagnose::result::{Checked, VariableSummary};

/// What is in a valid program.
pub fn check(checked: &Checked) -> Option<String> {
    let summary = checked.summary.as_ref()?;
    if std::path::Path::new(&checked.file).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("wppl")) {
        let mut lines = vec![format!("{}: a valid WebPPL program", checked.file)];
        lines.extend(table("draws", &summary.parameters));
        lines.extend(table("observes", &summary.data));
        lines.extend(summary.notes.iter().map(|note| format!("  note: {note}")));
        return Some(lines.join("\n"));
    }
    let end = match (summary.functions, summary.blocks.as_slice(), summary.with_data) {
        (0, [], _) => ", but an empty one",
        (_, _, true) => ", and its data fit",
        (_, _, false) => "",
    };
    let mut lines = vec![format!("{}: a valid Stan program{end}", checked.file)];
    let mut parts = Vec::new();
    if summary.functions > 0 {
        parts.push(format!("functions ({})", summary.functions));
    }
    for block in &summary.blocks {
        let n = if block.name == "model" { block.statements } else { block.variables };
        parts.push(format!("{} ({n})", block.name));
    }
    if !parts.is_empty() {
        lines.push(format!("  blocks      {}", parts.join(", ")));
    }
    lines.extend(table("data", &summary.data));
    lines.extend(table("parameters", &summary.parameters));
    if summary.with_data {
        lines.push(match summary.unconstrained_dimension {
            Some(n) => format!("  unconstrained dimension {n}"),
            None => "  unconstrained dimension not known: a size cannot be computed yet".to_owned(),
        });
    }
    lines.extend(summary.notes.iter().map(|note| format!("  note: {note}")));
    if let Some(joint) = &checked.joint {
        lines.extend(joint.lines.iter().cloned());
    }
    Some(lines.join("\n"))
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
