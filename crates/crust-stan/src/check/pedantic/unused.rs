//! Variables whose values nobody uses.

use super::{each_statement, read_by};
use crate::ast::BlockKind;
use crate::check::statements::any_part;
use crate::diagnostics::Diagnostic;
use crate::typed::{ExprKind, Origin, Program, VariableId};
use std::collections::HashSet;

/// What is output counts as used: transformed parameters, generated quantities. Parameters are looked at in
/// [`super::priors`], arguments may have to be there for the sake of a signature.
pub(super) fn unused_variables(program: &Program) -> Vec<Diagnostic> {
    let mut read: HashSet<VariableId> = HashSet::new();
    each_statement(program, &mut |statement| {
        for e in read_by(program, statement) {
            any_part(e, &mut |part| {
                if let ExprKind::Variable(id) = part.kind {
                    read.insert(id);
                }
                false
            });
        }
    });
    let ids = (0..program.variables.len()).map(|i| VariableId(u32::try_from(i).unwrap_or(u32::MAX)));
    let unused = ids.filter(|id| !read.contains(id)).filter_map(|id| {
        let variable = program.variable(id);
        let what = match variable.origin {
            Origin::Block(BlockKind::Data) => "data",
            Origin::Block(BlockKind::TransformedData) => "transformed data",
            Origin::Local => "local",
            _ => return None,
        };
        let message = format!("the {what} variable `{}` is never used", variable.name);
        Some(Diagnostic::warning("unused-variable", message, variable.span))
    });
    unused.collect()
}
