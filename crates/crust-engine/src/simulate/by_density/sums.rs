//! Sums over components in the text of a program.
//!
//! Whatever the log likelihood L is, and wherever the sum S = log Σₖ exp(Eₖ) stands in the program,
//!
//! > exp(L) = Σₖ exp(L − S + Eₖ),
//!
//! so that every sum offers a way to take the likelihood apart. Which one is of use shows when elements of the outcome are
//! changed ([`super::parts`]).

use std::collections::BTreeMap;

use crust_stan::ast::BinaryOp;
use crust_stan::joint::{call, copied, walk};
use crust_stan::typed::{Call, Callee, Expr, ExprKind, FunctionId, Level, Program, Stmt, StmtKind};
use crust_stan::types::Type;

/// What an expression is the log of a sum of exponentials of, as one container.
pub fn parts(e: &Expr) -> Option<Expr> {
    let ExprKind::Call(Call { callee: Callee::Library(name), arguments, .. }) = &e.kind else { return None };
    let plus = |left: Expr, right: &Expr| {
        let (ty, span, level) = (right.ty.clone(), right.span, Level::Parameter);
        let kind = ExprKind::Binary { op: BinaryOp::Add, left: Box::new(left), right: Box::new(right.clone()) };
        Expr { kind, ty, level, span }
    };
    let list = |parts: Vec<Expr>| {
        let kind = ExprKind::RowVector(parts);
        Some(Expr { kind, ty: Type::RowVector, level: Level::Parameter, span: e.span })
    };
    match (name.as_str(), arguments.as_slice()) {
        ("log_sum_exp", [all]) if !all.ty.is_scalar() => Some(all.clone()),
        ("log_sum_exp", [a, b]) if a.ty.is_scalar() && b.ty.is_scalar() => list(vec![a.clone(), b.clone()]),
        ("log_mix", [weight, a, b]) if weight.ty.is_scalar() => {
            let log = |function: &str| call(function, vec![weight.clone()], Type::Real);
            list(vec![plus(log("log"), a), plus(log("log1m"), b)])
        }
        ("log_mix", [weights, all]) if weights.ty == all.ty && all.ty == Type::Vector => {
            Some(plus(call("log", vec![weights.clone()], Type::Vector), all))
        }
        _ => None,
    }
}

/// Functions that return the components of the sums that others return, by those.
pub type ByFunction = BTreeMap<FunctionId, (FunctionId, Type)>;

/// Sums over components that are added up in an expression, also by functions of the program.
pub fn within(functions: &ByFunction, e: &Expr) -> Vec<Expr> {
    let mut found = Vec::new();
    let mut open = vec![e];
    while let Some(e) = open.pop() {
        match &e.kind {
            ExprKind::Binary { op: BinaryOp::Add | BinaryOp::Subtract, left, right } => {
                open.extend([&**left, &**right]);
            }
            ExprKind::Call(Call { callee: Callee::User(id), arguments, .. }) => {
                found.extend(functions.get(id).map(|(other, ty)| {
                    let call = Call { callee: Callee::User(*other), arguments: arguments.clone(), unnormalised: false };
                    Expr { kind: ExprKind::Call(call), ty: ty.clone(), level: Level::Parameter, span: e.span }
                }));
            }
            _ => found.extend(parts(e)),
        }
    }
    found
}

/// Adds such functions to a program, for all that return sums over components and nothing else.
pub fn by_function(program: &mut Program) -> ByFunction {
    let mut all = ByFunction::new();
    for at in 0..program.functions.len() {
        let function = &program.functions[at];
        let mut returned: Vec<Option<Type>> = Vec::new();
        function.body.iter().for_each(|s| {
            walk::each(s, &mut |s| {
                if let StmtKind::Return(Some(e)) = &s.kind {
                    returned.push(parts(e).map(|e| e.ty));
                }
            });
        });
        let Some(Some(ty)) = returned.first().cloned() else { continue };
        if returned.iter().any(|other| other.as_ref() != Some(&ty)) {
            continue;
        }
        let Ok(id) = u32::try_from(at).map(FunctionId) else { continue };
        let name = format!("components:{}", function.name);
        let other = copied(program, id, name);
        let function = &mut program.functions[other.0 as usize];
        function.ty.returns = Some(ty.clone());
        function.body = function.body.iter().map(returning).collect();
        all.insert(id, (other, ty));
    }
    all
}

/// A statement that returns components in the place of their sum.
fn returning(stmt: &Stmt) -> Stmt {
    let boxed = |s: &Stmt| Box::new(returning(s));
    let kind = match &stmt.kind {
        StmtKind::Return(Some(e)) => StmtKind::Return(parts(e).or_else(|| Some(e.clone()))),
        StmtKind::If { branches, otherwise } => StmtKind::If {
            branches: branches.iter().map(|(e, s)| (e.clone(), returning(s))).collect(),
            otherwise: otherwise.as_ref().map(|s| boxed(s)),
        },
        StmtKind::For { variable, over, body } => {
            StmtKind::For { variable: *variable, over: over.clone(), body: boxed(body) }
        }
        StmtKind::While { condition, body } => StmtKind::While { condition: condition.clone(), body: boxed(body) },
        StmtKind::Block(list) => StmtKind::Block(list.iter().map(returning).collect()),
        other => other.clone(),
    };
    Stmt { kind, span: stmt.span }
}
