//! What the value of each variable can depend on: parameters and variables of the data block.

use std::collections::BTreeSet;

use super::walk;
use crate::ast::BlockKind;
use crate::typed::{Expr, ExprKind, LoopOver, Origin, Program, SizedType, Stmt, StmtKind, VariableId};
use crate::types::Type;

/// For every variable outside of functions the parameters and data that its value can depend on, through assignments
/// and through the conditions under which they are made.
#[derive(Clone, Debug)]
pub struct Depends {
    sources: Vec<BTreeSet<VariableId>>,
    parameters: BTreeSet<VariableId>,
}

impl Depends {
    pub fn of(program: &Program) -> Self {
        Self::with(program, &|_| false)
    }

    /// The same where what is computed also depends on those of `unsettled` that its size looks at: it does not exist
    /// without them.
    pub fn with(program: &Program, unsettled: &dyn Fn(VariableId) -> bool) -> Self {
        let mut found = Self {
            sources: vec![BTreeSet::new(); program.variables.len()],
            parameters: program.declared_in(BlockKind::Parameters).collect(),
        };
        for kind in [BlockKind::Data, BlockKind::Parameters] {
            for id in program.declared_in(kind) {
                found.sources[id.0 as usize].insert(id);
            }
        }
        loop {
            let before: usize = found.sources.iter().map(BTreeSet::len).sum();
            let computed = [Origin::Local, Origin::Block(BlockKind::TransformedParameters)];
            for (id, variable) in program.variables.iter().enumerate().filter(|(_, v)| computed.contains(&v.origin)) {
                let sizes = variable.declared.iter().flat_map(SizedType::sizes);
                let seen: Vec<VariableId> =
                    sizes.flat_map(|size| found.sources(size)).filter(|id| unsettled(*id)).collect();
                found.sources[id].extend(seen);
            }
            for block in &program.blocks {
                let statements = block.iter().flat_map(|b| &b.statements);
                statements.for_each(|s| found.statement(s, &BTreeSet::new()));
            }
            if found.sources.iter().map(BTreeSet::len).sum::<usize>() == before {
                return found;
            }
        }
    }

    fn statement(&mut self, stmt: &Stmt, under: &BTreeSet<VariableId>) {
        let mut inside = under.clone();
        match &stmt.kind {
            StmtKind::Declare { variable, initial: Some(value) }
            | StmtKind::For { variable, over: LoopOver::Each(value), .. } => self.note(*variable, value, under),
            StmtKind::Assign { target, value, .. } => {
                let mut all = under.clone();
                walk::in_place(target, &mut |e| all.extend(self.sources(e)));
                walk::assigned(target).into_iter().for_each(|id| self.note(id, value, &all));
            }
            // which iteration it is depends on where the loop begins and ends
            StmtKind::For { variable, over: LoopOver::Range { lower, upper }, .. } => {
                [lower, upper].into_iter().for_each(|e| self.note(*variable, e, under));
            }
            _ => {}
        }
        walk::decides(stmt, &mut |e| inside.extend(self.sources(e)));
        walk::children(stmt, &mut |child| self.statement(child, &inside));
    }

    fn note(&mut self, variable: VariableId, value: &Expr, under: &BTreeSet<VariableId>) {
        let found = self.sources(value);
        self.sources[variable.0 as usize].extend(found.into_iter().chain(under.iter().copied()));
    }

    /// The parameters and data that an expression can depend on.
    pub fn sources(&self, expr: &Expr) -> BTreeSet<VariableId> {
        walk::looked_at(expr).iter().flat_map(|id| &self.sources[id.0 as usize]).copied().collect()
    }

    /// The same for a variable.
    pub fn sources_of(&self, id: VariableId) -> &BTreeSet<VariableId> {
        &self.sources[id.0 as usize]
    }

    /// The parameters among the sources of an expression.
    pub fn parameters(&self, expr: &Expr) -> BTreeSet<VariableId> {
        self.sources(expr).intersection(&self.parameters).copied().collect()
    }

    pub fn is_parametric(&self, expr: &Expr) -> bool {
        walk::looked_at(expr).iter().any(|id| !self.sources[id.0 as usize].is_disjoint(&self.parameters))
    }

    pub fn is_parameter(&self, id: VariableId) -> bool {
        self.parameters.contains(&id)
    }
}

/// Data that are used as more than a size or an index somewhere: what outcomes can be among.
pub fn values_of_data(program: &Program) -> BTreeSet<VariableId> {
    let mut found = BTreeSet::new();
    let blocks = [BlockKind::TransformedData, BlockKind::TransformedParameters, BlockKind::Model];
    for stmt in blocks.into_iter().flat_map(|kind| program.block(kind)) {
        walk::each(stmt, &mut |s| walk::own(s, &mut |e| values(program, e, false, &mut found)));
    }
    found
}

/// The same with single integers, of what is added to the target: elsewhere they are sizes.
pub fn numbers_in_terms(program: &Program) -> BTreeSet<VariableId> {
    let mut found = BTreeSet::new();
    for stmt in program.block(BlockKind::Model) {
        walk::each(stmt, &mut |s| {
            if let StmtKind::TargetPlus(e) = &s.kind {
                values(program, e, true, &mut found);
            }
        });
    }
    found
}

/// Data in an expression that are no index in it.
fn values(program: &Program, e: &Expr, with_integers: bool, found: &mut BTreeSet<VariableId>) {
    match &e.kind {
        ExprKind::Variable(id) if program.variable(*id).origin == Origin::Block(BlockKind::Data) => {
            if with_integers || e.ty != Type::Int {
                found.insert(*id);
            }
        }
        ExprKind::Index { base, .. } => values(program, base, with_integers, found),
        _ => walk::operands(e, &mut |e| values(program, e, with_integers, found)),
    }
}
