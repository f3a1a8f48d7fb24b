//! Data-only code before anything is bound: sizes and bounds of declarations, transformed data.
//!
//! It runs on the machine that runs everything else, so that a program means one thing. What cannot be known yet
//! (random numbers, outcomes that are going to be simulated, what the engine lacks) is found in the program's text
//! ([`unknown`]), and what depends on it is not run. So whoever asks for a size gets the right number, an error of the
//! program with its place, or the reason why the number cannot be known.

mod constraints;
mod unknown;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crust_math::random::{Purpose, Stream, StreamKey};
use crust_stan::ast::{BinaryOp, BlockKind};
use crust_stan::data::{Data, Limits, Outcome, Violation};
use crust_stan::diagnostics::Diagnostic;
use crust_stan::span::Span;
use crust_stan::typed::{Expr, ExprKind, Origin, Place, Program, SizedType, Stmt, StmtKind, VariableId};
use crust_stan::value::{Unavailable, Value};

use crate::lower::{Pieces, analysis};
use crate::machine::{Machine, Stop, Variable};
use crate::model::{EngineError, PLAIN, with_room};

use unknown::expressions_of;
pub(crate) use values::constant;

/// What is known of the variables of a program, and what can be computed from that.
pub struct Calculator<'a> {
    program: &'a Program,
    limits: Limits,
    /// By [`VariableId`].
    values: Vec<Option<Value>>,
    /// Why variables are not known, those of transformed data among them.
    unknown: BTreeMap<VariableId, Arc<Unavailable>>,
    /// Variables of which not even the size is known.
    shapeless: BTreeSet<VariableId>,
    /// Made when it is first needed.
    desk: Option<Box<Desk<'a>>>,
    /// For random numbers; without it they are not known.
    stream: Option<Stream>,
    /// What the program printed.
    pub messages: Vec<String>,
    /// Statements that turned out to be more than the engine can do.
    lacking: Vec<(Span, Arc<Unavailable>)>,
}

/// The machine, and what it has been given.
struct Desk<'a> {
    pieces: Pieces<'a>,
    machine: Machine,
    /// How many functions it knows.
    functions: usize,
    /// Which variables the machine has, with their values of now.
    has: BTreeSet<VariableId>,
}

impl<'a> Calculator<'a> {
    pub fn new(program: &'a Program, limits: Limits) -> Self {
        Self {
            program,
            limits,
            values: vec![None; program.variables.len()],
            unknown: BTreeMap::new(),
            shapeless: BTreeSet::new(),
            desk: None,
            stream: None,
            messages: Vec::new(),
            lacking: Vec::new(),
        }
    }

    /// One that knows these data.
    pub fn knowing(program: &'a Program, data: &Data, limits: Limits) -> Self {
        let mut calculator = Self::new(program, limits);
        for (id, value) in (0..).map(VariableId).zip(data.values()) {
            if let Some(value) = value {
                crust_stan::data::Calculator::set(&mut calculator, id, value.clone());
            }
        }
        calculator
    }

    /// From now on random numbers are drawn.
    pub fn draw(&mut self, seed: u64) {
        self.stream = Some(StreamKey::new(seed, Purpose::TRANSFORMED_DATA).stream());
    }

    /// The value of every variable, by [`VariableId`].
    pub fn into_values(self) -> Vec<Option<Value>> {
        self.values
    }

    pub fn get(&self, id: VariableId) -> Option<&Value> {
        self.values.get(id.0 as usize)?.as_ref()
    }

    /// Runs the `transformed data` block and checks the constraints of its variables.
    pub fn transformed_data(&mut self) -> Outcome<()> {
        let program = self.program;
        self.block(program.block(BlockKind::TransformedData))?;
        for id in program.declared_in(BlockKind::TransformedData) {
            let variable = program.variable(id);
            if let Some(why) = self.unknown.get(&id) {
                let shape = self.get(id).and_then(Value::shape).filter(|_| !self.shapeless.contains(&id));
                self.values[id.0 as usize] =
                    Some(Value::Unavailable(Arc::new(Unavailable { shape, ..(**why).clone() })));
                continue;
            }
            let (Some(declared), Some(value)) = (&variable.declared, self.get(id).cloned()) else { continue };
            if let Some(violation) = constraints::violations(self, declared, &variable.name, &value)?.first() {
                let message = format!("{} at the end of transformed data", violation.message());
                return Err(Box::new(
                    Diagnostic::error("constraint-violated", message, variable.span)
                        .label(violation.requirement.clone()),
                ));
            }
        }
        Ok(())
    }

    /// Runs statements outside of loops: as many at once as can be.
    fn block(&mut self, statements: &[Stmt]) -> Outcome<()> {
        let mut waiting = Vec::new();
        self.add(statements, &mut waiting)?;
        self.run(waiting)
    }

    /// Adds statements to those that wait to be run. A branch that contains what is not known waits for what comes
    /// before it: it may not be taken.
    fn add(&mut self, statements: &[Stmt], waiting: &mut Vec<Stmt>) -> Outcome<()> {
        for stmt in statements {
            match &stmt.kind {
                _ if !self.is_touched(stmt) => {
                    self.regain(stmt);
                    waiting.push(stmt.clone());
                }
                StmtKind::Block(body) | StmtKind::Profile { body, .. } => self.add(body, waiting)?,
                StmtKind::If { branches, otherwise } => {
                    self.run(std::mem::take(waiting))?;
                    self.branch(branches, otherwise.as_deref(), waiting)?;
                }
                _ => waiting.extend(self.sift(stmt, false).unwrap_or_default()),
            }
        }
        Ok(())
    }

    fn branch(&mut self, branches: &[(Expr, Stmt)], otherwise: Option<&Stmt>, waiting: &mut Vec<Stmt>) -> Outcome<()> {
        for (i, (condition, body)) in branches.iter().enumerate() {
            let why = match self.value(condition)? {
                Value::Unavailable(why) => why,
                value if value.as_real() == Some(0.0) => continue,
                _ => return self.add(std::slice::from_ref(body), waiting),
            };
            branches[i..].iter().map(|(_, body)| body).chain(otherwise).for_each(|body| self.lose_assigned(body, &why));
            return Ok(());
        }
        otherwise.map_or(Ok(()), |body| self.add(std::slice::from_ref(body), waiting))
    }

    /// Runs statements of which everything is known. What turns out to be more than the engine can do is not known
    /// either.
    fn run(&mut self, mut statements: Vec<Stmt>) -> Outcome<()> {
        loop {
            if statements.is_empty() {
                return Ok(());
            }
            let problem = match self.try_run(&statements) {
                Err(problem) if is_lacking(&problem) && self.stream.is_none() => problem,
                other => return other,
            };
            let why = Unavailable { reason: problem.message.clone(), span: Some(problem.span), shape: None };
            let before = (self.unknown.len(), self.shapeless.len(), statements.len());
            self.lacking.push((problem.span, Arc::new(why)));
            let mut kept = Vec::new();
            for stmt in &statements {
                kept.extend(self.sift(stmt, false).unwrap_or_default());
            }
            if before == (self.unknown.len(), self.shapeless.len(), kept.len()) {
                // It is inside of a function: nobody can tell which of its calls it was.
                let why = Arc::clone(&self.lacking[self.lacking.len() - 1].1);
                statements.iter().for_each(|stmt| self.lose_assigned(stmt, &why));
                return Ok(());
            }
            statements = kept;
        }
    }

    fn try_run(&mut self, statements: &[Stmt]) -> Outcome<()> {
        let (mut mentioned, mut changed) = (BTreeSet::new(), BTreeSet::new());
        for stmt in statements {
            analysis::walk(stmt, &mut |s| {
                expressions_of(self.program, s, &mut |e| mentions(e, &mut mentioned));
                analysis::assigned_here(s, &mut changed);
            });
        }
        mentioned.extend(&changed);
        let declared: BTreeSet<VariableId> = statements.iter().filter_map(declares).collect();
        let known: BTreeSet<VariableId> =
            changed.iter().copied().filter(|id| self.outlives(*id) || declared.contains(id)).collect();
        let (program, stream, limits) = (self.program, self.stream.clone(), self.limits);
        let desk = self.desk();
        let mut code = Vec::new();
        for stmt in statements {
            code.extend(desk.pieces.statement(stmt)?);
        }
        self.load(&mentioned);
        let desk = self.desk();
        let machine = &mut desk.machine;
        machine.streams = stream.into_iter().collect();
        let before = machine.globals.clone();
        let streams = machine.streams.clone();
        let found = with_room(machine, |m| {
            // A run that is begun again finds and draws the same numbers again.
            m.streams.clone_from(&streams);
            m.messages.clear();
            m.count_steps(limits);
            m.clear(1, PLAIN);
            m.globals.clone_from(&before);
            for id in &changed {
                m.copy_global(id.0)?;
            }
            m.statements(&code)?;
            if m.rejected[0].is_some() { Err(Stop::AllRejected) } else { Ok(()) }
        });
        let messages = std::mem::take(&mut machine.messages);
        let streams = std::mem::take(&mut machine.streams);
        if found.is_ok() {
            let values: Vec<(VariableId, Value)> =
                known.iter().map(|id| (*id, values::of_variable(program, &desk.machine, *id))).collect();
            for (id, value) in values {
                self.values[id.0 as usize] = Some(value);
            }
        }
        let desk = self.desk();
        desk.machine.globals = before;
        desk.machine.clear(1, PLAIN);
        changed.iter().for_each(|id| {
            desk.has.remove(id);
        });
        self.stream = streams.into_iter().next();
        self.messages.extend(messages);
        found.map_err(|error| with_variable(at_least_near(first(error), statements), program, statements))
    }

    /// Whether a variable was there before the statements that are about to run, and will be there behind them.
    fn outlives(&self, id: VariableId) -> bool {
        let of_block = self.program.variable(id).origin == Origin::Block(BlockKind::TransformedData);
        of_block || self.get(id).is_some()
    }

    /// The value of an expression.
    fn value(&mut self, e: &Expr) -> Outcome<Value> {
        match &e.kind {
            ExprKind::Int(n) if i32::try_from(*n).is_ok() => {
                return Ok(Value::Int(i32::try_from(*n).unwrap_or_default()));
            }
            ExprKind::Real(x) => return Ok(Value::Real(*x)),
            _ => {}
        }
        if let Some(why) = self.reason(e) {
            return self.partly_known(e, why);
        }
        if let ExprKind::Variable(id) = e.kind
            && let Some(value) = self.get(id)
        {
            return Ok(value.clone());
        }
        let node = match self.desk().pieces.expression(e) {
            Ok(node) => node,
            Err(problem) => return Ok(Value::unavailable(problem.message, Some(e.span), None)),
        };
        let mut mentioned = BTreeSet::new();
        mentions(e, &mut mentioned);
        self.load(&mentioned);
        let limits = self.limits;
        let machine = &mut self.desk().machine;
        let found = with_room(machine, |m| {
            m.count_steps(limits);
            m.clear(1, PLAIN);
            let value = m.eval(&node)?;
            if m.rejected[0].is_some() { Err(Stop::AllRejected) } else { Ok(value) }
        });
        let value = match found {
            Ok(value) => values::of(machine, value, &e.ty),
            Err(error) => match first(error) {
                lacking if is_lacking(&lacking) => Value::unavailable(lacking.message, Some(e.span), None),
                problem => return Err(problem),
            },
        };
        machine.clear(1, PLAIN);
        Ok(value)
    }

    /// The value of an expression of which something is not known: it may not matter.
    fn partly_known(&mut self, e: &Expr, why: Arc<Unavailable>) -> Outcome<Value> {
        match &e.kind {
            ExprKind::Binary { op: op @ (BinaryOp::And | BinaryOp::Or), left, right } => {
                let decisive = *op == BinaryOp::Or;
                for side in [left, right] {
                    let truth = self.value(side)?.as_real().map(|x| x != 0.0);
                    if truth == Some(decisive) {
                        return Ok(Value::flag(decisive));
                    }
                }
            }
            ExprKind::Ternary { condition, yes, no } => {
                if let Some(truth) = self.value(condition)?.as_real() {
                    return self.value(if truth == 0.0 { no } else { yes });
                }
            }
            _ => {}
        }
        Ok(Value::Unavailable(why))
    }

    fn desk(&mut self) -> &mut Desk<'a> {
        let (program, limits) = (self.program, self.limits);
        self.desk.get_or_insert_with(|| {
            let pieces = Pieces::new(program);
            let mut machine = Machine::new(&Arc::new(pieces.code().clone()));
            machine.count_steps(limits);
            machine.flat_on = false;
            machine.lists_on = false;
            Box::new(Desk { pieces, machine, functions: 0, has: BTreeSet::new() })
        })
    }

    /// Gives the machine the variables that it is going to look at, and all that pieces of code refer to.
    fn load(&mut self, mentioned: &BTreeSet<VariableId>) {
        self.desk();
        let Some(desk) = &mut self.desk else { return };
        let code = desk.pieces.code();
        if code.functions.len() != desk.functions {
            desk.functions = code.functions.len();
            desk.machine.set_code(&Arc::new(code.clone()));
        }
        desk.machine.make_room_for(code);
        for id in mentioned {
            if desk.has.contains(id) {
                continue;
            }
            let Some(value) = self.values.get(id.0 as usize).and_then(Option::as_ref) else { continue };
            if let Some(value) = constant(&mut desk.machine, value) {
                desk.machine.globals[id.0 as usize] = Variable::of(value);
                desk.machine.constant_tuples = desk.machine.tuple_count();
                desk.has.insert(*id);
            }
        }
    }
}

impl crust_stan::data::Calculator for Calculator<'_> {
    fn limits(&self) -> Limits {
        self.limits
    }

    fn set(&mut self, variable: VariableId, value: Value) {
        self.unknown.remove(&variable);
        self.shapeless.remove(&variable);
        if let Some(why) = value.reason() {
            self.unknown.insert(variable, Arc::clone(why));
            if value.shape().is_none() {
                self.shapeless.insert(variable);
            }
        }
        if let Some(desk) = &mut self.desk {
            desk.has.remove(&variable);
        }
        self.values[variable.0 as usize] = Some(value);
    }

    fn expression(&mut self, expr: &Expr) -> Outcome<Value> {
        self.value(expr)
    }

    fn violations(&mut self, declared: &SizedType, name: &str, value: &Value) -> Outcome<Vec<Violation>> {
        constraints::violations(self, declared, name, value)
    }
}

/// The variable that a statement declares.
fn declares(stmt: &Stmt) -> Option<VariableId> {
    match stmt.kind {
        StmtKind::Declare { variable, .. } => Some(variable),
        _ => None,
    }
}

/// Adds the variables that an expression looks at.
fn mentions(e: &Expr, into: &mut BTreeSet<VariableId>) {
    if let ExprKind::Variable(id) = e.kind {
        into.insert(id);
    }
    analysis::operands(e, &mut |e| mentions(e, into));
}

/// Whether the engine cannot do something, rather than the program.
fn is_lacking(problem: &Diagnostic) -> bool {
    matches!(problem.code, "not-supported" | "internal")
}

/// A mistake that has no place of its own, such as too little memory.
fn at_least_near(mut problem: Box<Diagnostic>, statements: &[Stmt]) -> Box<Diagnostic> {
    // Spans do not take part in comparisons.
    let nowhere = problem.span.start == 0 && problem.span.end == 0;
    if let (Some(first), Some(last), true) = (statements.first(), statements.last(), nowhere) {
        problem.span = first.span.to(last.span);
    }
    problem
}

/// A value of the wrong size with the variable that it was meant for.
fn with_variable(mut problem: Box<Diagnostic>, program: &Program, statements: &[Stmt]) -> Box<Diagnostic> {
    if problem.code != "size-mismatch" {
        return problem;
    }
    let here = |span: Span| (span.start, span.end) == (problem.span.start, problem.span.end);
    let mut found = None;
    for stmt in statements {
        analysis::walk(stmt, &mut |s| match &s.kind {
            StmtKind::Declare { variable, initial: Some(e) } if here(e.span) => found = Some(*variable),
            StmtKind::Assign { target: Place::Variable { variable, path, .. }, .. }
                if path.is_empty() && here(s.span) =>
            {
                found = Some(*variable);
            }
            _ => {}
        });
    }
    let Some(variable) = found.map(|id| program.variable(id)) else { return problem };
    problem.message = problem.message.replacen("the variable is a", &format!("`{}` is declared as", variable.name), 1);
    Box::new(problem.related(variable.span, "declared here"))
}

fn first(error: EngineError) -> Box<Diagnostic> {
    let unnamed = || Diagnostic::error("internal", "something went wrong", Span::default());
    Box::new(error.0.into_iter().next().unwrap_or_else(unnamed))
}
