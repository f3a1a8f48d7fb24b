//! Dormand and Prince's pair for eight problems at once: each has its own time and step, and when one is done the next
//! one takes its place. What a problem gets is what it would get alone, to the last bit: the formulas are those of
//! [`super::runge_kutta`] in the same order, and rows never look across lanes.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]
#![allow(clippy::needless_range_loop, reason = "loops over lanes, by index, become vector instructions")]

use super::runge_kutta::{ATTEMPTS, DORMAND_PRINCE, FIRST_STEP, continuous, grow, shrink};
use super::{Span, Tolerances, check};
use crate::functions::Row;
use crate::lanes::{Kernel, dispatch};

/// Places for problems.
const SLOTS: usize = 8;
const STAGES: usize = 7;

/// The right-hand side for eight problems at once.
pub trait LaneSystem {
    /// The number of states, n.
    fn states(&self) -> usize;
    /// By how many initial states, and by how many parameters sensitivities go along.
    fn directions(&self) -> [usize; 2];
    /// From now on this slot has the parameters of this problem.
    fn load(&mut self, slot: usize, problem: usize);
    /// Writes the rates. For each state there is a row with its values, and one for each direction behind it.
    fn rates(&mut self, t: &Row, y: &[Row], rates: &mut [Row]);
    /// Writes f(t, y) alone.
    fn values(&mut self, t: &Row, y: &[Row], rates: &mut [Row]);
    /// Writes f, ∂f/∂y (n × n, column-major) and ∂f/∂θ (n × p, column-major); the last one may be empty.
    fn jacobian(&mut self, t: &Row, y: &[Row], rates: &mut [Row], by_state: &mut [Row], by_parameter: &mut [Row]);
}

/// Where the problem of a slot is.
#[derive(Clone, Copy)]
struct Slot {
    problem: usize,
    /// How many output times are done.
    done: usize,
    /// Where the last step began.
    begin: f64,
    steps: u64,
    attempts: u32,
    /// Whether there is a problem in it.
    busy: bool,
}

struct Stepper<'a> {
    system: &'a mut dyn LaneSystem,
    spans: &'a [Span<'a>],
    tolerances: Tolerances,
    slots: [Slot; SLOTS],
    t: Row,
    h: Row,
    state: Vec<Row>,
    proposal: Vec<Row>,
    previous: Vec<Row>,
    stages: Vec<Row>,
    next: usize,
    outputs: Vec<Option<Vec<f64>>>,
}

/// Solves problems with the method [`super::Method::Rk45`]; the coupled vectors at the output times. None where something goes wrong: those have to be solved
/// alone, to find out what.
pub(super) fn solve(system: &mut dyn LaneSystem, spans: &[Span], tolerances: Tolerances) -> Vec<Option<Vec<f64>>> {
    let (states, [by_initial_state, by_parameters]) = (system.states(), system.directions());
    let len = states * (1 + by_initial_state + by_parameters);
    let empty = Slot { problem: 0, done: 0, begin: 0.0, steps: 0, attempts: 0, busy: false };
    let mut stepper = Stepper {
        system,
        spans,
        tolerances,
        slots: [empty; SLOTS],
        t: [0.0; SLOTS],
        h: [0.0; SLOTS],
        state: vec![[0.0; SLOTS]; len],
        proposal: vec![[0.0; SLOTS]; len],
        previous: vec![[0.0; SLOTS]; len],
        stages: vec![[0.0; SLOTS]; len * STAGES],
        next: 0,
        outputs: vec![None; spans.len()],
    };
    stepper.run();
    stepper.outputs
}

impl Stepper<'_> {
    fn len(&self) -> usize {
        self.state.len()
    }

    fn run(&mut self) {
        self.fill();
        while self.slots.iter().any(|slot| slot.busy) {
            self.cut_steps();
            let (errors, fine) = self.attempt();
            let mut accepted = [false; SLOTS];
            for l in 0..SLOTS {
                if !self.slots[l].busy {
                    continue;
                }
                self.slots[l].attempts += 1;
                if !fine[l] || (errors[l] > 1.0 && self.slots[l].attempts == ATTEMPTS) {
                    self.give_up(l);
                } else if errors[l] > 1.0 {
                    self.h[l] *= shrink(errors[l]);
                } else {
                    self.slots[l].begin = self.t[l];
                    self.slots[l].attempts = 0;
                    self.t[l] += self.h[l];
                    self.h[l] *= grow(errors[l]);
                    accepted[l] = true;
                }
            }
            dispatch(Accept {
                accepted,
                state: &mut self.state,
                previous: &mut self.previous,
                proposal: &self.proposal,
            });
            self.write_outputs(accepted);
            let len = self.state.len();
            let (first, last) = self.stages.split_at_mut(len * (STAGES - 1));
            dispatch(Select { chosen: accepted, to: &mut first[..len], from: last });
            self.fill();
        }
    }

    /// The last step ends at the last output time; what takes too many steps is given up.
    fn cut_steps(&mut self) {
        for l in 0..SLOTS {
            let slot = &mut self.slots[l];
            if !slot.busy || slot.attempts > 0 {
                continue;
            }
            if slot.steps >= self.tolerances.max_steps {
                self.give_up(l);
                continue;
            }
            slot.steps += 1;
            let times = self.spans[slot.problem].times;
            let end = times[times.len() - 1];
            if self.t[l] + self.h[l] - end > f64::EPSILON {
                self.h[l] = end - self.t[l];
            }
        }
    }

    fn give_up(&mut self, l: usize) {
        self.outputs[self.slots[l].problem] = None;
        self.slots[l].busy = false;
    }

    /// Puts problems into free slots.
    fn fill(&mut self) {
        let mut fresh = [false; SLOTS];
        let n = self.system.states();
        let (directions, len) = (self.len() / n, self.len());
        for l in 0..SLOTS {
            while !self.slots[l].busy && self.next < self.spans.len() {
                let problem = self.next;
                self.next += 1;
                let span = self.spans[problem];
                // An output time within rounding of the start is the start, which is a case of its own.
                if check(span, self.tolerances).is_err() || span.times[0] - span.initial_time <= f64::EPSILON {
                    continue;
                }
                self.system.load(l, problem);
                for (i, &y) in span.initial_state.iter().enumerate() {
                    for d in 0..directions {
                        let unit = d == i + 1 && i < self.system.directions()[0];
                        self.state[i * directions + d][l] = if d == 0 { y } else { f64::from(u8::from(unit)) };
                    }
                }
                let begin = span.initial_time;
                self.slots[l] = Slot { problem, done: 0, begin, steps: 0, attempts: 0, busy: true };
                (self.t[l], self.h[l]) = (begin, FIRST_STEP);
                self.outputs[problem] = Some(Vec::with_capacity(span.times.len() * len));
                fresh[l] = true;
            }
        }
        if fresh == [false; SLOTS] {
            return;
        }
        // The rates at the start; those of others are thrown away.
        let (first, rest) = self.stages.split_at_mut(len);
        self.system.rates(&self.t, &self.state, &mut rest[..len]);
        dispatch(Select { chosen: fresh, to: first, from: &rest[..len] });
        for l in (0..SLOTS).filter(|&l| fresh[l]) {
            if self.stages[..len].iter().any(|row| row[l].is_nan()) {
                self.give_up(l);
            }
        }
    }

    /// Computes the stages and the new states; the errors in units of the tolerances, and whether all rates are
    /// numbers.
    fn attempt(&mut self) -> (Row, [bool; SLOTS]) {
        let len = self.len();
        let mut fine = [true; SLOTS];
        for stage in 1..STAGES {
            let (known, own) = self.stages.split_at_mut(stage * len);
            let (out, start, h) = (&mut self.proposal[..], &self.state[..], &self.h);
            // The last one is the new state.
            let coefficients = DORMAND_PRINCE.matrix[stage];
            dispatch(Combine { out, start, h, coefficients, stages: known });
            let mut t = self.t;
            for l in 0..SLOTS {
                t[l] += self.h[l] * DORMAND_PRINCE.nodes[stage];
            }
            self.system.rates(&t, &self.proposal, &mut own[..len]);
            let numbers = dispatch(Numbers(&own[..len]));
            (0..SLOTS).for_each(|l| fine[l] &= numbers[l]);
        }
        let Self { tolerances, ref h, ref state, ref stages, .. } = *self;
        (dispatch(Worst { tolerances, h, state, stages }), fine)
    }

    /// States at output times that the last step has passed.
    fn write_outputs(&mut self, accepted: [bool; SLOTS]) {
        let n = self.system.states();
        let directions = self.len() / n;
        loop {
            let mut coefficients = [[0.0; SLOTS]; STAGES];
            let mut step = [0.0; SLOTS];
            let mut wanted = [false; SLOTS];
            for l in (0..SLOTS).filter(|&l| accepted[l]) {
                let slot = &mut self.slots[l];
                let Some(&time) = self.spans[slot.problem].times.get(slot.done) else { continue };
                if !slot.busy || time - self.t[l] > f64::EPSILON {
                    continue;
                }
                step[l] = self.t[l] - slot.begin;
                let own = continuous((time - slot.begin) / step[l]);
                (0..STAGES).for_each(|k| coefficients[k][l] = own[k]);
                wanted[l] = true;
                slot.done += 1;
                slot.steps = 0;
            }
            if wanted == [false; SLOTS] {
                break;
            }
            let (out, start, stages) = (&mut self.proposal[..], &self.previous[..], &self.stages[..]);
            dispatch(Interpolate { out, start, h: &step, coefficients: &coefficients, stages });
            for l in (0..SLOTS).filter(|&l| wanted[l]) {
                let Some(output) = &mut self.outputs[self.slots[l].problem] else { continue };
                for d in 0..directions {
                    output.extend((0..n).map(|i| self.proposal[i * directions + d][l]));
                }
            }
        }
        for l in (0..SLOTS).filter(|&l| accepted[l]) {
            let slot = &mut self.slots[l];
            slot.busy &= slot.done < self.spans[slot.problem].times.len();
        }
    }
}

/// out = start + Σ (h cᵢ) kᵢ
struct Combine<'a> {
    out: &'a mut [Row],
    start: &'a [Row],
    h: &'a Row,
    coefficients: &'a [f64],
    stages: &'a [Row],
}

impl Kernel for Combine<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { out, start, h, coefficients, stages } = self;
        let len = out.len();
        let mut scaled = [[0.0; SLOTS]; STAGES];
        for (to, c) in scaled.iter_mut().zip(coefficients) {
            for l in 0..SLOTS {
                to[l] = h[l] * c;
            }
        }
        for at in 0..len {
            let mut sum = start[at];
            for (stage, c) in scaled.iter().enumerate().take(coefficients.len()) {
                let k = stages[stage * len + at];
                for l in 0..SLOTS {
                    sum[l] += c[l] * k[l];
                }
            }
            out[at] = sum;
        }
    }
}

/// The same with coefficients of each slot.
struct Interpolate<'a> {
    out: &'a mut [Row],
    start: &'a [Row],
    h: &'a Row,
    coefficients: &'a [Row; STAGES],
    stages: &'a [Row],
}

impl Kernel for Interpolate<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { out, start, h, coefficients, stages } = self;
        let len = out.len();
        let mut scaled = *coefficients;
        for row in &mut scaled {
            for l in 0..SLOTS {
                row[l] *= h[l];
            }
        }
        for at in 0..len {
            let mut sum = start[at];
            for (stage, c) in scaled.iter().enumerate() {
                let k = stages[stage * len + at];
                for l in 0..SLOTS {
                    sum[l] += c[l] * k[l];
                }
            }
            out[at] = sum;
        }
    }
}

/// The largest errors in units of the tolerances.
struct Worst<'a> {
    tolerances: Tolerances,
    h: &'a Row,
    state: &'a [Row],
    stages: &'a [Row],
}

impl Kernel for Worst<'_> {
    type Output = Row;

    #[inline(always)]
    fn run(self) -> Row {
        let Self { tolerances: Tolerances { relative, absolute, .. }, h, state, stages } = self;
        let len = state.len();
        let mut worst = [0.0_f64; SLOTS];
        for at in 0..len {
            let mut error = [0.0; SLOTS];
            for (number, c) in DORMAND_PRINCE.error.iter().enumerate() {
                let k = stages[number * len + at];
                for l in 0..SLOTS {
                    error[l] += h[l] * c * k[l];
                }
            }
            let first = stages[at];
            for l in 0..SLOTS {
                let size = state[at][l].abs() + h[l].abs() * first[l].abs();
                let error = error[l].abs() / (absolute + relative * size);
                worst[l] = if error > worst[l] { error } else { worst[l] };
            }
        }
        worst
    }
}

/// Which slots have numbers only.
struct Numbers<'a>(&'a [Row]);

impl Kernel for Numbers<'_> {
    type Output = [bool; SLOTS];

    #[inline(always)]
    fn run(self) -> [bool; SLOTS] {
        let mut bad = [0_u64; SLOTS];
        for row in self.0 {
            for l in 0..SLOTS {
                bad[l] |= u64::from(row[l].is_nan());
            }
        }
        bad.map(|bad| bad == 0)
    }
}

/// Some slots of rows.
struct Select<'a> {
    chosen: [bool; SLOTS],
    to: &'a mut [Row],
    from: &'a [Row],
}

impl Kernel for Select<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { chosen, to, from } = self;
        for (to, from) in to.iter_mut().zip(from) {
            for l in 0..SLOTS {
                to[l] = if chosen[l] { from[l] } else { to[l] };
            }
        }
    }
}

/// States become previous ones and proposals states, where steps were accepted.
struct Accept<'a> {
    accepted: [bool; SLOTS],
    state: &'a mut [Row],
    previous: &'a mut [Row],
    proposal: &'a [Row],
}

impl Kernel for Accept<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { accepted, state, previous, proposal } = self;
        for at in 0..state.len() {
            for l in 0..SLOTS {
                previous[at][l] = if accepted[l] { state[at][l] } else { previous[at][l] };
            }
            for l in 0..SLOTS {
                state[at][l] = if accepted[l] { proposal[at][l] } else { state[at][l] };
            }
        }
    }
}
