//! Arguments of the program's functions that stand on the left of densities inside of them:
//! `real pcm(int y, …) { …; return categorical_lpmf(y + 1 | p); }` is about its first argument.

use std::collections::{BTreeMap, BTreeSet};

use super::split::root;
use super::walk;
use crate::names::Suffix;
use crate::typed::{Call, Callee, Expr, ExprKind, Function, Program, StmtKind, VariableId};

/// For each function, the places of such arguments.
pub fn variate_arguments(program: &Program) -> Vec<BTreeSet<usize>> {
    let mut found = vec![BTreeSet::new(); program.functions.len()];
    // Functions call others: what is found inside of these shows in the next round.
    loop {
        let next: Vec<BTreeSet<usize>> = program.functions.iter().map(|f| of_function(program, f, &found)).collect();
        if next == found {
            return found;
        }
        found = next;
    }
}

fn of_function(program: &Program, function: &Function, known: &[BTreeSet<usize>]) -> BTreeSet<usize> {
    let (mut assigned, mut variates) = (BTreeMap::<VariableId, Vec<&Expr>>::new(), Vec::new());
    for stmt in &function.body {
        walk::each(stmt, &mut |s| {
            match &s.kind {
                StmtKind::Declare { variable, initial: Some(value) } => {
                    assigned.entry(*variable).or_default().push(value);
                }
                StmtKind::Assign { target, value, .. } => {
                    walk::assigned(target).into_iter().for_each(|id| assigned.entry(id).or_default().push(value));
                }
                _ => {}
            }
            walk::own(s, &mut |e| {
                walk::parts(e, &mut |e| {
                    if let ExprKind::Call(call) = &e.kind {
                        variates.extend(variates_of(program, call, known));
                    }
                });
            });
        });
    }
    let mut places = BTreeSet::new();
    let (mut open, mut seen): (Vec<VariableId>, BTreeSet<VariableId>) =
        (variates.into_iter().filter_map(root).collect(), BTreeSet::new());
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        match function.arguments.iter().position(|argument| *argument == id) {
            Some(place) => _ = places.insert(place),
            None => open.extend(assigned.get(&id).into_iter().flatten().filter_map(|value| root(value))),
        }
    }
    places
}

/// What a call says the density of: the first argument of a density, those of a function that are.
fn variates_of<'a>(program: &Program, call: &'a Call, known: &[BTreeSet<usize>]) -> Vec<&'a Expr> {
    let name = match &call.callee {
        Callee::Library(name) => name,
        Callee::User(id) => &program.function(*id).name,
    };
    if Suffix::of(name).is_density() {
        return call.arguments.first().into_iter().collect();
    }
    match &call.callee {
        Callee::User(id) => known[id.0 as usize].iter().filter_map(|&place| call.arguments.get(place)).collect(),
        Callee::Library(_) => Vec::new(),
    }
}
