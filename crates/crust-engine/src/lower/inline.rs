//! Containers that exist only to be looked at once, element by element:
//! `mu = x * beta + alpha; for (i in 1:N) y[i] ~ normal(mu[i], sigma);`, or
//! `for (i in 1:N) mu[i] = a[g[i]] + b * x[i]; y ~ normal(mu, sigma);`. The loop or the terms of the log density that
//! look at them can compute the elements themselves, while they are in the cache.

use crate::code::{Code, Constraint, Declared, Filled, For, Index, Item, Kind, Node, Over, Slot, Step, Stmt, StmtKind};
use crust_math::functions::Cell;

use super::control::has_control;

/// Longer expressions stay variables.
const MOST_NODES: usize = 200;

/// Marks the containers that are declared in a list of statements and looked at in one loop of it only, or in one of
/// its terms. Inside of a loop only those that are assigned once: the loop around may compute the others by itself.
pub fn mark(mut list: Vec<Stmt>, inside: bool) -> Vec<Stmt> {
    for at in 0..list.len() {
        let Some(Found { slot, meaning, writers, reader }) = find(&list, at) else { continue };
        if inside && (writers.len() > 2 || matches!(meaning, Meaning::Elements(_))) {
            continue;
        }
        let (inlinable, filled, id) = match &mut list[reader].kind {
            StmtKind::For(own) => (&mut own.inlinable, &mut own.filled, own.id),
            StmtKind::Terms { inlinable, filled, id, .. } => (inlinable, filled, *id),
            _ => continue,
        };
        match meaning {
            Meaning::Whole(definition) => inlinable.push((slot, definition)),
            Meaning::Elements(elements) => filled.push(elements),
        }
        for writer in writers {
            let Stmt { span, pure, .. } = list[writer];
            let nothing = Stmt { kind: StmtKind::Block(Vec::new()), span, pure };
            let stmt = Box::new(std::mem::replace(&mut list[writer], nothing));
            list[writer].kind = StmtKind::Inlinable { stmt, slot, id };
        }
    }
    list
}

/// What a container holds.
enum Meaning {
    Whole(Node),
    Elements(Filled),
}

struct Found {
    slot: Slot,
    meaning: Meaning,
    /// The declaration, and everything that assigns to it.
    writers: Vec<usize>,
    /// The loop or the terms that look at it.
    reader: usize,
}

/// The container that a statement declares, if all that is assigned to it is known where it is looked at: it may be
/// assigned as a whole, several times, and at last by a loop, element by element.
fn find(list: &[Stmt], declaration: usize) -> Option<Found> {
    let StmtKind::Declare { slot, declared, initial, .. } = &list[declaration].kind else { return None };
    let slot = *slot;
    if !is_unconstrained(declared) {
        return None;
    }
    let behind = || (declaration + 1..list.len()).map(|at| (at, &list[at]));
    let mut writers = vec![declaration];
    writers.extend(behind().filter(|(_, stmt)| stmt.assigns(slot)).map(|(at, _)| at));
    let mut readers = behind().filter(|(at, stmt)| !writers.contains(at) && stmt.reads(slot)).map(|(at, _)| at);
    let reader = readers.next()?;
    let last = *writers.last()?;
    if readers.next().is_some() || reader <= last {
        return None;
    }
    let settled = |at: usize, node: &Node| !changes(&list[at + 1..=reader], node, slot);
    let mut whole = initial.clone();
    if whole.as_ref().is_some_and(|node| node.reads(slot) || !settled(declaration, node)) {
        return None;
    }
    let mut elements = None;
    for &at in &writers[1..] {
        if elements.is_some() {
            return None;
        }
        match &list[at].kind {
            StmtKind::Assign { path, value, .. } if path.is_empty() => {
                whole = Some(before(value, slot, whole.as_ref())?);
                settled(at, value).then_some(())?;
            }
            _ => {
                let mut filled = filling(&list[at], slot)?;
                let bounds = filled.loops.iter().all(|(_, low, high)| settled(at, low) && settled(at, high));
                let settled = bounds && settled(at, &filled.value);
                (covers(declared, &filled) && settled).then_some(())?;
                filled.value = before(&filled.value, slot, whole.as_ref())?;
                elements = Some(filled);
            }
        }
    }
    let meaning = match elements {
        Some(elements) => Meaning::Elements(elements),
        None => Meaning::Whole(whole.filter(|_| is_container(declared))?),
    };
    let fits = match &list[reader].kind {
        StmtKind::For(own) => own.parallel && reads_elements(&list[reader], own, slot),
        StmtKind::Terms { body, .. } => body.iter().filter(|stmt| stmt.reads(slot)).count() == 1,
        _ => false,
    };
    fits.then_some(Found { slot, meaning, writers, reader })
}

/// An expression with what a variable was before in the place of the variable, unless it becomes too long by that.
fn before(value: &Node, slot: Slot, old: Option<&Node>) -> Option<Node> {
    match old {
        Some(old) if value.size() + value.uses(slot) * old.size() <= MOST_NODES => Some(value.clone().with(slot, old)),
        _ => (!value.reads(slot)).then(|| value.clone()),
    }
}

/// A nest of loops with nothing in it but an assignment to the element that all loop variables point to. It may look
/// at the same element.
fn filling(stmt: &Stmt, variable: Slot) -> Option<Filled> {
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
            StmtKind::Assign { slot, path, value, .. } if *slot == variable => {
                let [Step::Index(indices)] = &path[..] else { return None };
                let mut loops = Vec::new();
                for index in indices {
                    let counter = variable_of(index)?;
                    loops.push(ranges.iter().find(|(s, ..)| *s == counter)?.clone());
                }
                let mut slots: Vec<Slot> = loops.iter().map(|(slot, ..)| *slot).collect();
                let own = |node: &Node| is_element(node, *slot, &slots);
                let plain = only_through(value, *slot, &own);
                slots.sort_unstable();
                slots.dedup();
                let bounds = || ranges.iter().flat_map(|(_, low, high)| [low, high]);
                let rectangular = ranges.iter().all(|(slot, ..)| bounds().all(|node| !node.reads(*slot)));
                let fits = slots.len() == ranges.len() && loops.len() == ranges.len();
                let fits = fits && rectangular && plain && bounds().all(|node| !node.reads(*slot));
                return fits.then(|| Filled { slot: *slot, loops, value: value.clone() });
            }
            _ => return None,
        }
    }
}

/// The variable that an index is.
fn variable_of(index: &Index) -> Option<Slot> {
    match index {
        Index::Single(Node { kind: Kind::Variable { slot, .. }, .. }) => Some(*slot),
        _ => None,
    }
}

/// Whether an expression is the element of a variable at these counters.
fn is_element(node: &Node, slot: Slot, counters: &[Slot]) -> bool {
    let Kind::Index { base, indices } = &node.kind else { return false };
    matches!(&base.kind, Kind::Variable { slot: s, .. } if *s == slot)
        && indices.iter().map(variable_of).eq(counters.iter().map(|&counter| Some(counter)))
}

/// Whether an expression looks at a variable only through parts of a certain kind.
fn only_through(node: &Node, slot: Slot, kind: &impl Fn(&Node) -> bool) -> bool {
    if kind(node) {
        return true;
    }
    let mut fine = !matches!(&node.kind, Kind::Variable { slot: s, .. } if *s == slot);
    node.children(&mut |child| fine = fine && only_through(child, slot, kind));
    fine
}

/// Whether as many indices are used as the array has dimensions.
fn covers(declared: &Declared, filled: &Filled) -> bool {
    let Item::Cell { sizes, .. } = &declared.item else { return false };
    declared.arrays.len() + sizes.len() == filled.loops.len()
}

fn is_unconstrained(declared: &Declared) -> bool {
    matches!(&declared.item, Item::Cell { constraint: Constraint::None, .. })
}

/// A vector or matrix.
fn is_container(declared: &Declared) -> bool {
    let Item::Cell { cell, .. } = &declared.item else { return false };
    declared.arrays.is_empty() && *cell != Cell::Scalar
}

/// Puts statements that only add a scalar expression to the log density, one after the other, into one. Those with
/// loops in them stay alone: they are not compiled like the others, and must not keep them company.
pub fn gather_terms(list: Vec<Stmt>, code: &mut Code) -> Vec<Stmt> {
    let mut out: Vec<Stmt> = Vec::new();
    // Where the terms of this run of statements are.
    let mut gathered = None;
    for stmt in list {
        if !matches!(stmt.kind, StmtKind::Target { .. }) {
            gathered = None;
            out.push(stmt);
            continue;
        }
        let alone = has_control(code, &stmt);
        if let (false, Some(at)) = (alone, gathered)
            && let Some(Stmt { kind: StmtKind::Terms { body, .. }, .. }) = out.get_mut(at)
        {
            body.push(stmt);
            continue;
        }
        if !alone {
            gathered = Some(out.len());
        }
        let id = u32::try_from(code.loops).expect("few loops");
        code.loops += 1;
        let span = stmt.span;
        let kind = StmtKind::Terms { body: vec![stmt], id, inlinable: Vec::new(), filled: Vec::new() };
        out.push(Stmt { kind, span, pure: true });
    }
    out
}

/// Whether a loop looks at a variable only element by element.
fn reads_elements(stmt: &Stmt, for_loop: &For, slot: Slot) -> bool {
    fn statement(stmt: &Stmt, slot: Slot) -> bool {
        let element = |node: &Node| {
            let Kind::Index { base, indices } = &node.kind else { return false };
            let single = |index: &Index| matches!(index, Index::Single(node) if !node.reads(slot));
            matches!(&base.kind, Kind::Variable { slot: s, .. } if *s == slot) && indices.iter().all(single)
        };
        let mut fine = true;
        stmt.nodes(&mut |node| fine = fine && only_through(node, slot, &element));
        stmt.children(&mut |child| fine = fine && statement(child, slot));
        fine
    }
    let mut bounds = true;
    stmt.nodes(&mut |node| bounds = bounds && !node.reads(slot));
    bounds && for_loop.body.iter().all(|stmt| statement(stmt, slot))
}

/// Whether statements assign to something else than `own` that an expression looks at.
fn changes(list: &[Stmt], node: &Node, own: Slot) -> bool {
    if let Kind::Variable { slot, .. } = &node.kind
        && *slot != own
        && list.iter().any(|stmt| stmt.assigns(*slot))
    {
        return true;
    }
    let mut found = false;
    node.children(&mut |child| found = found || changes(list, child, own));
    found
}
