//! Branches that depend on parameters: both ways are traced, and what differs afterwards is selected.

use crate::code::{Node, Stmt, StmtKind};
use crate::ir::Ref;
use crate::machine::statements::Flow;
use crate::machine::value::{Value, View};
use crate::machine::{Machine, Run, Stop, Variable};

/// Branches inside of each other that are traced; each one may double the length of the list.
const DEEPEST: usize = 10;

/// What a way through a branch has left.
struct Outcome {
    flow: Flow,
    /// Places that were assigned to, with what is there now.
    places: Vec<(usize, f64)>,
    globals: Vec<Variable>,
    locals: Vec<Variable>,
}

/// What is still to be asked of an `if`.
type Branches<'a> = (&'a [(Node, Vec<Stmt>)], &'a [Stmt]);

/// Whether statements may leave the function or loop that they are in.
fn leaves(list: &[Stmt]) -> bool {
    list.iter().any(|stmt| {
        let mut found = matches!(stmt.kind, StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue);
        stmt.children(&mut |child| found = found || leaves(std::slice::from_ref(child)));
        found
    })
}

impl Machine {
    pub(in crate::machine) fn traced_statements(&mut self, list: &[Stmt]) -> Run<Flow> {
        for (i, stmt) in list.iter().enumerate() {
            let flow = if let StmtKind::If { branches, otherwise } = &stmt.kind {
                let (flow, all) = self.traced_if((branches, otherwise), &list[i + 1..])?;
                if all {
                    return Ok(flow);
                }
                flow
            } else if stmt.pure {
                self.pure(stmt)?
            } else {
                self.statement(stmt)?
            };
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    /// Runs an `if`; says whether the statements that come after it have been run as well.
    fn traced_if(&mut self, (branches, otherwise): Branches, rest: &[Stmt]) -> Run<(Flow, bool)> {
        for (k, (condition, body)) in branches.iter().enumerate() {
            let condition = self.numbers(condition)?;
            if self.is_symbolic(condition) {
                let condition = self.operations(condition)[0];
                return self.traced_ways(condition, body, (&branches[k + 1..], otherwise), rest);
            }
            if self.decide(condition)? {
                return Ok((self.traced_statements(body)?, false));
            }
        }
        Ok((self.traced_statements(otherwise)?, false))
    }

    fn traced_ways(&mut self, condition: Ref, yes: &[Stmt], no: Branches, rest: &[Stmt]) -> Run<(Flow, bool)> {
        let leaving = leaves(yes) || leaves(no.1) || no.0.iter().any(|(_, body)| leaves(body));
        let rest = if leaving { rest } else { &[] };
        let first = self.way(condition, |machine| match machine.traced_statements(yes)? {
            Flow::Next => machine.traced_statements(rest),
            flow => Ok(flow),
        })?;
        let otherwise = self.graph().not(condition);
        let second = self.way(otherwise, |machine| match machine.traced_if(no, rest)? {
            (Flow::Next, false) => machine.traced_statements(rest),
            (flow, _) => Ok(flow),
        })?;
        self.merge(condition, &first, &second).map(|flow| (flow, leaving))
    }

    /// Goes one way, and back to where it began.
    fn way(&mut self, condition: Ref, run: impl FnOnce(&mut Self) -> Run<Flow>) -> Run<Outcome> {
        let top = self.arena.top();
        let (globals, locals) = (self.globals.clone(), self.locals.clone());
        let Some(tracer) = &mut self.tracer else { return Err(Stop::LanesUnfit) };
        if tracer.depth == DEEPEST {
            return Err(Stop::LanesUnfit);
        }
        tracer.depth += 1;
        let (outer, mark) = (tracer.path, tracer.journal.len());
        tracer.path = Some(match outer {
            Some(path) => tracer.graph.connect(false, path, condition),
            None => condition,
        });
        let flow = run(self)?;
        let Some(tracer) = &mut self.tracer else { return Err(Stop::LanesUnfit) };
        (tracer.path, tracer.depth) = (outer, tracer.depth - 1);
        let journal = tracer.journal.split_off(mark);
        let values = self.arena.values_mut();
        let mut places: Vec<(usize, f64)> =
            journal.iter().filter(|(at, _)| *at < top).map(|(at, _)| (*at, values[*at])).collect();
        places.sort_by_key(|(at, _)| *at);
        places.dedup_by_key(|(at, _)| *at);
        for &(at, old) in journal.iter().rev() {
            values[at] = old;
        }
        let globals = std::mem::replace(&mut self.globals, globals);
        let locals = std::mem::replace(&mut self.locals, locals);
        Ok(Outcome { flow, places, globals, locals })
    }

    /// Selects between what two ways have left.
    fn merge(&mut self, condition: Ref, first: &Outcome, second: &Outcome) -> Run<Flow> {
        let mut places: Vec<usize> = first.places.iter().chain(&second.places).map(|(at, _)| *at).collect();
        places.sort_unstable();
        places.dedup();
        let after = |outcome: &Outcome, at: usize| {
            outcome.places.binary_search_by_key(&at, |(at, _)| *at).ok().map(|k| outcome.places[k].1)
        };
        for at in places {
            let before = self.arena.values()[at];
            let (a, b) = (after(first, at).unwrap_or(before), after(second, at).unwrap_or(before));
            let x = self.chosen(condition, a, b);
            self.overwrite(at, x);
        }
        for slot in 0..self.globals.len() {
            self.globals[slot] = self.merged_variable(condition, first.globals[slot], second.globals[slot])?;
        }
        if first.locals.len() != self.locals.len() || second.locals.len() != self.locals.len() {
            return Err(Stop::LanesUnfit);
        }
        for slot in 0..self.locals.len() {
            self.locals[slot] = self.merged_variable(condition, first.locals[slot], second.locals[slot])?;
        }
        match (first.flow, second.flow) {
            (Flow::Next, Flow::Next) => Ok(Flow::Next),
            (Flow::Return(None), Flow::Return(None)) => Ok(Flow::Return(None)),
            (Flow::Return(Some(a)), Flow::Return(Some(b))) => {
                self.merged(condition, a, b).map(|value| Flow::Return(Some(value)))
            }
            _ => Err(Stop::LanesUnfit),
        }
    }

    fn chosen(&mut self, condition: Ref, a: f64, b: f64) -> f64 {
        if a.to_bits() == b.to_bits() {
            return a;
        }
        let (a, b) = (self.operation(a), self.operation(b));
        let chosen = self.graph().select(condition, a, b);
        self.number_of(chosen)
    }

    fn merged_variable(&mut self, condition: Ref, a: Variable, b: Variable) -> Run<Variable> {
        if a == b {
            return Ok(a);
        }
        Ok(match (a.value, b.value) {
            // Declared in one of the branches, so that nobody can see it any more.
            (Value::Unset, _) | (_, Value::Unset) => Variable::UNSET,
            (Value::Numbers(x), Value::Numbers(y)) if x.shape != y.shape => Variable::UNSET,
            (x, y) => Variable { value: self.merged(condition, x, y)?, ..a },
        })
    }

    fn merged(&mut self, condition: Ref, a: Value, b: Value) -> Run<Value> {
        match (a, b) {
            (a, b) if a == b => Ok(a),
            (Value::Numbers(a), Value::Numbers(b)) if a.shape == b.shape => {
                let block = self.allocate(a.block.count(), crate::memory::Flags::UNIFORM)?;
                for e in 0..a.block.count() {
                    let values = self.arena.values();
                    let (x, y) = (values[a.block.start() + e], values[b.block.start() + e]);
                    let chosen = self.chosen(condition, x, y);
                    self.arena.values_mut()[block.start() + e] = chosen;
                }
                Ok(Value::Numbers(View { shape: a.shape, block }))
            }
            _ => Err(Stop::LanesUnfit),
        }
    }

    /// `condition ? yes : no`
    pub(in crate::machine) fn traced_choice(&mut self, condition: View, yes: &Node, no: &Node) -> Run<Value> {
        let condition = self.operations(condition)[0];
        let (a, b) = (self.eval(yes)?, self.eval(no)?);
        self.merged(condition, a, b)
    }
}
