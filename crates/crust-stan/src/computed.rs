//! Transformed data as data.
//!
//! What transformed data compute from an outcome may be the outcome that the model is about: `ys = (y - mean(y)) / sd(y)`
//! with `ys ~ normal(mu, sigma)` states a density of `ys`, and there is no `y` that could be drawn from it. Or it decides
//! about sizes and priors: `m = max(y)` categories. With the values that transformed data have for the real data as data
//! of their own, the program states the same density of parameters, and what it says about `ys` can be drawn.

use crate::ast::BlockKind;
use crate::data::Data;
use crate::joint::Depends;
use crate::span::Span;
use crate::typed::{Block, Origin, Program, Stmt, StmtKind, VariableId};

impl Program {
    /// The program in which all transformed data are data; nothing if there are none, or if some are not known, as with
    /// random numbers.
    pub fn with_computed_given(&self, values: &Data) -> Option<Self> {
        let computed: Vec<VariableId> = self.declared_in(BlockKind::TransformedData).collect();
        if computed.is_empty() {
            return None;
        }
        let known = |id: &VariableId| values.get(*id).is_some_and(|value| value.reason().is_none());
        if !computed.iter().all(known) {
            return None;
        }
        let mut program = self.clone();
        program.blocks[BlockKind::TransformedData as usize] = None;
        let block = &mut program.blocks[BlockKind::Data as usize];
        let block = block.get_or_insert_with(|| Block { statements: Vec::new(), span: Span::default() });
        for id in computed {
            let variable = &mut program.variables[id.0 as usize];
            variable.origin = Origin::Block(BlockKind::Data);
            let declared = StmtKind::Declare { variable: id, initial: None };
            block.statements.push(Stmt { kind: declared, span: variable.span });
        }
        Some(program)
    }

    /// Names of transformed data that are computed from some of these variables.
    pub fn computed_from(&self, sources: &[VariableId]) -> Vec<&str> {
        let depends = Depends::of(self);
        let from = |id: &VariableId| depends.sources_of(*id).iter().any(|source| sources.contains(source));
        let ids = self.declared_in(BlockKind::TransformedData).filter(from);
        ids.map(|id| self.variable(id).name.as_str()).collect()
    }
}
