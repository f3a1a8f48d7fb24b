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

/// So many rounds of a loop are traced whose end depends on parameters; lanes that need more are left to the machine.
const MOST_ROUNDS: usize = 16;

impl Machine {
    /// Begins a call. Where functions call themselves as long as something holds that depends on parameters, lanes in
    /// which that goes deeper than we trace are left to the machine.
    pub(in crate::machine) fn enter_call(&mut self, function: u32) -> Run<()> {
        let Some(tracer) = &mut self.tracer else { return Ok(()) };
        if tracer.depth + 1 >= DEEPEST && tracer.functions.contains(&function) {
            return self.elsewhere();
        }
        tracer.functions.push(function);
        Ok(())
    }

    pub(in crate::machine) fn leave_call(&mut self) {
        if let Some(tracer) = &mut self.tracer {
            tracer.functions.pop();
        }
    }

    /// `while`: a round changes what it changes in the lanes in which the condition holds. Where it does not, the next
    /// round finds what this one has found.
    pub(in crate::machine) fn traced_while(&mut self, condition: &Node, body: &[Stmt]) -> Run<Flow> {
        let (mut left, mut rounds) = (None, 0);
        loop {
            let truth = self.numbers(condition)?;
            let truth = self.operations(truth)[0];
            let graph = self.graph();
            let goes_on = match left {
                Some(left) => {
                    let stays = graph.not(left);
                    graph.connect(false, stays, truth)
                }
                None => truth,
            };
            match graph.known(goes_on) {
                Some(0.0) => return Ok(Flow::Next),
                None if rounds == MOST_ROUNDS => {
                    let done = self.graph().not(goes_on);
                    self.traced_guard(done);
                    return Ok(Flow::Next);
                }
                None => rounds += 1,
                Some(_) => {}
            }
            if let Some(flow) = self.traced_round(goes_on, &mut left, |machine| machine.traced_statements(body))? {
                return Ok(flow);
            }
        }
    }

    /// The rounds of a `for` that lanes may leave.
    pub(in crate::machine) fn traced_rounds<T>(
        &mut self,
        all: impl Iterator<Item = T>,
        mut round: impl FnMut(&mut Self, T) -> Run<Flow>,
    ) -> Run<Flow> {
        let mut left = None;
        for i in all {
            let goes_on = match left {
                Some(left) => self.graph().not(left),
                None => self.graph().constant(1.0),
            };
            if self.graph().known(goes_on) == Some(0.0) {
                break;
            }
            if let Some(flow) = self.traced_round(goes_on, &mut left, |machine| round(machine, i))? {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    /// A round of a loop in the lanes that have come to it; how the loop ends, if it does so in all of them.
    fn traced_round(
        &mut self,
        goes_on: Ref,
        left: &mut Option<Ref>,
        run: impl FnOnce(&mut Self) -> Run<Flow>,
    ) -> Run<Option<Flow>> {
        match self.only(goes_on, run)? {
            Flow::Break if self.graph().known(goes_on).is_some() => return Ok(Some(Flow::Next)),
            flow @ Flow::Return(_) => return Ok(Some(flow)),
            flow => {
                let (breaks, _) = self.parts(flow)?;
                let graph = self.graph();
                let breaks = graph.connect(false, goes_on, breaks);
                *left = Some(left.map_or(breaks, |left| graph.connect(true, left, breaks)));
            }
        }
        Ok(None)
    }

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
                return self.then(flow, &list[i + 1..]);
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
        let first = self.way(condition, |machine| {
            let flow = machine.traced_statements(yes)?;
            machine.then(flow, rest)
        })?;
        let otherwise = self.graph().not(condition);
        let second = self.way(otherwise, |machine| match machine.traced_if(no, rest)? {
            (flow, true) => Ok(flow),
            (flow, false) => machine.then(flow, rest),
        })?;
        self.merge(condition, &first, &second).map(|flow| (flow, leaving))
    }

    /// The statements that come after others, for the lanes that come to them.
    fn then(&mut self, flow: Flow, rest: &[Stmt]) -> Run<Flow> {
        match flow {
            Flow::Next => self.traced_statements(rest),
            Flow::Part { breaks, continues } if !rest.is_empty() => {
                let graph = self.graph();
                let gone = graph.connect(true, breaks, continues);
                let stays = graph.not(gone);
                let more = self.only(stays, |machine| machine.traced_statements(rest))?;
                let (b, c) = self.parts(more)?;
                let graph = self.graph();
                let (b, c) = (graph.connect(false, stays, b), graph.connect(false, stays, c));
                Ok(Flow::Part { breaks: graph.connect(true, breaks, b), continues: graph.connect(true, continues, c) })
            }
            flow => Ok(flow),
        }
    }

    /// Something that only some lanes do. How it ends in these is handed out apart from what it leaves behind.
    fn only(&mut self, condition: Ref, run: impl FnOnce(&mut Self) -> Run<Flow>) -> Run<Flow> {
        if self.graph().known(condition).is_some_and(|truth| truth != 0.0) {
            return run(self);
        }
        let done = self.way(condition, run)?;
        let elsewhere = self.graph().not(condition);
        let nothing = self.way(elsewhere, |_| Ok(Flow::Next))?;
        let flow = done.flow;
        let done = match flow {
            Flow::Break | Flow::Continue | Flow::Part { .. } => Outcome { flow: Flow::Next, ..done },
            _ => done,
        };
        self.merge(condition, &done, &nothing)?;
        Ok(if flow == Flow::Never { Flow::Next } else { flow })
    }

    /// Whether lanes leave a loop, and whether they leave a round of it.
    fn parts(&mut self, flow: Flow) -> Run<(Ref, Ref)> {
        let graph = self.graph();
        let (no, yes) = (graph.constant(0.0), graph.constant(1.0));
        match flow {
            Flow::Next => Ok((no, no)),
            Flow::Break => Ok((yes, no)),
            Flow::Continue => Ok((no, yes)),
            Flow::Part { breaks, continues } => Ok((breaks, continues)),
            Flow::Return(_) | Flow::Never => Err(Stop::LanesUnfit),
        }
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
        let flow = run(self);
        let Some(tracer) = &mut self.tracer else { return Err(Stop::LanesUnfit) };
        let flow = if std::mem::take(&mut tracer.elsewhere) { Flow::Never } else { flow? };
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
        match (first.flow, second.flow) {
            (Flow::Never, Flow::Never) => return self.nobody(),
            (Flow::Never, _) => return Ok(self.follow(second)),
            (_, Flow::Never) => return Ok(self.follow(first)),
            _ => {}
        }
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
            (a, b) => self.parted(condition, a, b),
        }
    }

    /// What one way has left, where nobody comes to the end of the other.
    fn follow(&mut self, way: &Outcome) -> Flow {
        for &(at, x) in &way.places {
            self.overwrite(at, x);
        }
        self.globals.clone_from(&way.globals);
        self.locals.clone_from(&way.locals);
        way.flow
    }

    /// Where lanes leave a loop, or a round of it, that others stay in.
    fn parted(&mut self, condition: Ref, first: Flow, second: Flow) -> Run<Flow> {
        let ((first_breaks, first_continues), (second_breaks, second_continues)) =
            (self.parts(first)?, self.parts(second)?);
        let graph = self.graph();
        let elsewhere = graph.not(condition);
        let mut chosen = |a: Ref, b: Ref| {
            let (a, b) = (graph.connect(false, condition, a), graph.connect(false, elsewhere, b));
            graph.connect(true, a, b)
        };
        let breaks = chosen(first_breaks, second_breaks);
        Ok(Flow::Part { breaks, continues: chosen(first_continues, second_continues) })
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
