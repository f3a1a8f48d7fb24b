//! Which variables have the same value in every evaluation, and which have one all the way through an evaluation: what
//! is compiled for the one must not be used for another.

use std::collections::HashSet;

use crate::code::{Code, Kind, Node, Over, Slot, Stmt, StmtKind};

/// What a walk over the statements finds out.
struct Walk<'a> {
    code: &'a Code,
    /// Variables that depend on parameters, be it only by the way that control took.
    by_parameters: HashSet<Slot>,
    /// Variables that loops assign to.
    in_loops: HashSet<Slot>,
}

/// Finds the variables that depend on parameters, and those that loops assign to.
pub fn find(code: &mut Code) {
    let parameters = code.parameters.iter().map(|quantity| Slot::Global(quantity.slot)).collect();
    let mut walk = Walk { code, by_parameters: parameters, in_loops: HashSet::new() };
    loop {
        let known = walk.by_parameters.len();
        for stmt in [&code.transform, &code.model, &code.generate].into_iter().flatten() {
            walk.statement(stmt, false, false);
        }
        if walk.by_parameters.len() == known {
            break;
        }
    }
    let Walk { by_parameters, in_loops, .. } = walk;
    (code.by_parameters, code.in_loops) = (by_parameters, in_loops);
}

impl Walk<'_> {
    /// Whether an expression depends on parameters.
    fn depends(&self, node: &Node) -> bool {
        let mut found = match &node.kind {
            Kind::Hoisted(..) => return false,
            Kind::Variable { slot, .. } => self.by_parameters.contains(slot),
            Kind::Random(..) | Kind::Target => true,
            Kind::User { .. } | Kind::HigherOrder(_) => self.code.reads_target,
            _ => false,
        };
        node.children(&mut |child| found = found || self.depends(child));
        found
    }

    fn assign(&mut self, slot: Slot, depends: bool, in_loop: bool) {
        if depends {
            self.by_parameters.insert(slot);
        }
        if in_loop {
            self.in_loops.insert(slot);
        }
    }

    /// `chosen`: whether parameters decide if the statement is reached, or how often.
    fn statement(&mut self, stmt: &Stmt, mut chosen: bool, mut in_loop: bool) {
        let mut own = false;
        stmt.nodes(&mut |node| own = own || self.depends(node));
        match &stmt.kind {
            // A declaration without a value: what is in it is not a number, whoever asks.
            StmtKind::Declare { slot, initial, .. } => {
                self.assign(*slot, initial.is_some() && (own || chosen), initial.is_some() && in_loop);
            }
            StmtKind::Assign { slot, .. } => self.assign(*slot, own || chosen, in_loop),
            StmtKind::AssignTuple { places, .. } => {
                places.iter().for_each(|(slot, ..)| self.assign(*slot, own || chosen, in_loop));
            }
            StmtKind::If { .. } => chosen |= own,
            StmtKind::For(for_loop) => {
                chosen |= own || for_loop.body.iter().any(|stmt| self.leaves(stmt, false));
                in_loop = true;
                self.assign(
                    for_loop.slot,
                    chosen || matches!(&for_loop.over, Over::Each(node) if self.depends(node)),
                    true,
                );
            }
            StmtKind::While { body, .. } => {
                chosen |= own || body.iter().any(|stmt| self.leaves(stmt, false));
                in_loop = true;
            }
            _ => {}
        }
        stmt.children(&mut |child| self.statement(child, chosen, in_loop));
    }

    /// Whether parameters decide when a loop is left.
    fn leaves(&self, stmt: &Stmt, chosen: bool) -> bool {
        let mut own = chosen;
        match &stmt.kind {
            StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) => return chosen,
            StmtKind::If { .. } | StmtKind::For(_) | StmtKind::While { .. } => {
                stmt.nodes(&mut |node| own = own || self.depends(node));
            }
            _ => {}
        }
        let mut found = false;
        stmt.children(&mut |child| found = found || self.leaves(child, own));
        found
    }
}
