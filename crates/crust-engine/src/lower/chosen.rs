//! Branches that data choose are as good as outside of their `if`, once the data are there.

use crate::code::{Code, Node, Stmt, StmtKind};

/// The program with those branches that are taken in the place of each outermost `if` that data decide. `truth` knows
/// what conditions are, as far as they are data.
pub fn chosen(code: &Code, truth: &impl Fn(&Node) -> Option<bool>) -> Option<Code> {
    let decided = |stmt: &Stmt| matches!(&stmt.kind, StmtKind::If { branches, .. } if truth(&branches[0].0).is_some());
    if !code.transform.iter().chain(&code.model).any(decided) {
        return None;
    }
    let mut code = code.clone();
    for list in [&mut code.transform, &mut code.model] {
        let mut out = Vec::new();
        std::mem::take(list).into_iter().for_each(|stmt| place(stmt, truth, &mut out));
        *list = out;
    }
    Some(code)
}

fn place(stmt: Stmt, truth: &impl Fn(&Node) -> Option<bool>, out: &mut Vec<Stmt>) {
    let StmtKind::If { branches, otherwise } = stmt.kind else { return out.push(stmt) };
    let conditions: Option<Vec<bool>> = branches.iter().map(|(condition, _)| truth(condition)).collect();
    let Some(conditions) = conditions else {
        let kind = StmtKind::If { branches, otherwise };
        return out.push(Stmt { kind, ..stmt });
    };
    let taken = branches.into_iter().zip(conditions).find(|(_, taken)| *taken);
    let body = taken.map_or(otherwise, |((_, body), _)| body);
    body.into_iter().for_each(|stmt| place(stmt, truth, out));
}
