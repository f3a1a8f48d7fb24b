//! When executions are changed in their [`Graph`] and when by running the program: both make the same proposals, with
//! the same random numbers, so that it is a matter of speed only.

use super::Model;
use super::graph::{Graph, Update, Work, is_tracked, record};
use super::kernel::Scope;
use super::mh::{Mh, Proposal};
use super::trace::{Choice, Ended, Reuse, Trace};
use super::walk::{Walk, Walked};
use crate::error::{Run, fail};
use crate::value::Value;
use crate::world::World;

/// The graph of a trace, and what is known of its worth. Costs are in calls of the machine.
#[derive(Clone)]
pub struct Fast {
    pub graph: Option<Box<Graph>>,
    /// The execution as a path of legs that were run before. There is a path or a graph, never both.
    walk: Option<Box<Walk>>,
    /// Whether choices were changed in the graph or path since the program was run.
    stale: bool,
    /// Steps until a graph is tried.
    wait: u32,
    /// How long to wait after the next failure.
    patience: u32,
    /// What a step by the machine costs, and how many were measured.
    step_cost: f64,
    measured: u32,
    /// What a run of the whole program costs.
    run_cost: f64,
    /// What was spent for the graph, and how many steps it has done.
    spent: f64,
    handled: u32,
    /// The program is not for paths.
    no_walks: bool,
    /// Memory of trajectories.
    pub work: Work,
    /// Trajectories are not for graphs.
    no_leaps: bool,
}

/// Steps by the machine before a graph is tried.
const FIRST: u32 = 12;

impl Default for Fast {
    fn default() -> Self {
        Self {
            graph: None,
            walk: None,
            stale: false,
            wait: FIRST,
            patience: 256,
            step_cost: 0.0,
            measured: 0,
            run_cost: 0.0,
            spent: 0.0,
            handled: 0,
            no_walks: false,
            work: Work::default(),
            no_leaps: false,
        }
    }
}

/// Whether a value is data only, so that it can be compared with another.
pub fn is_data(value: &Value) -> bool {
    match value {
        Value::Array(a) => a.items().iter().all(is_data),
        Value::Object(o) => o.fields().iter().all(|(_, v)| is_data(v)),
        Value::Dist(_) | Value::Closure(_) | Value::Native(_) | Value::Wrapped(_) | Value::Query => false,
        _ => true,
    }
}

impl Fast {
    fn fail(&mut self) {
        self.graph = None;
        self.wait = self.patience;
        self.patience = self.patience.saturating_mul(4);
        self.spent = 0.0;
        self.handled = 0;
    }

    /// Whether trajectories may be tried in the graph.
    pub fn may_leap(&self) -> bool {
        !self.no_leaps
    }

    pub fn never_leap(&mut self) {
        self.no_leaps = true;
    }

    /// What stays when the execution was changed by running the program.
    #[must_use]
    pub fn forget(&self) -> Self {
        Self { graph: None, walk: None, stale: false, ..self.clone() }
    }

    /// Whether the execution is a path.
    #[cfg(test)]
    pub fn is_walk(&self) -> bool {
        self.walk.is_some()
    }

    /// How many steps in a row were made in the graph.
    #[cfg(test)]
    pub fn handled(&self) -> u32 {
        self.handled
    }

    /// Whether the graph has cost more than it has saved.
    fn is_loss(&self) -> bool {
        self.spent > f64::from(self.handled) * self.step_cost + 12.0 * self.run_cost
    }
}

impl Trace {
    /// The value of a choice.
    pub fn choice_value(&self, at: usize) -> Value {
        if let Some(walk) = self.fast.walk.as_ref().filter(|_| self.fast.stale) {
            return walk.choice(at);
        }
        let changed = self.fast.graph.as_ref().filter(|_| self.fast.stale).and_then(|graph| graph.choice(at));
        changed.unwrap_or_else(|| self.choices[at].value.clone())
    }

    /// How many choices there are.
    pub fn len(&self) -> usize {
        match &self.fast.walk {
            Some(walk) if self.fast.stale => walk.len(),
            _ => self.choices.len(),
        }
    }

    /// The value of an execution that has ended.
    pub fn value(&self) -> Run<Value> {
        match (&self.fast.graph, &self.fast.walk) {
            (Some(graph), _) if self.fast.stale => graph.result(),
            (_, Some(walk)) if self.fast.stale => Ok(walk.value()),
            _ => Ok(self.run_value.clone().unwrap_or(Value::Undefined)),
        }
    }

    /// Runs the program with the choices of the graph or path, if they were changed.
    pub fn sync(&mut self, world: &mut World, model: &Model) -> Run<()> {
        let walk = self.fast.walk.take();
        if !self.fast.stale {
            return Ok(());
        }
        let before = world.steps;
        let mut values = std::mem::take(&mut self.choices);
        if let Some(walk) = walk {
            values = walk.choices();
        }
        if let Some(graph) = &self.fast.graph {
            for (site, choice) in values.iter_mut().enumerate() {
                if let Some(value) = graph.choice(site) {
                    choice.value = value;
                }
            }
        }
        let mut next = Self { data: self.data.clone(), ..Self::empty() };
        let state = model.start(world)?;
        let ended = next.extend(world, state, &mut Reuse::new(&values), 0)?;
        if ended != Ended::Complete {
            return fail("an execution cannot be repeated: does the program depend on anything but its choices?");
        }
        self.choices = next.choices;
        self.scores = next.scores;
        self.run_value = next.run_value;
        self.gradient = None;
        self.fast.stale = false;
        #[expect(clippy::cast_precision_loss, reason = "calls are counted roughly")]
        let cost = (world.steps - before) as f64;
        self.fast.spent += cost;
        self.fast.run_cost = cost;
        Ok(())
    }

    /// A step along paths, if the program is for them; whether it was made.
    fn walk(&mut self, mh: &Mh, world: &mut World, model: &Model, scope: &Scope) -> Run<bool> {
        if self.fast.walk.is_none() {
            let plain = |choice: &Choice| !choice.dist.is_continuous() && choice.options.is_undefined();
            if self.fast.wait == 0 && !self.choices.is_empty() && self.choices.iter().all(plain) {
                self.fast.walk = Walk::new(world, model, self)?.map(Box::new);
            }
            if self.fast.walk.is_none() {
                self.fast.no_walks = self.fast.wait == 0;
                return Ok(false);
            }
        }
        let Some(walk) = &mut self.fast.walk else { return Ok(false) };
        let (stream, printed, accepted) = (world.stream.clone(), world.printed.len(), self.info[0]);
        let walked = walk.step(mh, world, scope, &mut self.scores, &mut self.info)?;
        self.fast.stale |= self.info[0] != accepted;
        if walked == Walked::Done {
            return Ok(true);
        }
        world.stream = stream;
        world.printed.truncate(printed);
        self.fast.no_walks = true;
        self.sync(world, model)?;
        Ok(false)
    }

    /// Makes the graph, if it can be made.
    pub fn make_graph(&mut self, world: &mut World, model: &Model) -> Run<bool> {
        if self.fast.graph.is_none() {
            let before = world.steps;
            self.fast.graph = record(world, model, self)?.map(Box::new);
            #[expect(clippy::cast_precision_loss, reason = "calls are counted roughly")]
            let cost = (world.steps - before) as f64;
            self.fast.run_cost = cost;
            // derivatives make a run about twice as long
            self.fast.spent += 2.0 * cost;
        }
        Ok(self.fast.graph.is_some())
    }

    /// Takes over the scores of a graph that was changed.
    pub fn changed_in_graph(&mut self) {
        if let Some(graph) = &self.fast.graph {
            [self.scores.prior, self.scores.factor] = graph.sums;
            self.fast.stale = true;
            self.gradient = None;
        }
    }
}

/// A step of Metropolis–Hastings.
pub fn step(mh: &Mh, world: &mut World, model: &Model, trace: &mut Trace, scope: &Scope) -> Run<()> {
    let whole = scope.boundary == 0 && scope.exit == 0 && !mh.discrete_only && trace.paused.is_none();
    if !whole {
        if mh.discrete_only && trace.choices.iter().all(|choice| choice.dist.is_continuous()) {
            return Ok(());
        }
        return by_program(world, model, trace, |world, trace| mh.step(world, trace, scope));
    }
    let walks = trace.fast.graph.is_none() && trace.data.is_none() && !mh.pair && !trace.fast.no_walks;
    if walks && trace.walk(mh, world, model, scope)? {
        return Ok(());
    }
    if trace.fast.graph.is_none() {
        trace.sync(world, model)?;
        if trace.fast.wait > 0 {
            trace.fast.wait -= 1;
            return by_machine(mh, world, trace, scope);
        }
        let untracked = trace.choices.iter().filter(|choice| !is_tracked(choice)).count();
        if 2 * untracked > trace.choices.len() || trace.choices.is_empty() || !trace.make_graph(world, model)? {
            trace.fast.fail();
            return by_machine(mh, world, trace, scope);
        }
    }
    if mh.pair {
        return step_pair(mh, world, model, trace, scope);
    }
    let Some((at, drift)) = mh.pick(world, trace, scope.boundary) else { return Ok(()) };
    let numbers = [trace.choices.len(), 0];
    let Some(graph) = &mut trace.fast.graph else { return Ok(()) };
    let Some(dist) = graph.dist(at) else {
        return by_program(world, model, trace, |world, trace| mh.step_at(world, trace, scope, (at, drift)));
    };
    let old = graph.choice(at).unwrap_or(Value::Undefined);
    let (value, drawn) = match (drift, dist.spread(), &old) {
        (true, Some(spread), Value::Number(x)) => {
            (Value::Number(x + mh.drift * spread * world.stream.standard_normal()), false)
        }
        _ => (world.draw(&dist)?, true),
    };
    trace.info[1] += 1;
    let [total, own] = [graph.total(scope.beta), graph.score(at)];
    graph.begin();
    let update = graph.change(at, value.clone());
    if update == Update::Impossible && scope.hard {
        return reject(trace);
    }
    if update != Update::Done {
        graph.undo();
        return by_program(world, model, trace, |world, trace| {
            let dist = trace.choices[at].dist.clone();
            let draws = drawn.then(|| [dist.clone(), dist]);
            mh.propose(world, trace, scope, Proposal { at, value, draws, numbers, redraw: None })
        });
    }
    let own = if drawn { own - graph.score(at) } else { 0.0 };
    let log_ratio = graph.total(scope.beta) - total + own;
    finish(world, trace, log_ratio);
    Ok(())
}

/// Takes back a change to a point without density.
fn reject(trace: &mut Trace) -> Run<()> {
    trace.fast.handled += 1;
    if let Some(graph) = &mut trace.fast.graph {
        graph.undo();
    }
    Ok(())
}

/// Accepts or rejects what was changed in the graph.
fn finish(world: &mut World, trace: &mut Trace, log_ratio: f64) {
    trace.fast.handled += 1;
    let accepted = world.accepts(log_ratio);
    if accepted {
        trace.info[0] += 1;
        trace.changed_in_graph();
    } else if let Some(graph) = &mut trace.fast.graph {
        graph.undo();
    }
}

/// Draws two choices again.
fn step_pair(mh: &Mh, world: &mut World, model: &Model, trace: &mut Trace, scope: &Scope) -> Run<()> {
    let Some((first, second)) = Mh::pick_pair(world, trace, scope.boundary) else { return Ok(()) };
    let n = trace.choices.len();
    let Some(graph) = &mut trace.fast.graph else { return Ok(()) };
    let (Some(dist), true) = (graph.dist(first), graph.dist(second).is_some()) else {
        return by_program(world, model, trace, |world, trace| mh.step_pair_at(world, trace, scope, (first, second)));
    };
    trace.info[1] += 1;
    let value = world.draw(&dist)?;
    let old = [graph.total(scope.beta), graph.score(first) + graph.score(second)];
    graph.begin();
    // the second is drawn given the first, so that its random numbers are those of the program
    let mut update = graph.change(first, value.clone());
    if update == Update::Done {
        let Some(dist) = graph.dist(second) else { return Ok(()) };
        let stream = world.stream.clone();
        let other = world.draw(&dist)?;
        update = graph.change(second, other);
        if update != Update::Done && !(update == Update::Impossible && scope.hard) {
            world.stream = stream;
        }
    }
    if update == Update::Impossible && scope.hard {
        return reject(trace);
    }
    if update != Update::Done {
        graph.undo();
        return by_program(world, model, trace, |world, trace| {
            let dist = trace.choices[first].dist.clone();
            let (draws, redraw) = (Some([dist.clone(), dist]), Some(second - first - 1));
            mh.propose(world, trace, scope, Proposal { at: first, value, draws, numbers: [n * (n - 1), 0], redraw })
        });
    }
    let own = old[1] - (graph.score(first) + graph.score(second));
    let log_ratio = graph.total(scope.beta) - old[0] + own;
    finish(world, trace, log_ratio);
    Ok(())
}

/// Lets the program make a proposal that the graph cannot make.
fn by_program(
    world: &mut World,
    model: &Model,
    trace: &mut Trace,
    propose: impl FnOnce(&mut World, &mut Trace) -> Run<()>,
) -> Run<()> {
    trace.sync(world, model)?;
    let changes = trace.changes;
    propose(world, trace)?;
    if trace.changes != changes {
        trace.fast.graph = None;
        trace.fast.spent += trace.fast.run_cost;
    }
    if trace.fast.is_loss() {
        trace.fast.fail();
    }
    Ok(())
}

/// A step by the machine, whose cost is measured.
fn by_machine(mh: &Mh, world: &mut World, trace: &mut Trace, scope: &Scope) -> Run<()> {
    let before = world.steps;
    mh.step(world, trace, scope)?;
    if trace.fast.measured < 1 << 16 {
        trace.fast.measured += 1;
        #[expect(clippy::cast_precision_loss, reason = "calls are counted roughly")]
        let cost = (world.steps - before) as f64;
        trace.fast.step_cost += (cost - trace.fast.step_cost) / f64::from(trace.fast.measured);
    }
    Ok(())
}
