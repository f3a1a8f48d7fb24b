//! Containers that exist only to be looked at by one loop, element by element:
//! `mu = x * beta + alpha; for (i in 1:N) y[i] ~ normal(mu[i], sigma);`. Such a loop can compute the elements itself,
//! while they are in the cache.

use crate::code::{Constraint, Declared, Filled, For, Index, Item, Kind, Node, Over, Slot, Step, Stmt, StmtKind};
use crust_math::functions::Cell;

/// Marks the containers that are declared in a list of statements and looked at in one loop of it only.
pub fn mark(list: Vec<Stmt>) -> Vec<Stmt> {
    let found: Vec<Found> = (0..list.len()).filter_map(|at| find(&list, at)).collect();
    let mut list: Vec<Stmt> = list;
    for Found { slot, definition, declaration, assignment, reader } in found {
        let StmtKind::For(for_loop) = &mut list[reader].kind else { continue };
        for_loop.inlinable.push((slot, definition));
        let id = for_loop.id;
        list = list
            .into_iter()
            .enumerate()
            .map(|(at, stmt)| {
                if at != declaration && Some(at) != assignment {
                    return stmt;
                }
                let (span, pure) = (stmt.span, stmt.pure);
                Stmt { kind: StmtKind::Inlinable { stmt: Box::new(stmt), slot, id }, span, pure }
            })
            .collect();
    }
    list
}

/// Marks arrays that a loop of `transformed parameters` fills and one loop of the model looks at: the model's loop can
/// compute them itself.
pub fn mark_filled(transform: &mut [Stmt], model: &mut [Stmt]) {
    for at in 0..transform.len() {
        let Some(filled) = filling(&transform[at]) else { continue };
        let slot = filled.slot;
        let declares = |stmt: &Stmt| matches!(&stmt.kind, StmtKind::Declare { slot: s, declared, initial: None, .. } if *s == slot && is_unconstrained(declared));
        let Some(declaration) = transform[..at].iter().position(declares) else { continue };
        let others = transform.iter().enumerate().filter(|(i, _)| *i != at && *i != declaration);
        let elsewhere = others.clone().any(|(_, stmt)| stmt.assigns(slot) || stmt.reads(slot));
        let size = transform[declaration].clone();
        let mut readers = (0..model.len()).filter(|&i| model[i].reads(slot));
        let (Some(reader), None) = (readers.next(), readers.next()) else { continue };
        if elsewhere || changes(&transform[at + 1..], &filled.value) || !covers(&size, &filled) {
            continue;
        }
        let StmtKind::For(for_loop) = &mut model[reader].kind else { continue };
        if !for_loop.parallel {
            continue;
        }
        let id = for_loop.id;
        for_loop.filled.push(filled);
        for i in [declaration, at] {
            let (span, pure) = (transform[i].span, transform[i].pure);
            let stmt = Box::new(transform[i].clone());
            transform[i] = Stmt { kind: StmtKind::Inlinable { stmt, slot, id }, span, pure };
        }
    }
}

/// A nest of loops with nothing in it but an assignment to the element that all loop variables point to.
fn filling(stmt: &Stmt) -> Option<Filled> {
    let mut ranges: Vec<(Slot, Node, Node)> = Vec::new();
    let mut inner = stmt;
    loop {
        match &inner.kind {
            StmtKind::For(for_loop) => {
                let (Over::Range(low, high), [only]) = (&for_loop.over, &for_loop.body[..]) else { return None };
                ranges.push((for_loop.slot, low.clone(), high.clone()));
                inner = only;
            }
            StmtKind::Block(body) => match &body[..] {
                [only] => inner = only,
                _ => return None,
            },
            StmtKind::Assign { slot, path, value, .. } => {
                let [Step::Index(indices)] = &path[..] else { return None };
                let mut loops = Vec::new();
                for index in indices {
                    let Index::Single(Node { kind: Kind::Variable { slot, .. }, .. }) = index else { return None };
                    loops.push(ranges.iter().find(|(s, ..)| s == slot)?.clone());
                }
                let mut slots: Vec<Slot> = loops.iter().map(|(slot, ..)| *slot).collect();
                slots.sort_unstable();
                slots.dedup();
                let bounds = || ranges.iter().flat_map(|(_, low, high)| [low, high]);
                let rectangular = ranges.iter().all(|(slot, ..)| bounds().all(|node| !node.reads(*slot)));
                let fits = slots.len() == ranges.len() && loops.len() == ranges.len();
                let plain = fits && rectangular && !value.reads(*slot);
                return plain.then(|| Filled { slot: *slot, loops, value: value.clone() });
            }
            _ => return None,
        }
    }
}

/// Whether as many indices are used as the array has dimensions.
fn covers(declaration: &Stmt, filled: &Filled) -> bool {
    let StmtKind::Declare { declared, .. } = &declaration.kind else { return false };
    let Item::Cell { sizes, .. } = &declared.item else { return false };
    declared.arrays.len() + sizes.len() == filled.loops.len()
}

fn is_unconstrained(declared: &Declared) -> bool {
    matches!(&declared.item, Item::Cell { constraint: Constraint::None, .. })
}

/// Puts statements that only add a scalar expression to the log density, one after the other, into one.
pub fn gather_terms(list: Vec<Stmt>, loops: &mut usize) -> Vec<Stmt> {
    let mut out: Vec<Stmt> = Vec::new();
    for stmt in list {
        if !matches!(stmt.kind, StmtKind::Target { .. }) {
            out.push(stmt);
            continue;
        }
        if let Some(Stmt { kind: StmtKind::Terms { body, .. }, .. }) = out.last_mut() {
            body.push(stmt);
            continue;
        }
        let id = u32::try_from(*loops).expect("few loops");
        *loops += 1;
        let span = stmt.span;
        out.push(Stmt { kind: StmtKind::Terms { body: vec![stmt], id }, span, pure: true });
    }
    out
}

struct Found {
    slot: Slot,
    definition: Node,
    declaration: usize,
    /// Where it is assigned to, if it is not defined where it is declared.
    assignment: Option<usize>,
    /// The loop that looks at it.
    reader: usize,
}

fn find(list: &[Stmt], declaration: usize) -> Option<Found> {
    let StmtKind::Declare { slot, declared, initial, .. } = &list[declaration].kind else { return None };
    let slot = *slot;
    if !is_plain_container(declared) {
        return None;
    }
    let behind = || (declaration + 1..list.len()).map(|at| (at, &list[at]));
    let mut assignments = behind().filter(|(_, stmt)| stmt.assigns(slot)).map(|(at, _)| at);
    let assignment = assignments.next();
    if assignments.next().is_some() {
        return None;
    }
    let (definition, defined) = match (initial, assignment) {
        (Some(node), None) => (node, declaration),
        (None, Some(at)) => match &list[at].kind {
            StmtKind::Assign { path, value, .. } if path.is_empty() => (value, at),
            _ => return None,
        },
        _ => return None,
    };
    let mut readers = behind().filter(|(_, stmt)| stmt.reads(slot)).map(|(at, _)| at);
    let reader = readers.next()?;
    if readers.next().is_some() || reader <= defined || definition.reads(slot) {
        return None;
    }
    let StmtKind::For(for_loop) = &list[reader].kind else { return None };
    let fits = for_loop.parallel
        && reads_elements(&list[reader], for_loop, slot)
        && !changes(&list[defined + 1..=reader], definition);
    fits.then(|| Found { slot, definition: definition.clone(), declaration, assignment, reader })
}

/// A vector or matrix without constraints.
fn is_plain_container(declared: &Declared) -> bool {
    let Item::Cell { cell, constraint: Constraint::None, .. } = &declared.item else { return false };
    declared.arrays.is_empty() && *cell != Cell::Scalar
}

/// Whether a loop looks at a variable only element by element.
fn reads_elements(stmt: &Stmt, for_loop: &For, slot: Slot) -> bool {
    fn by_element(node: &Node, slot: Slot) -> bool {
        if let Kind::Index { base, indices } = &node.kind
            && matches!(&base.kind, Kind::Variable { slot: s, .. } if *s == slot)
        {
            let single = |index: &Index| matches!(index, Index::Single(node) if !node.reads(slot));
            return indices.iter().all(single);
        }
        let mut fine = !matches!(&node.kind, Kind::Variable { slot: s, .. } if *s == slot);
        node.children(&mut |child| fine = fine && by_element(child, slot));
        fine
    }
    fn statement(stmt: &Stmt, slot: Slot) -> bool {
        let mut fine = true;
        stmt.nodes(&mut |node| fine = fine && by_element(node, slot));
        stmt.children(&mut |child| fine = fine && statement(child, slot));
        fine
    }
    let mut bounds = true;
    stmt.nodes(&mut |node| bounds = bounds && !node.reads(slot));
    bounds && for_loop.body.iter().all(|stmt| statement(stmt, slot))
}

/// Whether statements assign to something that an expression looks at.
fn changes(list: &[Stmt], node: &Node) -> bool {
    if let Kind::Variable { slot, .. } = &node.kind
        && list.iter().any(|stmt| stmt.assigns(*slot))
    {
        return true;
    }
    let mut found = false;
    node.children(&mut |child| found = found || changes(list, child));
    found
}
