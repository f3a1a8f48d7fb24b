//! Recurrences: loops whose iterations look at elements that earlier ones have assigned, such as `s[t] = f(s[t - 1])`.
//!
//! Iterations run one after the other, so that only lanes run side by side. What is compiled is the same: straight-line
//! code instead of a walk through the program in each iteration. Going back needs the values that each iteration saw.
//! They are still there if no element is assigned twice and none is looked at before it is assigned; both are known
//! from the positions.

use std::collections::{HashMap, HashSet};

use super::builder::Builder;
use super::locals::renewed;
use super::space::Space;
use super::statements::Compiler;
use super::{Fit, Obstacle};
use crate::code::{For, Kind, Node, Slot, Stmt, StmtKind};
use crate::flat::{Flat, Step, Strip, Uniform};
use crate::machine::{Machine, Value};

/// A step of an iteration, as a point in time.
type Time = (usize, usize);

impl Machine {
    pub(super) fn compile_recurrence(&mut self, for_loop: &For) -> Fit<Flat> {
        let mut kept = Vec::new();
        let mut declared = HashSet::new();
        for_loop.body.iter().for_each(|stmt| assigned(stmt, &mut kept, &mut declared));
        kept.retain(|slot| !declared.contains(slot));
        if for_loop.body.iter().any(is_ordered) {
            return Err(Obstacle::Unfit);
        }
        let numbers = |slot: &Slot| matches!(self.variable(*slot).value, Value::Numbers(_));
        if kept.is_empty() || !kept.iter().all(numbers) {
            return Err(Obstacle::Unfit);
        }
        let renewed = renewed(&for_loop.body);
        let mut compiler = Compiler { renewed, kept, ..Compiler::new(self, &Space::default()) };
        for slot in compiler.kept.clone() {
            compiler.stored(slot, for_loop.body[0].span)?;
        }
        compiler.recurrence(for_loop, &Space { iterations: 1, loops: Vec::new() })?;
        let Compiler { flat, .. } = compiler;
        let fits = flat.strips.iter().all(|strip| keeps_its_past(&flat, strip));
        if fits { Ok(flat) } else { Err(Obstacle::Unfit) }
    }
}

impl Compiler<'_> {
    /// A nest of loops is one list of iterations; other loops inside are unrolled.
    fn recurrence(&mut self, for_loop: &For, space: &Space) -> Fit<()> {
        let bounds = self.bounds(&for_loop.over, space)?;
        let space = space.inside(for_loop.slot, &bounds[0], &bounds[1])?;
        if space.iterations == 0 {
            return Ok(());
        }
        let mut body = &for_loop.body[..];
        while let [Stmt { kind: StmtKind::Block(inside), .. }] = body {
            body = inside;
        }
        if let [Stmt { kind: StmtKind::For(inner), .. }] = body {
            return self.recurrence(inner, &space);
        }
        self.open(&space);
        let mut declared = HashSet::new();
        body.iter().try_for_each(|stmt| self.simple(stmt, &mut declared))?;
        let builder = std::mem::replace(&mut self.builder, Builder::new(&Space::default()));
        let strip = Strip { recurrent: true, ..builder.finish() };
        if strip.steps.iter().any(Step::adds) {
            // Terms of the log density would have to wait for the way back.
            return Err(Obstacle::Unfit);
        }
        self.flat.strips.push(strip);
        Ok(())
    }
}

/// Whether each iteration has to compute something anew, even if it looks the same: random draws, and functions that
/// may draw.
fn is_ordered(stmt: &Stmt) -> bool {
    fn node_is_ordered(node: &Node) -> bool {
        let mut found = matches!(node.kind, Kind::Random(..) | Kind::User { .. } | Kind::Target);
        node.children(&mut |child| found = found || node_is_ordered(child));
        found
    }
    let mut found = false;
    stmt.nodes(&mut |node| found = found || node_is_ordered(node));
    stmt.children(&mut |child| found = found || is_ordered(child));
    found
}

/// The variables that are assigned to, and those that are declared.
fn assigned(stmt: &Stmt, found: &mut Vec<Slot>, declared: &mut HashSet<Slot>) {
    match &stmt.kind {
        StmtKind::Assign { slot, .. } if !found.contains(slot) => found.push(*slot),
        StmtKind::Declare { slot, .. } => {
            declared.insert(*slot);
        }
        _ => {}
    }
    stmt.children(&mut |child| assigned(child, found, declared));
}

/// Whether every element of assigned variables is assigned once, and looked at only later or not assigned at all.
fn keeps_its_past(flat: &Flat, strip: &Strip) -> bool {
    let is_stored = |operand: usize| flat.stored.iter().any(|stored| stored.operand == operand);
    let mut assigned: HashMap<(usize, u32), Time> = HashMap::new();
    for (at, step) in strip.steps.iter().enumerate() {
        let Step::Store { operand, elements, .. } = step else { continue };
        for (iteration, &element) in elements.iter().enumerate() {
            if assigned.insert((*operand, element), (iteration, at)).is_some() {
                return false;
            }
        }
    }
    let seen = |operand: usize, element: u32, time: Time| {
        assigned.get(&(operand, element)).is_none_or(|written| *written < time)
    };
    let in_time = |(at, step): (usize, &Step)| match step {
        Step::Gather { from, .. } if is_stored(from.operand()) => {
            from.elements().iter().enumerate().all(|(iteration, &e)| seen(from.operand(), e, (iteration, at)))
        }
        Step::RowDot { operand, .. } => !is_stored(*operand),
        Step::PairDot { lists, .. } => !is_stored(lists.a.operand()) && !is_stored(lists.b.operand()),
        _ => true,
    };
    let constant = |uniform: &Uniform| match uniform {
        Uniform::Operand { operand, element } => {
            !is_stored(*operand) || u32::try_from(*element).is_ok_and(|e| !assigned.contains_key(&(*operand, e)))
        }
        _ => true,
    };
    strip.steps.iter().enumerate().all(in_time) && strip.uniforms.iter().all(|(_, uniform)| constant(uniform))
}
