//! A program bound to data.

use std::sync::{Arc, OnceLock};

use crust_math::functions::Shape;
use crust_stan::ast::BlockKind;
use crust_stan::data::{Data, Limits};
use crust_stan::deep::on_deep_stack;
use crust_stan::diagnostics::Diagnostic;
use crust_stan::span::Span;
use crust_stan::typed::Program;

use crate::calculator::{Calculator, constant};
use crate::code::{Code, Kind, Node, Quantity, Stmt};
use crate::evaluator::Evaluator;
use crate::lower::lower;
use crate::machine::{Machine, Rejection, Stop, Value, Variable, View, Wanted};
use crate::memory::budget;
use crate::names::{Layout, layout};

/// Why a program cannot be run.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", .0.iter().map(|d| d.message.as_str()).collect::<Vec<_>>().join("; "))]
pub struct EngineError(pub Vec<Diagnostic>);

impl EngineError {
    pub(crate) fn one(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

/// What the engine lacks to run a program; nothing if it can.
pub fn unsupported(program: &Program) -> Vec<Diagnostic> {
    on_deep_stack(|| lower(program)).err().unwrap_or_default()
}

/// A program with its data: ready to be evaluated.
pub struct Model {
    pub(crate) code: Arc<Code>,
    /// A machine that holds the data, to be copied for every evaluator.
    machine: Machine,
    pub(crate) parameters: Vec<Layout>,
    pub(crate) transformed: Vec<Layout>,
    pub(crate) generated: Vec<Layout>,
    dimension: usize,
    /// Whether lanes have the same bits alone and in groups, once that was asked for.
    pub(crate) agree: OnceLock<bool>,
    /// What `transformed data` printed.
    pub messages: Vec<String>,
}

/// Room to begin with; evaluations ask for more as they need it.
const FIRST_ROOM: usize = 1 << 12;

impl Model {
    /// Binds a program to the data of its data block. `seed` is for random draws in `transformed data`.
    pub fn bind(program: &Program, data: &Data, seed: u64) -> Result<Self, EngineError> {
        on_deep_stack(|| {
            let code = lower(program).map_err(EngineError)?;
            Self::bind_code(program, code, data, seed)
        })
    }

    fn bind_code(program: &Program, code: Code, data: &Data, seed: u64) -> Result<Self, EngineError> {
        let code = Arc::new(code);
        let mut calculator = Calculator::knowing(program, data, Limits::default());
        calculator.draw(seed);
        calculator.transformed_data().map_err(|problem| EngineError::one(*problem))?;
        let messages = std::mem::take(&mut calculator.messages);
        let mut machine = Machine::new(&code);
        for kind in [BlockKind::Data, BlockKind::TransformedData] {
            for id in program.declared_in(kind) {
                let Some(given) = calculator.get(id) else { continue };
                let value = constant(&mut machine, given)
                    .ok_or_else(|| EngineError::one(impossible(given, program.variable(id).span)))?;
                machine.globals[id.0 as usize] = Variable::of(value);
            }
        }
        drop(calculator);
        machine.constant_tuples = machine.tuple_count();
        let mut binder = Binder { machine, code };
        binder.hoist();
        let Binder { mut machine, mut code } = binder;
        if let Some(chosen) = crate::lower::chosen(&code, &|condition| machine.truth(condition)) {
            code = Arc::new(chosen);
            machine.set_code(&code);
        }
        let mut table = |list: &[Quantity]| -> Result<Vec<Layout>, EngineError> {
            let mut layouts = Vec::new();
            for quantity in list {
                let found = with_room(&mut machine, |m| {
                    m.clear(1, PLAIN);
                    layout(m, quantity)
                })?;
                layouts.push(found);
            }
            Ok(layouts)
        };
        let parameters = table(&code.parameters)?;
        let transformed = table(&code.transformed_parameters)?;
        let generated = table(&code.generated_quantities)?;
        let dimension = parameters.iter().map(|p| p.free_size).sum();
        let agree = OnceLock::new();
        Ok(Self { code, machine, parameters, transformed, generated, dimension, agree, messages })
    }

    /// How many unconstrained numbers a point has.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The names of the unconstrained numbers, in order.
    pub fn unconstrained_names(&self) -> Vec<String> {
        self.parameters.iter().flat_map(Layout::free_names).collect()
    }

    /// Something that evaluates this model; each thread needs its own.
    pub fn evaluator(self: &Arc<Self>) -> Evaluator {
        Evaluator::new(Arc::clone(self), self.machine.duplicate(self.machine.arena.capacity()))
    }
}

/// No gradient, no Jacobian.
pub(crate) const PLAIN: Wanted = Wanted { propto: false, jacobian: false, gradient: false };

/// Runs `work`, with more room as long as there is too little.
pub(crate) fn with_room<T>(
    machine: &mut Machine,
    mut work: impl FnMut(&mut Machine) -> Result<T, Stop>,
) -> Result<T, EngineError> {
    loop {
        match work(machine) {
            Ok(value) => return Ok(value),
            Err(Stop::Full) => grow(machine)?,
            Err(Stop::Again) => machine.unsettle_loops(),
            Err(Stop::FlatFails) => {
                machine.unsettle_loops();
                machine.flat_on = false;
            }
            Err(Stop::Fatal(diagnostic)) => return Err(EngineError::one(*diagnostic)),
            Err(Stop::AllRejected) => {
                let rejection = machine.rejected.iter().flatten().next();
                return Err(EngineError::one(rejected(rejection)));
            }
            Err(Stop::TileParts | Stop::TileUnfit | Stop::LanesPart | Stop::LanesUnfit) => {
                let message = "one lane alone was taken apart";
                return Err(EngineError::one(Diagnostic::error("internal", message, Span::default())));
            }
        }
    }
}

/// As long as there is less room than this, there will be eight times as much: everything begins again each time.
const LITTLE_ROOM: usize = 1 << 17;

pub(crate) fn grow(machine: &mut Machine) -> Result<(), EngineError> {
    let capacity = machine.arena.capacity();
    let more = if capacity < LITTLE_ROOM { 8 * capacity } else { 2 * capacity };
    let room = machine.arena.highest().max(FIRST_ROOM).next_power_of_two().max(more);
    budget::check(room)
        .map_err(|error| EngineError::one(Diagnostic::error("too-large", error.to_string(), Span::default())))?;
    machine.arena.clear();
    machine.arena.reserve(room);
    machine.unsettle_loops();
    Ok(())
}

fn rejected(rejection: Option<&Rejection>) -> Diagnostic {
    match rejection {
        Some(r) => Diagnostic::error("rejected", r.message.clone(), r.span),
        None => Diagnostic::error("rejected", "the program rejected", Span::default()),
    }
}

/// Why the machine cannot have a value.
fn impossible(given: &crust_stan::value::Value, span: Span) -> Diagnostic {
    if let Some(why) = given.reason() {
        let message = format!("this variable has no value, because {}", why.reason);
        return Diagnostic::error("data-missing", message, span);
    }
    let message = format!("the engine has no complex numbers, and no values with more than {} dimensions", Shape::MOST);
    Diagnostic::error("not-supported", message, span)
}

/// Computes what depends on data only.
struct Binder {
    machine: Machine,
    code: Arc<Code>,
}

impl Binder {
    /// Computes every expression that depends on data only. One that fails is left for the place where it stands: it
    /// may never be reached.
    fn hoist(&mut self) {
        let code = Arc::clone(&self.code);
        let mut nodes = Vec::new();
        for list in [&code.transform, &code.model, &code.generate] {
            statements(list, &mut |index, node| nodes.push((index, node)));
        }
        for quantity in code.parameters.iter().chain(&code.transformed_parameters).chain(&code.generated_quantities) {
            quantity.declared.nodes(&mut |node| expression(node, &mut |index, node| nodes.push((index, node))));
        }
        for (index, node) in nodes {
            let result = with_room(&mut self.machine, |m| {
                m.clear(1, PLAIN);
                let value = m.eval(node)?;
                if m.rejected[0].is_some() { Err(Stop::AllRejected) } else { Ok(value) }
            });
            let Ok(value) = result else { continue };
            let saved = self.save(value);
            self.machine.clear(1, PLAIN);
            let value = self.keep(saved);
            self.machine.constant_tuples = self.machine.tuple_count();
            self.machine.hoisted[index as usize] = Some(value);
        }
        self.machine.clear(1, PLAIN);
        self.machine.messages.clear();
    }

    fn save(&self, value: Value) -> Saved {
        match value {
            Value::Numbers(view) => {
                let numbers = self.machine.arena.of(view.block, self.machine.width).to_vec();
                Saved::Numbers(view, numbers)
            }
            Value::Tuple { first, parts } => {
                Saved::Tuple((first..first + parts).map(|p| self.save(self.machine.tuple_part(p))).collect())
            }
            Value::Unset => Saved::Unset,
        }
    }

    fn keep(&mut self, saved: Saved) -> Value {
        match saved {
            Saved::Numbers(view, numbers) => {
                let block = self.machine.arena.constant(numbers.len(), numbers.into_iter());
                Value::Numbers(View { shape: view.shape, block })
            }
            Saved::Tuple(parts) => {
                let parts: Vec<Value> = parts.into_iter().map(|p| self.keep(p)).collect();
                self.machine.push_tuple(&parts)
            }
            Saved::Unset => Value::Unset,
        }
    }
}

/// A value outside of the machine.
enum Saved {
    Numbers(View, Vec<f64>),
    Tuple(Vec<Saved>),
    Unset,
}

type Visit<'a, 'v> = &'v mut dyn FnMut(u32, &'a Node);

/// Visits the hoisted expressions in statements.
fn statements<'a>(list: &'a [Stmt], visit: Visit<'a, '_>) {
    for stmt in list {
        stmt.nodes(&mut |node| expression(node, visit));
        stmt.children(&mut |child| statements(std::slice::from_ref(child), visit));
    }
}

/// Visits the hoisted expressions in an expression.
fn expression<'a>(node: &'a Node, visit: Visit<'a, '_>) {
    match &node.kind {
        Kind::Hoisted(index, inner) => visit(*index, inner),
        _ => node.children(&mut |child| expression(child, visit)),
    }
}
