//! Which statements are run as lists of operations, and how.
//!
//! After the first evaluation it is known which loops are flat. What is neither flat nor a large vectorised statement
//! becomes a region: neighbouring statements that are traced together (`symbolic`) when the machine first comes to
//! them. A statement that cannot be traced is left to the machine, which parts the region in two. Variables that only a
//! region looks at are never stored. Where a list does not hold for a lane, or something is not finite, the machine
//! runs everything for that lane: it knows what to say.

mod choice;
mod direct;
mod room;
mod special;
mod told;

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use crust_math::functions::Shape;

use super::flat::Compiled;
use super::statements::Flow;
use super::symbolic::{Tracer, to_symbol};
use super::tape::Entry;
use super::value::{Value, View};
use super::{Machine, Own, Run, Stop, Variable, Wanted, own};
use crate::code::{Code, Slot, Stmt, StmtKind};
use crate::ir;
use crate::lower::has_control;
use crate::memory::Flags;
use choice::{
    changes, gives_value, is_bare, is_checked, is_constrained, is_special, looks_at, stays_flat, unit, units,
};
pub(crate) use direct::DirectList;
use room::Room;
pub(super) use special::is_guarded;

/// Which terms belong to the log density: constants dropped, Jacobian added.
type Key = (bool, bool);

/// Complete plans.
pub(super) type Shared = Arc<Mutex<Vec<(Key, Arc<Plan>)>>>;

/// Larger statements without loops and functions are left to the machine, whose operations work on whole vectors.
const VECTORISED: usize = 12_000;

/// How much room a trace may take, in numbers.
const MOST_ROOM: usize = 1 << 25;

/// What is run as lists: ranges of statements, those of the transformed parameters first.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    regions: Vec<(Range<usize>, Option<Arc<Region>>)>,
    /// The whole program, if it is one list.
    direct: Option<Arc<Region>>,
    /// Whether that was tried.
    tried: bool,
}

impl Plan {
    fn new(ways: &[bool]) -> Self {
        let mut regions = Vec::new();
        let mut first = 0;
        for group in ways.chunk_by(|a, b| a == b) {
            if group[0] {
                regions.push((first..first + group.len(), None));
            }
            first += group.len();
        }
        Self { regions, direct: None, tried: false }
    }

    fn complete(&self) -> bool {
        self.regions.iter().all(|(_, region)| region.is_some())
    }

    /// Whether all statements are one region.
    fn whole(&self, code: &Code) -> bool {
        let all = 0..code.transform.len() + code.model.len();
        matches!(&self.regions[..], [(range, Some(_))] if *range == all)
    }

    /// Leaves regions that compute nothing to the machine.
    fn without_bare(&mut self, code: &Code) {
        self.regions.retain(|(range, region)| region.is_some() || !range.clone().all(|at| is_bare(unit(code, at))));
    }

    /// Leaves a statement to the machine.
    fn part(&mut self, at: usize, unit: usize) {
        let (range, _) = self.regions.remove(at);
        let parts = [range.start..unit, unit + 1..range.end];
        for part in parts.into_iter().rev().filter(|part| !part.is_empty()) {
            self.regions.insert(at, (part, None));
        }
    }
}

/// A plan with room to run it.
#[derive(Debug)]
pub(super) struct Planned {
    key: Key,
    plan: Own<Plan>,
    /// Each is taken out while it is in use.
    rooms: Vec<Option<Box<Room>>>,
    published: bool,
}

/// A list with what it has to do with variables.
#[derive(Debug)]
pub(super) struct Region {
    list: ir::List,
    /// The variables that inputs are elements of, with their shapes.
    inputs: Vec<(u32, Shape)>,
    outputs: Vec<Output>,
}

/// A variable that others look at afterwards.
#[derive(Clone, Copy, Debug)]
struct Output {
    slot: u32,
    shape: Shape,
    declared: u32,
}

impl Machine {
    fn regions(&self) -> impl Iterator<Item = &Region> {
        self.plans.iter().flat_map(|planned| &planned.plan.regions).filter_map(|(_, region)| region.as_deref())
    }

    /// How many regions are run as lists.
    pub(crate) fn lists(&self) -> usize {
        self.regions().count()
    }

    /// How many numbers lists compute for one lane.
    pub(crate) fn list_work(&self) -> usize {
        self.regions().map(|region| region.list.work()).max().unwrap_or(0)
    }

    /// Whether instructions have few items, where the whole program is a list.
    pub(crate) fn has_thin_list(&self) -> Option<bool> {
        self.plans.iter().find_map(|planned| Some(planned.plan.direct.as_ref()?.list.is_thin()))
    }

    fn key(&self) -> Key {
        (self.wanted.propto, self.wanted.jacobian)
    }

    fn plans_allowed(&self, code: &Code) -> bool {
        self.lists_on && self.flat_allowed() && self.totals.is_some() && !code.reads_target && !code.forward
    }

    /// The plan for what is wanted now, if there is one.
    fn planned(&mut self) -> Option<usize> {
        let key = self.key();
        let found = self.plans.iter().position(|planned| planned.key == key);
        found.or_else(|| {
            let shared = self.shared_plans.lock().unwrap_or_else(PoisonError::into_inner);
            let plan = shared.iter().find(|(k, _)| *k == key).map(|(_, plan)| own(plan));
            drop(shared);
            self.plans.push(Planned { key, plan: plan?, rooms: Vec::new(), published: true });
            Some(self.plans.len() - 1)
        })
    }

    /// Runs the program for the log density.
    pub(crate) fn run_program(&mut self, code: &Code) -> Run<()> {
        let planned = if self.plans_allowed(code) { self.planned() } else { None };
        let Some(planned) = planned else {
            self.statements(&code.transform)?;
            self.check_transformed(code)?;
            return self.statements(&code.model).map(|_| ());
        };
        let plan = Arc::clone(&self.plans[planned].plan);
        let (boundary, all) = (code.transform.len(), code.transform.len() + code.model.len());
        let (mut at, mut checked) = (0, false);
        for (index, (range, region)) in plan.regions.iter().enumerate() {
            self.stretch_of_program(code, at..range.start, &mut checked)?;
            // A region that goes on into the model has the checks in it.
            if range.start >= boundary && !checked {
                self.check_transformed(code)?;
                checked = true;
            }
            if region.is_none() {
                self.make_region(code, planned, index)?;
            }
            let plan = Arc::clone(&self.plans[planned].plan);
            let Some(region) = &plan.regions[index].1 else { return Err(Stop::Again) };
            self.run_region(region, planned, index)?;
            checked |= range.end > boundary;
            at = range.end;
        }
        self.stretch_of_program(code, at..all, &mut checked)?;
        if !checked {
            self.check_transformed(code)?;
        }
        Ok(())
    }

    /// Statements that are not run as lists.
    fn stretch_of_program(&mut self, code: &Code, range: Range<usize>, checked: &mut bool) -> Run<()> {
        for at in range {
            if at >= code.transform.len() && !*checked {
                self.check_transformed(code)?;
                *checked = true;
            }
            self.statements(std::slice::from_ref(unit(code, at)))?;
        }
        Ok(())
    }

    fn check_transformed(&mut self, code: &Code) -> Run<()> {
        for quantity in &code.transformed_parameters {
            let value = self.globals[quantity.slot as usize].value;
            self.check_constraint(&quantity.declared, value)?;
        }
        Ok(())
    }

    /// Finds out what is to be run as lists, after an evaluation that went through. Says whether it has to be begun
    /// again.
    pub(crate) fn make_plan(&mut self, code: &Code) -> bool {
        if !self.plans_allowed(code) {
            return false;
        }
        let known = self.plans.len();
        if let Some(at) = self.planned() {
            let plan = &self.plans[at].plan;
            if self.plans.len() > known {
                // Another thread has made it in the meantime. This evaluation went on without it, and would have other
                // last digits than any other.
                return plan.direct.is_some() || !plan.regions.is_empty();
            }
            if !plan.tried && plan.complete() {
                let direct = if plan.whole(code) { self.trace_direct(code).map(Arc::new) } else { None };
                let begin_again = direct.is_some();
                let mut plan = (**self.plans[at].plan).clone();
                (plan.direct, plan.tried) = (direct, true);
                self.plans[at].plan = own(&Arc::new(plan));
                if begin_again {
                    return true;
                }
            }
            let Planned { key, plan, published, .. } = &mut self.plans[at];
            if !*published && plan.complete() {
                *published = true;
                let mut shared = self.shared_plans.lock().unwrap_or_else(PoisonError::into_inner);
                if !shared.iter().any(|(k, _)| k == key) {
                    shared.push((*key, Arc::clone(plan)));
                }
            }
            return false;
        }
        let ways: Vec<bool> = units(code).map(|stmt| self.wants_list(stmt)).collect();
        let mut plan = Plan::new(&ways);
        // A list has no way to check that a matrix is positive definite, say.
        let boundary = code.transform.len();
        if code.transformed_parameters.iter().any(|q| is_special(&q.declared) && !is_checked(&q.declared)) {
            let cut = |(range, _): (Range<usize>, _)| match range {
                r if r.start < boundary && boundary < r.end => vec![(r.start..boundary, None), (boundary..r.end, None)],
                r => vec![(r, None)],
            };
            plan.regions = plan.regions.into_iter().flat_map(cut).collect();
        }
        let begin_again = !plan.regions.is_empty();
        let plan = own(&Arc::new(plan));
        self.plans.push(Planned { key: self.key(), plan, rooms: Vec::new(), published: false });
        begin_again
    }

    /// Whether a statement should be part of a region.
    fn wants_list(&self, stmt: &Stmt) -> bool {
        let flat = |id: u32| match &self.loops[id as usize].flat {
            Compiled::Ready(flat) => Some(Arc::clone(flat)),
            _ => None,
        };
        match &stmt.kind {
            StmtKind::For(for_loop) => flat(for_loop.id).is_none_or(|flat| !stays_flat(&flat)),
            StmtKind::Terms { id, .. } => flat(*id).is_none_or(|flat| !stays_flat(&flat)),
            StmtKind::Inlinable { slot, id, .. } => {
                flat(*id).is_none_or(|flat| !stays_flat(&flat) || !flat.inlined.contains(slot))
            }
            _ => true,
        }
    }

    /// Makes the list of a region, now that the machine has come to it.
    fn make_region(&mut self, code: &Code, planned: usize, index: usize) -> Run<()> {
        let range = self.plans[planned].plan.regions[index].0.clone();
        let found = self.trace_region(code, range);
        let mut plan = (**self.plans[planned].plan).clone();
        let result = match found {
            Ok(region) => {
                plan.regions[index].1 = Some(Arc::new(region));
                Ok(())
            }
            Err(unit) => {
                plan.part(index, unit);
                plan.without_bare(code);
                Err(Stop::Again)
            }
        };
        self.plans[planned].plan = own(&Arc::new(plan));
        result
    }

    /// A machine with symbols in the place of what depends on parameters, as far as some statements look at it: a
    /// covariance matrix that others have nothing to do with may have a million elements.
    fn symbolic_machine(&self, code: &Code, range: &Range<usize>, room: usize) -> Run<Self> {
        let mut machine = self.duplicate(room);
        machine.tracer = Some(Box::new(Tracer::default()));
        machine.clear(1, Wanted { gradient: false, ..self.wanted });
        let boundary = code.transform.len();
        let checks = range.start < boundary && boundary < range.end;
        for (slot, variable) in self.globals.iter().enumerate() {
            let name = Slot::Global(crate::memory::cast(slot));
            let needed = || {
                range.clone().any(|at| looks_at(unit(code, at), name))
                    || checks && code.transformed_parameters.iter().any(|quantity| quantity.slot as usize == slot)
            };
            // The same in all lanes now, but not always.
            let chosen = || {
                let before = || (0..range.start).map(|at| unit(code, at));
                code.by_parameters.contains(&name) && before().any(|stmt| gives_value(stmt, name))
            };
            let value = match variable.value {
                Value::Numbers(view) if self.arena.is_constant(view.block) && !chosen() => continue,
                Value::Numbers(_) if !needed() => Value::Unset,
                Value::Numbers(view) if view.block.uniform() && chosen() => Value::Unset,
                Value::Numbers(view) if view.block.uniform() => {
                    let numbers = self.arena.of(view.block, self.width).to_vec();
                    Value::Numbers(View { shape: view.shape, block: machine.uniform(&numbers)? })
                }
                Value::Numbers(view) => {
                    let (operand, count) = (crate::memory::cast(slot), crate::memory::cast(view.block.count()));
                    let graph = machine.graph();
                    let each = (0..count).map(|element| to_symbol(graph.input(operand, element)));
                    let numbers: Vec<f64> = each.collect();
                    Value::Numbers(View { shape: view.shape, block: machine.uniform(&numbers)? })
                }
                Value::Tuple { first, .. } if (first as usize) < self.constant_tuples => continue,
                _ => Value::Unset,
            };
            machine.globals[slot] = Variable { value, ..*variable };
        }
        Ok(machine)
    }

    /// Makes the list of some statements, or says which one does not fit.
    fn trace_region(&self, code: &Code, range: Range<usize>) -> Result<Region, usize> {
        let mut room = self.trace_room();
        loop {
            match self.try_trace(code, range.clone(), room) {
                Err((_, Stop::Full)) if room < MOST_ROOM => room *= 8,
                Err((unit, _)) => return Err(unit),
                Ok(region) => return Ok(region),
            }
        }
    }

    fn try_trace(&self, code: &Code, range: Range<usize>, room: usize) -> Result<Region, (usize, Stop)> {
        let machine = self.symbolic_machine(code, &range, room).map_err(|stop| (range.start, stop))?;
        machine.trace_statements(code, range)
    }

    /// The list of some statements, by a machine with symbols.
    fn trace_statements(mut self, code: &Code, range: Range<usize>) -> Result<Region, (usize, Stop)> {
        let machine = &mut self;
        let shape = |variable: &Variable| match variable.value {
            Value::Numbers(view) => view.shape,
            Value::Tuple { .. } | Value::Unset => Shape::SCALAR,
        };
        let shapes: Vec<Shape> = machine.globals.iter().map(shape).collect();
        for at in range.clone() {
            let stmt = unit(code, at);
            // Of a statement that is left to the machine no more is traced than it takes to know that.
            let graph = machine.graph();
            graph.limit = (!has_control(code, stmt)).then(|| (graph.size() + VECTORISED).min(ir::LONGEST));
            let fits = |machine: &mut Self| {
                if at == code.transform.len() && range.start < at {
                    machine.check_transformed(code)?;
                }
                if machine.statements(std::slice::from_ref(stmt))? != Flow::Next {
                    return Err(Stop::LanesUnfit);
                }
                if machine.graph().useless { Err(Stop::LanesUnfit) } else { Ok(()) }
            };
            fits(machine).map_err(|stop| (at, stop))?;
        }
        let outputs = machine.region_outputs(code, &range).map_err(|stop| (range.start, stop))?;
        let mut graph = machine.tracer.take().map(|tracer| tracer.graph).unwrap_or_default();
        ir::simplify(&mut graph);
        ir::nest(&mut graph);
        ir::fuse(&mut graph);
        let mut list = ir::schedule(&graph);
        let mut inputs: Vec<u32> = list.inputs.iter().map(|(slot, _)| *slot).collect();
        inputs.dedup();
        list.number_operands(|operand| crate::memory::cast(inputs.binary_search(&operand).unwrap_or(0)));
        let shape = |slot: u32| shapes.get(slot as usize).copied().unwrap_or(Shape::SCALAR);
        let inputs = inputs.into_iter().map(|slot| (slot, shape(slot))).collect();
        Ok(Region { list, inputs, outputs })
    }

    /// The variables that statements outside of a region look at, or that have to be checked.
    fn region_outputs(&mut self, code: &Code, range: &Range<usize>) -> Run<Vec<Output>> {
        let mut outputs = Vec::new();
        for slot in 0..self.globals.len() {
            let name = Slot::Global(crate::memory::cast(slot));
            let changed = range.clone().any(|at| changes(unit(code, at), name));
            if !changed {
                continue;
            }
            let checked =
                code.transformed_parameters.iter().any(|q| q.slot as usize == slot && is_constrained(&q.declared));
            let later = units(code).enumerate().any(|(at, stmt)| at >= range.end && looks_at(stmt, name));
            let needed = later || (checked && range.end <= code.transform.len());
            if !needed {
                continue;
            }
            match self.globals[slot].value {
                Value::Numbers(view) => {
                    let refs = self.operations(view);
                    self.graph().outputs.extend(refs);
                    let declared = self.globals[slot].declared;
                    outputs.push(Output { slot: crate::memory::cast(slot), shape: view.shape, declared });
                }
                Value::Unset => {}
                Value::Tuple { .. } => return Err(Stop::LanesUnfit),
            }
        }
        Ok(outputs)
    }

    fn run_region(&mut self, region: &Region, planned: usize, index: usize) -> Run<()> {
        let mut room = self.take_room(planned, index);
        let ready = self.region_blocks(region, &mut room);
        if ready.is_ok() {
            let pass = if region.outputs.is_empty() { ir::Pass::Both } else { ir::Pass::Forward };
            self.execute_region(region, &mut room, pass);
        }
        self.give_room(planned, index, room);
        ready?;
        if self.rejected.any() {
            for (fine, rejected) in self.split.iter_mut().zip(self.rejected.iter()) {
                *fine |= rejected.is_some();
            }
        }
        if self.split.contains(&false) {
            return Err(Stop::FlatFails);
        }
        if !region.outputs.is_empty() && self.recording {
            self.tape.push(Entry::Region(crate::memory::cast(index)));
        }
        Ok(())
    }

    /// The blocks that inputs come from, and new ones for outputs.
    fn region_blocks(&mut self, region: &Region, room: &mut Room) -> Run<()> {
        room.operands.clear();
        room.outputs.clear();
        for &(slot, shape) in &region.inputs {
            let variable = &mut self.globals[slot as usize];
            variable.read = true;
            let Value::Numbers(view) = variable.value else { return Err(Stop::LanesUnfit) };
            if view.shape != shape {
                return Err(self.other_shape());
            }
            room.operands.push(view.block);
        }
        let mut places = region.list.outputs.iter();
        for output in &region.outputs {
            let n = output.shape.len();
            let block = self.allocate(n, Flags::LANES.with(Flags::GRADIENT))?;
            let rows = self.arena.of_mut(block, self.width).chunks_exact_mut(self.width.lanes);
            for (row, place) in rows.zip(places.by_ref()) {
                if let ir::Place::Constant(x) = place {
                    row.fill(*x);
                }
            }
            room.outputs.extend((0..crate::memory::cast(n)).map(|element| (block, element)));
            let value = Value::Numbers(View { shape: output.shape, block });
            self.globals[output.slot as usize] = Variable { value, declared: output.declared, read: true };
        }
        Ok(())
    }

    fn execute_region(&mut self, region: &Region, room: &mut Room, pass: ir::Pass) {
        let call = ir::Call {
            list: &region.list,
            operands: &room.operands,
            outputs: &room.outputs,
            lanes: self.width.lanes,
            totals: self.totals.as_ref(),
            gradient: self.recording,
            pass,
        };
        let (values, mut adjoints) = self.arena.both();
        let base = adjoints.base();
        ir::run(call, values, (adjoints.all(), base), &mut room.numbers, &mut self.split);
    }

    /// Goes back over a region. Lanes without a derivative are kept in mind.
    pub(super) fn reverse_region(&mut self, index: u32) {
        let (key, index) = (self.key(), index as usize);
        let Some(planned) = self.plans.iter().position(|planned| planned.key == key) else { return };
        let plan = Arc::clone(&self.plans[planned].plan);
        let Some(region) = &plan.regions[index].1 else { return };
        let mut room = self.take_room(planned, index);
        self.execute_region(region, &mut room, ir::Pass::Backward);
        self.give_room(planned, index, room);
        self.late.resize(self.width.lanes, true);
        self.late.iter_mut().zip(&self.split).for_each(|(late, fine)| *late &= fine);
    }

    /// Whether all lanes have a derivative, as far as lists know.
    pub(crate) fn finish_regions(&mut self) -> Run<()> {
        if self.late.iter().zip(self.rejected.iter()).any(|(fine, rejected)| !fine && rejected.is_none()) {
            self.split.clone_from(&self.late);
            return Err(Stop::FlatFails);
        }
        Ok(())
    }
}
