//! Functions of the program put in the place of their calls: those that add to the target, and densities that only name
//! another one.

use std::collections::BTreeMap;

use super::walk;
use crate::ast::BlockKind;
use crate::typed::{
    Call, Callee, Expr, ExprKind, FunctionId, Level, LoopOver, Program, Stmt, StmtKind, Variable, VariableId,
};
use crate::types::Type;

/// How deep calls inside of functions are followed.
const DEPTH: u32 = 8;

/// A copy of the program in which statements `foo_lp(…);` are replaced by what the function does.
pub(super) fn inline(program: &Program) -> Program {
    let mut inliner = Inliner { program, variables: program.variables.clone() };
    let mut result = program.clone();
    for kind in [BlockKind::TransformedParameters, BlockKind::Model] {
        if let Some(block) = &mut result.blocks[kind as usize] {
            block.statements = block.statements.iter().map(|s| inliner.statement(s, DEPTH)).collect();
        }
    }
    result.variables = inliner.variables;
    result
}

/// Whether a function may change the target.
pub(super) fn changes_target(program: &Program, call: &Call) -> bool {
    matches!(&call.callee, Callee::User(id) if program.function(*id).name.ends_with("_lp"))
}

struct Inliner<'a> {
    program: &'a Program,
    variables: Vec<Variable>,
}

impl Inliner<'_> {
    fn statement(&mut self, stmt: &Stmt, depth: u32) -> Stmt {
        if let StmtKind::Call(call) = &stmt.kind
            && depth > 0
            && changes_target(self.program, call)
        {
            return self.call(call, stmt, depth).unwrap_or_else(|| stmt.clone());
        }
        let mut boxed = |s: &Stmt| Box::new(self.statement(s, depth));
        let kind = match &stmt.kind {
            StmtKind::If { branches, otherwise } => StmtKind::If {
                branches: branches.iter().map(|(e, s)| (e.clone(), *boxed(s))).collect(),
                otherwise: otherwise.as_ref().map(|s| boxed(s)),
            },
            StmtKind::For { variable, over, body } => {
                StmtKind::For { variable: *variable, over: over.clone(), body: boxed(body) }
            }
            StmtKind::While { condition, body } => StmtKind::While { condition: condition.clone(), body: boxed(body) },
            StmtKind::Block(list) | StmtKind::Profile { body: list, .. } => {
                StmtKind::Block(list.iter().map(|s| *boxed(s)).collect())
            }
            other => other.clone(),
        };
        Stmt { kind, span: stmt.span }
    }

    /// The body of a function without a value, its arguments replaced. The statements keep the place of the call: that
    /// is what the user sees when they look for it.
    fn call(&mut self, call: &Call, stmt: &Stmt, depth: u32) -> Option<Stmt> {
        let Callee::User(id) = &call.callee else { return None };
        let function = self.program.function(*id);
        let mut leaves = false;
        function.body.iter().for_each(|s| walk::each(s, &mut |s| leaves |= matches!(s.kind, StmtKind::Return(_))));
        if leaves {
            return None;
        }
        let mut renamed: BTreeMap<VariableId, Expr> =
            function.arguments.iter().copied().zip(call.arguments.iter().cloned()).collect();
        let body: Vec<Stmt> = function.body.iter().map(|s| self.copy(s, &mut renamed)).collect();
        let body = body.iter().map(|s| self.statement(s, depth - 1)).collect();
        Some(Stmt { kind: StmtKind::Block(body), span: stmt.span })
    }

    /// A copy of a statement of a function with variables of its own.
    fn copy(&mut self, stmt: &Stmt, renamed: &mut BTreeMap<VariableId, Expr>) -> Stmt {
        let span = stmt.span;
        let kind = match &stmt.kind {
            StmtKind::Declare { variable, initial } => {
                let initial = initial.as_ref().map(|e| replaced(e, renamed));
                StmtKind::Declare { variable: self.fresh(*variable, renamed), initial }
            }
            StmtKind::For { variable, over, body } => {
                let over = match over {
                    LoopOver::Range { lower, upper } => {
                        LoopOver::Range { lower: replaced(lower, renamed), upper: replaced(upper, renamed) }
                    }
                    LoopOver::Each(e) => LoopOver::Each(replaced(e, renamed)),
                };
                let variable = self.fresh(*variable, renamed);
                StmtKind::For { variable, over, body: Box::new(self.copy(body, renamed)) }
            }
            StmtKind::Assign { target, op, value } => {
                let rename = |id: VariableId| match renamed.get(&id).map(|e| &e.kind) {
                    Some(ExprKind::Variable(other)) => *other,
                    _ => id,
                };
                let target = walk::map_place(target, &|e| substitute(e, renamed), &rename);
                StmtKind::Assign { target, op: *op, value: replaced(value, renamed) }
            }
            StmtKind::Tilde(tilde) => StmtKind::Tilde(Box::new(walk::map_tilde(tilde, &|e| substitute(e, renamed)))),
            StmtKind::TargetPlus(e) => StmtKind::TargetPlus(replaced(e, renamed)),
            StmtKind::Call(call) => StmtKind::Call(walk::map_call(call, &|e| substitute(e, renamed))),
            StmtKind::If { branches, otherwise } => StmtKind::If {
                branches: branches.iter().map(|(e, s)| (replaced(e, renamed), self.copy(s, renamed))).collect(),
                otherwise: otherwise.as_ref().map(|s| Box::new(self.copy(s, renamed))),
            },
            StmtKind::While { condition, body } => {
                StmtKind::While { condition: replaced(condition, renamed), body: Box::new(self.copy(body, renamed)) }
            }
            StmtKind::Block(list) | StmtKind::Profile { body: list, .. } => {
                StmtKind::Block(list.iter().map(|s| self.copy(s, renamed)).collect())
            }
            other => other.clone(),
        };
        Stmt { kind, span }
    }

    fn fresh(&mut self, id: VariableId, renamed: &mut BTreeMap<VariableId, Expr>) -> VariableId {
        let mut variable = self.program.variable(id).clone();
        variable.declared = variable.declared.map(|ty| walk::map_type(&ty, &|e| substitute(e, renamed)));
        let new = VariableId(u32::try_from(self.variables.len()).unwrap_or(u32::MAX));
        let kind = ExprKind::Variable(new);
        renamed.insert(id, Expr { kind, ty: variable.ty.clone(), level: variable.level, span: variable.span });
        self.variables.push(variable);
        new
    }
}

fn substitute(e: &Expr, renamed: &BTreeMap<VariableId, Expr>) -> Option<Expr> {
    match &e.kind {
        ExprKind::Variable(id) => renamed.get(id).cloned(),
        _ => None,
    }
}

fn replaced(e: &Expr, renamed: &BTreeMap<VariableId, Expr>) -> Expr {
    walk::map(e, &|e| substitute(e, renamed))
}

/// What a call of a function with a single `return` gives, written out; also `reduce_sum`, over the whole of what it
/// takes apart.
pub(super) fn value(program: &Program, e: &Expr) -> Option<Expr> {
    let ExprKind::Call(call) = &e.kind else { return None };
    match &call.callee {
        Callee::User(id) => returned(program, *id, call.arguments.clone()),
        Callee::Library(name) if name == "reduce_sum" || name == "reduce_sum_static" => {
            let [function, slice, _, rest @ ..] = call.arguments.as_slice() else { return None };
            let ExprKind::FunctionName { callee: Callee::User(id), .. } = &function.kind else { return None };
            let int = |kind| Expr { kind, ty: Type::Int, level: Level::Data, span: e.span };
            let size = Call {
                callee: Callee::Library("size".to_owned()),
                arguments: vec![slice.clone()],
                unnormalised: false,
            };
            let mut arguments = vec![slice.clone(), int(ExprKind::Int(1)), int(ExprKind::Call(size))];
            arguments.extend(rest.iter().cloned());
            returned(program, *id, arguments)
        }
        Callee::Library(_) => None,
    }
}

fn returned(program: &Program, id: FunctionId, arguments: Vec<Expr>) -> Option<Expr> {
    let function = program.function(id);
    let mut body = function.body.as_slice();
    while let [Stmt { kind: StmtKind::Block(list), .. }] = body {
        body = list;
    }
    let [Stmt { kind: StmtKind::Return(Some(e)), .. }] = body else { return None };
    // A function that calls itself, or one that is defined behind it, would go on for ever.
    let recursive =
        walk::any(e, &|e| matches!(&e.kind, ExprKind::Call(Call { callee: Callee::User(other), .. }) if *other >= id));
    if recursive {
        return None;
    }
    Some(replaced(e, &function.arguments.iter().copied().zip(arguments).collect()))
}
