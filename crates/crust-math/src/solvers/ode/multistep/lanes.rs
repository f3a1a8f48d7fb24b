//! Multistep methods for eight problems at once: each has its own time, step and order, and when one is done the next
//! takes its place. What a problem gets is what it would get alone, to the last bit: the formulas are those of
//! [`super::Multistep`] in the same order, and rows never look across lanes.
//!
//! All lanes attempt a step together: they predict, correct the state, then its sensitivities. Lanes that are done with
//! an iteration earlier than others wait (what is computed for them is thrown away); lanes whose step fails attempt it
//! again while others attempt their next one.

mod corrector;
mod kernels;
mod start;
mod step;

use super::corrector::Attempt;
use super::formula::{Family, Formula, SIZE, Steps};
use super::step::{FIRST_GROWTH_LIMIT, Failures};
use crate::functions::Row;
use crate::lanes::dispatch;
use crate::solvers::ode::{LaneSystem, Span, Tolerances, check};
use kernels::{ColumnRates, Weigh};

/// Places for problems.
const SLOTS: usize = 8;
type Chosen = [bool; SLOTS];

/// The chosen slots.
fn each(chosen: Chosen) -> impl Iterator<Item = usize> {
    (0..SLOTS).filter(move |&l| chosen[l])
}

/// Where the problem of a slot is: what [`super::Multistep`] knows besides vectors.
struct Slot {
    problem: usize,
    /// Whether there is a problem in it.
    busy: bool,
    /// How many output times are done, and steps since the last of them.
    done: usize,
    since: u64,
    t: f64,
    /// Where the step that is attempted begins.
    begin: f64,
    steps: Steps,
    formula: Formula,
    scaled_to: f64,
    order: usize,
    next_order: usize,
    step_changes: bool,
    patience: usize,
    growth: f64,
    growth_limit: f64,
    kept_scale: f64,
    accepted: u64,
    attempt: Attempt,
    failures: Failures,
    gamma: f64,
    matrix_gamma: f64,
    matrix_step: u64,
    jacobian_step: u64,
    jacobian_is_new: bool,
    /// Estimated rates of convergence, of the state and of its sensitivities.
    rates: [f64; 2],
}

impl Slot {
    fn new(family: Family, problem: usize, t: f64, busy: bool) -> Self {
        let steps = Steps { h: 0.0, past: [0.0; SIZE] };
        Self {
            problem,
            busy,
            done: 0,
            since: 0,
            t,
            begin: t,
            steps,
            formula: Formula::new(family, 1, &steps, false),
            scaled_to: 0.0,
            order: 1,
            next_order: 1,
            step_changes: false,
            patience: 2,
            growth: 1.0,
            growth_limit: FIRST_GROWTH_LIMIT,
            kept_scale: 0.0,
            accepted: 0,
            attempt: Attempt::First,
            failures: Failures::default(),
            gamma: 0.0,
            matrix_gamma: 0.0,
            matrix_step: 0,
            jacobian_step: 0,
            jacobian_is_new: false,
            rates: [0.0; 2],
        }
    }
}

/// The vectors of all slots. Coupled ones are y and then the columns of its sensitivities.
struct Vectors {
    /// The Nordsieck array.
    history: Vec<Vec<Row>>,
    weights: Vec<Row>,
    correction: Vec<Row>,
    point: Vec<Row>,
    rates: Vec<Row>,
    residual: Vec<Row>,
    /// ∂f/∂y and ∂f/∂θ where f was linearised last.
    by_state: Vec<Row>,
    by_parameter: Vec<Row>,
    /// ∂f/∂y of the matrices, and their factors.
    jacobian: Vec<Row>,
    factors: Vec<Row>,
    pivots: Vec<[usize; SLOTS]>,
}

struct Lanes<'a> {
    system: &'a mut dyn LaneSystem,
    spans: &'a [Span<'a>],
    tolerances: Tolerances,
    family: Family,
    /// The number of states, and of columns by the initial state.
    n: usize,
    by_initial_state: usize,
    slots: [Slot; SLOTS],
    vectors: Vectors,
    next: usize,
    outputs: Vec<Option<Vec<f64>>>,
}

/// Solves problems; the coupled vectors at the output times of each. None where something goes wrong: those have to be
/// solved alone, to find out what.
pub(in super::super) fn solve(
    family: Family,
    system: &mut dyn LaneSystem,
    spans: &[Span],
    tolerances: Tolerances,
) -> Vec<Option<Vec<f64>>> {
    let (n, [by_initial_state, by_parameters]) = (system.states(), system.directions());
    let len = n * (1 + by_initial_state + by_parameters);
    let rows = |len: usize| vec![[0.0; SLOTS]; len];
    let vectors = Vectors {
        history: vec![rows(len); family.max_order() + 1],
        weights: rows(len),
        correction: rows(len),
        point: rows(len),
        rates: rows(len),
        residual: rows(len),
        by_state: rows(n * n),
        by_parameter: rows(n * by_parameters),
        jacobian: rows(n * n),
        factors: rows(n * n),
        pivots: vec![[0; SLOTS]; n],
    };
    let slots = std::array::from_fn(|_| Slot::new(family, 0, 0.0, false));
    let outputs = vec![None; spans.len()];
    let mut lanes = Lanes { system, spans, tolerances, family, n, by_initial_state, slots, vectors, next: 0, outputs };
    lanes.run();
    lanes.outputs
}

impl Lanes<'_> {
    fn len(&self) -> usize {
        self.vectors.weights.len()
    }

    fn busy(&self) -> Chosen {
        std::array::from_fn(|l| self.slots[l].busy)
    }

    fn times(&self) -> Row {
        std::array::from_fn(|l| self.slots[l].t)
    }

    fn run(&mut self) {
        self.fill();
        while self.slots.iter().any(|slot| slot.busy) {
            self.begin_steps();
            self.attempt();
            self.write_outputs();
            self.fill();
        }
    }

    fn give_up(&mut self, l: usize) {
        self.outputs[self.slots[l].problem] = None;
        self.slots[l].busy = false;
    }

    /// Puts problems into free slots.
    fn fill(&mut self) {
        let mut fresh = [false; SLOTS];
        for (l, fresh) in fresh.iter_mut().enumerate() {
            while !self.slots[l].busy && self.next < self.spans.len() {
                let problem = self.next;
                self.next += 1;
                let span = self.spans[problem];
                if check(span, self.tolerances).is_err() {
                    continue;
                }
                self.slots[l] = Slot::new(self.family, problem, span.initial_time, true);
                self.system.load(l, problem);
                self.place_start(l, span.initial_state);
                self.outputs[problem] = Some(Vec::with_capacity(span.times.len() * self.len()));
                *fresh = true;
            }
        }
        if fresh != [false; SLOTS] {
            self.choose_first_steps(fresh);
        }
    }

    /// y₀, the unit matrix, zeros; and no past.
    fn place_start(&mut self, l: usize, initial_state: &[f64]) {
        let n = self.n;
        for row in self.vectors.history.iter_mut().flatten().chain(&mut self.vectors.correction) {
            row[l] = 0.0;
        }
        for (row, &y) in self.vectors.history[0].iter_mut().zip(initial_state) {
            row[l] = y;
        }
        for i in 0..self.by_initial_state {
            self.vectors.history[0][n * (1 + i) + i][l] = 1.0;
        }
    }

    /// Weights of the chosen slots by their states; norms of all coupled states.
    fn update_weights(&mut self, chosen: Chosen) -> Row {
        let Self { tolerances, n, ref mut vectors, .. } = *self;
        dispatch(Weigh { tolerances, n, chosen, z: &vectors.history[0], weights: &mut vectors.weights })
    }

    /// Writes the rates of the coupled vectors in `point` to `rates`; the state's must be numbers, or the slot is given
    /// up: what that means is found out alone.
    fn coupled_rates(&mut self, t: &Row, chosen: Chosen) {
        let (n, len) = (self.n, self.len());
        let Vectors { point, rates, by_state, by_parameter, .. } = &mut self.vectors;
        if len == n {
            self.system.values(t, point, rates);
        } else {
            self.system.jacobian(t, &point[..n], &mut rates[..n], by_state, by_parameter);
            let (by_state, by_parameter) = (&by_state[..], &by_parameter[..]);
            let first_parameter = n * self.by_initial_state;
            let (columns, rates) = (&point[n..], &mut rates[n..]);
            dispatch(ColumnRates { n, first_parameter, by_state, by_parameter, columns, rates });
        }
        self.give_up_bad(chosen, n);
    }

    /// Gives up the chosen slots that have rates which are no numbers among the first `n`.
    fn give_up_bad(&mut self, chosen: Chosen, n: usize) {
        for l in each(chosen) {
            if self.vectors.rates[..n].iter().any(|row| row[l].is_nan()) {
                self.give_up(l);
            }
        }
    }

    /// The states at output times that were passed: the value of the Nordsieck polynomial there.
    fn write_outputs(&mut self) {
        for l in 0..SLOTS {
            let slot = &mut self.slots[l];
            if !slot.busy || slot.attempt != Attempt::First {
                continue;
            }
            let times = self.spans[slot.problem].times;
            let Some(output) = &mut self.outputs[slot.problem] else { continue };
            while let Some(&time) = times.get(slot.done).filter(|&&time| slot.t >= time) {
                let s = (time - slot.t) / slot.steps.h;
                for i in 0..self.vectors.weights.len() {
                    let history = &self.vectors.history[..=slot.order];
                    let value = history.iter().rev().map(|z| z[i][l]).reduce(|value, lower| value * s + lower);
                    output.extend(value);
                }
                slot.done += 1;
                slot.since = 0;
            }
            slot.busy = slot.done < times.len();
        }
    }
}
