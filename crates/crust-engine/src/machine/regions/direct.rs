//! Programs that are one list from the unconstrained numbers to the log density.
//!
//! Where all statements are one region and all parameters are plain numbers, have bounds that are data, or are vectors
//! of a simple type (`special`), the list can begin with the unconstrained numbers: `x = a + exp(u)` is an operation like
//! any other, and its log Jacobian `u` a term of the prior. Such a program needs nothing of the machine, which matters
//! where it is small.

use std::sync::Arc;

use super::{MOST_ROOM, Region};
use crate::code::{Code, Constraint, Factor, Item};
use crate::ir::{FREE, Graph, Ref};
use crate::kernels::arithmetic::Arithmetic::{Add, Multiply, Subtract};
use crate::machine::symbolic::{to_symbol, unary_named};
use crate::machine::value::{Value, View};
use crate::machine::{Machine, Run, Stop, Variable};
use crate::memory::Block;

/// Bounds, or offset and multiplier, of one element; none where there is no bound.
type Sides = [Option<f64>; 2];

impl Machine {
    /// Makes the list, if the program is such.
    pub(super) fn trace_direct(&self, code: &Code) -> Option<Region> {
        let checked_in_list = code.transform.is_empty() == code.transformed_parameters.is_empty();
        if code.model.is_empty() || !checked_in_list {
            return None;
        }
        let mut room = self.trace_room();
        loop {
            match self.try_direct(code, room) {
                Err(Stop::Full) if room < MOST_ROOM => room *= 8,
                result => return result.ok(),
            }
        }
    }

    fn try_direct(&self, code: &Code, room: usize) -> Run<Region> {
        let all = 0..code.transform.len() + code.model.len();
        let mut machine = self.symbolic_machine(code, &all, room)?;
        machine.constrain_symbols(code)?;
        let region = machine.trace_statements(code, all);
        let region = region.map_err(|(_, stop)| stop)?;
        let fits = region.outputs.is_empty() && region.inputs.iter().all(|&(slot, _)| slot == FREE);
        if fits { Ok(region) } else { Err(Stop::LanesUnfit) }
    }

    /// Parameters as operations on unconstrained numbers.
    fn constrain_symbols(&mut self, code: &Code) -> Run<()> {
        if self.parameter_shapes.len() != code.parameters.len() {
            self.measure_parameters(code)?;
        }
        let mut at = 0;
        for (number, parameter) in code.parameters.iter().enumerate() {
            let (Some(shape), Item::Cell { constraint, .. }) =
                (self.parameter_shapes[number], &parameter.declared.item)
            else {
                return Err(Stop::LanesUnfit);
            };
            if let Constraint::Special(special) = constraint {
                let (cells, transform) = (shape.cells(), constraint.transform(shape.rows(), shape.columns()));
                let mut numbers = Vec::new();
                for _ in 0..cells {
                    let m: u32 = crate::memory::cast(transform.free_size());
                    let graph = self.graph();
                    let free: Vec<Ref> = (at..at + m).map(|k| graph.input(FREE, k)).collect();
                    at += m;
                    let cell = self.constrain_special(*special, &free, transform.constrained_size())?;
                    for x in cell {
                        numbers.push(self.number_of(x));
                    }
                }
                let block = self.uniform(&numbers)?;
                self.globals[parameter.slot as usize] = Variable::of(Value::Numbers(View { shape, block }));
                continue;
            }
            let (first, second) = self.constraint_sides(constraint)?;
            let mut numbers = Vec::new();
            for element in 0..shape.len() {
                let sides = [self.side(first, element)?, self.side(second, element)?];
                let jacobian = self.wanted.jacobian;
                let graph = self.graph();
                let free = graph.input(FREE, at);
                at += 1;
                numbers.push(to_symbol(constrained(graph, constraint, free, sides, jacobian)?));
            }
            let block = self.uniform(&numbers)?;
            self.globals[parameter.slot as usize] = Variable::of(Value::Numbers(View { shape, block }));
        }
        Ok(())
    }

    /// A bound of an element, if it is data.
    fn side(&self, block: Option<Block>, element: usize) -> Run<Option<f64>> {
        let Some(block) = block else { return Ok(None) };
        let view = View { shape: crust_math::functions::Shape::vector(block.count()), block };
        if !block.uniform() || self.is_symbolic(view) {
            return Err(Stop::LanesUnfit);
        }
        Ok(Some(self.arena.of(block, self.width)[if block.n == 1 { 0 } else { element }]))
    }

    /// Runs the list of the whole program, and returns it, and whether it holds for all lanes; nothing if there is none
    /// for what is wanted now.
    pub(crate) fn run_direct(&mut self, code: &Code, free: Block) -> Option<(DirectList, bool)> {
        if !self.plans_allowed(code) {
            return None;
        }
        let planned = self.planned()?;
        let plan = &self.plans[planned].plan;
        let region = plan.direct.as_ref()?;
        let list = DirectList { region: Arc::clone(region), planned, index: plan.regions.len(), free };
        let all = self.run_list(&list);
        Some((list, all))
    }

    /// Runs the list of the whole program; says `false` if lanes fail, and in `refused` whether these have to be run apart
    /// from the others.
    pub(crate) fn run_list(&mut self, list: &DirectList) -> bool {
        let mut room = self.take_room(list.planned, list.index);
        room.operands.clear();
        room.operands.push(list.free);
        self.execute_region(&list.region, &mut room, crate::ir::Pass::Both);
        self.refused = room.numbers.refused;
        self.give_room(list.planned, list.index, room);
        !self.split.contains(&false)
    }
}

/// The list of the whole program, to be run again as long as its operand stays where it is.
pub(crate) struct DirectList {
    region: Arc<Region>,
    /// Where its room is.
    planned: usize,
    index: usize,
    /// The unconstrained numbers.
    free: Block,
}

/// Adds a term to the prior.
pub(super) fn jacobian_term(graph: &mut Graph, x: Ref, wanted: bool) {
    if wanted {
        graph.add(x, Factor::Prior);
    }
}

/// The constrained number, as the table in `crust_math::transforms` has it; its log Jacobian becomes a term.
fn constrained(graph: &mut Graph, constraint: &Constraint, u: Ref, sides: Sides, jacobian: bool) -> Run<Ref> {
    let finite = |x: Option<f64>| x.filter(|x| x.is_finite());
    let (exp, inv_logit, log1p_exp) = (unary_named("exp")?, unary_named("inv_logit")?, unary_named("log1p_exp")?);
    match (constraint, sides) {
        (Constraint::None, _) => Ok(u),
        (Constraint::Lower(_), [lower, _]) => {
            let lower = graph.constant(finite(lower).ok_or(Stop::LanesUnfit)?);
            jacobian_term(graph, u, jacobian);
            let e = graph.unary(exp, u);
            Ok(graph.arithmetic(Add, lower, e))
        }
        (Constraint::Upper(_), [_, upper]) => {
            let upper = graph.constant(finite(upper).ok_or(Stop::LanesUnfit)?);
            jacobian_term(graph, u, jacobian);
            let e = graph.unary(exp, u);
            Ok(graph.arithmetic(Subtract, upper, e))
        }
        (Constraint::LowerUpper(..), [lower, upper]) => {
            let (Some(lower), Some(upper)) = (finite(lower), finite(upper)) else { return Err(Stop::LanesUnfit) };
            if lower >= upper {
                return Err(Stop::LanesUnfit);
            }
            // log logit⁻¹(u) + log logit⁻¹(−u) = −u − 2 log(1 + exp(−u))
            let minus = graph.negate(u);
            let softplus = graph.unary(log1p_exp, minus);
            let two = graph.constant(2.0);
            let twice = graph.arithmetic(Multiply, two, softplus);
            let slope = graph.arithmetic(Subtract, minus, twice);
            let width = graph.constant((upper - lower).ln());
            jacobian_term(graph, slope, jacobian);
            jacobian_term(graph, width, jacobian);
            let (p, width, lower) = (graph.unary(inv_logit, u), graph.constant(upper - lower), graph.constant(lower));
            let scaled = graph.arithmetic(Multiply, width, p);
            Ok(graph.arithmetic(Add, lower, scaled))
        }
        (Constraint::OffsetMultiplier(..), [offset, multiplier]) => {
            let (offset, multiplier) = (offset.unwrap_or(0.0), multiplier.unwrap_or(1.0));
            if !(offset.is_finite() && multiplier > 0.0 && multiplier.is_finite()) {
                return Err(Stop::LanesUnfit);
            }
            let log = graph.constant(multiplier.ln());
            jacobian_term(graph, log, jacobian);
            let (offset, multiplier) = (graph.constant(offset), graph.constant(multiplier));
            let scaled = graph.arithmetic(Multiply, multiplier, u);
            Ok(graph.arithmetic(Add, offset, scaled))
        }
        (Constraint::Special(_), _) => Err(Stop::LanesUnfit),
    }
}
