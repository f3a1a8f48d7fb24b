//! What a plan has to know about statements.

use super::special::is_guarded;
use crate::code::{Code, Constraint, Declared, Filled, Item, Node, Slot, Stmt, StmtKind};
use crate::flat::{Flat, Function, Step, Strip};

/// Flat loops that compute fewer numbers become part of lists.
const LITTLE: usize = 500;

/// Squares of fewer observations are quicker in a list, which has one for each.
const FEW_OBSERVATIONS: usize = 48;

/// All statements: transformed parameters, then the model.
pub fn units(code: &Code) -> impl Iterator<Item = &Stmt> {
    code.transform.iter().chain(&code.model)
}

pub fn unit(code: &Code, at: usize) -> &Stmt {
    let n = code.transform.len();
    if at < n { &code.transform[at] } else { &code.model[at - n] }
}

/// Whether a statement is nothing but a declaration: a list of such statements computes nothing.
pub fn is_bare(stmt: &Stmt) -> bool {
    matches!(&stmt.kind, StmtKind::Declare { initial: None, .. })
}

/// Whether a statement looks at a variable, or stands for one that does.
pub fn looks_at(stmt: &Stmt, slot: Slot) -> bool {
    let mut found = stmt.reads(slot) || stmt.assigns(slot);
    found |= match &stmt.kind {
        StmtKind::For(own) => hidden(&own.inlinable, &own.filled, slot),
        StmtKind::Terms { inlinable, filled, .. } => hidden(inlinable, filled, slot),
        _ => false,
    };
    stmt.children(&mut |child| found = found || looks_at(child, slot));
    found
}

/// Whether what a loop or a term computes by itself depends on a variable.
fn hidden(inlinable: &[(Slot, Node)], filled: &[Filled], slot: Slot) -> bool {
    let filled = filled.iter().flat_map(|f| f.loops.iter().flat_map(|(_, a, b)| [a, b]).chain([&f.value]));
    inlinable.iter().map(|(_, node)| node).chain(filled).any(|node| node.reads(slot))
}

/// Whether a flat loop is better than a list. It is not where iterations need each other, where functions are computed
/// number by number, where terms are left that have loops in them, and where there is so little to do that getting
/// there costs more.
pub fn stays_flat(flat: &Flat) -> bool {
    let listed = |step: &Step| {
        let (Step::Density { density, .. } | Step::AddDensity { density, .. }) = step else { return false };
        matches!(density.function, Function::Binary(..) | Function::Ternary(_))
    };
    // Squares of many observations that were put together.
    let compressed = |strip: &Strip| {
        let fewer = |count| count > strip.iterations.max(FEW_OBSERVATIONS);
        strip.steps.iter().any(|step| matches!(step, Step::AddNormal(normal) if fewer(normal.count)))
    };
    let work: usize = flat.strips.iter().map(Strip::work).sum();
    !flat.hard
        && (work > LITTLE || flat.strips.iter().any(compressed))
        && !flat.strips.iter().any(|strip| strip.recurrent || strip.steps.iter().any(listed))
}

pub fn is_special(declared: &Declared) -> bool {
    matches!(&declared.item, Item::Cell { constraint: Constraint::Special(_), .. })
}

/// Whether a list can check the constraint of a special type.
pub fn is_checked(declared: &Declared) -> bool {
    matches!(&declared.item, Item::Cell { constraint, .. } if is_guarded(constraint))
}

pub fn is_constrained(declared: &Declared) -> bool {
    !matches!(&declared.item, Item::Cell { constraint: Constraint::None | Constraint::OffsetMultiplier(..), .. })
}

/// Whether a statement does more to a variable than to declare it.
pub fn gives_value(stmt: &Stmt, slot: Slot) -> bool {
    let mut found = matches!(&stmt.kind, StmtKind::Declare { slot: s, initial: Some(_), .. } if *s == slot);
    found |= stmt.assigns(slot);
    stmt.children(&mut |child| found = found || gives_value(child, slot));
    found
}

/// Whether a statement gives a variable a value.
pub fn changes(stmt: &Stmt, slot: Slot) -> bool {
    let mut found = match &stmt.kind {
        StmtKind::Declare { slot: s, .. } => *s == slot,
        _ => false,
    };
    found |= stmt.assigns(slot);
    stmt.children(&mut |child| found = found || changes(child, slot));
    found
}
