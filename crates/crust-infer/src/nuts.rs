//! The No-U-Turn sampler as Stan runs it, one leapfrog step at a time.
//!
//! Hoffman and Gelman, "The No-U-Turn sampler" (2014), with the multinomial sampling and the generalised criterion of
//! Betancourt, "A conceptual introduction to Hamiltonian Monte Carlo" (2017, appendix A), and the two criteria across
//! the seam of merged trees that Stan has had since 2.21.
//!
//! A trajectory is doubled in a random direction until it turns. The new half is a balanced tree with 2ᵏ leaves; in
//! place of recursion there is a stack of complete subtrees. A new leaf is pushed, and while the two topmost subtrees
//! have the same depth, they are merged: the depths on the stack are the binary digits of the number of leaves, and
//! merges happen in the order in which the recursion would return.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]

use crust_math::lanes;
use crust_math::random::Stream;

use crate::kernel::{Densities, Kernel, State, Statistics, Stepper};
use crate::leapfrog::Phase;
use crate::vector::{Arena, Slot, dots_with_sum};
use crate::weight::Weight;

/// The momentum and the velocity at one end of a tree.
#[derive(Clone, Copy, Debug)]
struct End {
    p: Slot,
    velocity: Slot,
}

/// What the criterion needs to know of a tree: the sum of its momenta, and its ends in the order of integration.
#[derive(Clone, Copy, Debug)]
struct Span {
    rho: Slot,
    begin: End,
    end: End,
}

/// A state drawn from a tree, with probability proportional to exp(−energy).
#[derive(Clone, Copy, Debug)]
struct Proposal {
    q: Slot,
    gradient: Slot,
    found: Densities,
    energy: f64,
}

#[derive(Clone, Copy, Debug)]
struct Tree {
    depth: u32,
    span: Span,
    proposal: Proposal,
    /// Σ exp(H₀ − H) over its points.
    weight: Weight,
}

impl Tree {
    fn reserve(arena: &mut Arena) -> Self {
        let mut end = || End { p: arena.reserve(), velocity: arena.reserve() };
        let (begin, end) = (end(), end());
        Self {
            depth: 0,
            span: Span { rho: arena.reserve(), begin, end },
            proposal: Proposal {
                q: arena.reserve(),
                gradient: arena.reserve(),
                found: Densities::default(),
                energy: 0.0,
            },
            weight: Weight::ONE,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Nuts {
    max_depth: u32,
    max_energy_error: f64,
    arena: Arena,
    /// The point that is integrated.
    current: Phase,
    /// The first and the last point in time of the trajectory.
    ends: [Phase; 2],
    /// The sum of the momenta of the trajectory.
    rho: Slot,
    sample: Proposal,
    weight: Weight,
    /// Subtrees of the new half; only the first `height` are meant.
    stack: Vec<Tree>,
    height: usize,
    /// Leaves of the new half so far.
    leaves: u32,
    /// Index into `ends` of the end that grows.
    direction: usize,
    stream: Stream,
    step_size: f64,
    initial_energy: f64,
    sum_accept: f64,
    leapfrog_steps: u32,
    depth: u32,
    divergent: bool,
}

impl Nuts {
    pub(crate) fn new(dimension: usize, max_depth: u32, max_energy_error: f64) -> Self {
        let max_depth = max_depth.clamp(1, 30);
        let mut arena = Arena::new(dimension);
        let current = Phase::reserve(&mut arena);
        let ends = [Phase::reserve(&mut arena), Phase::reserve(&mut arena)];
        // A half of depth k < max_depth needs k + 1 subtrees at once, the last time for a moment.
        let stack: Vec<Tree> = (0..max_depth).map(|_| Tree::reserve(&mut arena)).collect();
        let Tree { span: Span { rho, .. }, proposal: sample, .. } = Tree::reserve(&mut arena);
        Self {
            max_depth,
            max_energy_error,
            current,
            ends,
            rho,
            sample,
            weight: Weight::ONE,
            stack,
            height: 0,
            leaves: 0,
            direction: 0,
            stream: crust_math::random::StreamKey::new(0, crust_math::random::Purpose::NUTS).stream(),
            step_size: 0.0,
            initial_energy: 0.0,
            sum_accept: 0.0,
            leapfrog_steps: 0,
            depth: 0,
            divergent: false,
            arena,
        }
    }

    #[inline(always)]
    fn signed_step(&self) -> f64 {
        if self.direction == 1 { self.step_size } else { -self.step_size }
    }

    #[inline(always)]
    fn begin_step(&mut self, kernel: &Kernel) {
        let step = self.signed_step();
        self.current.begin_step(&mut self.arena, &kernel.metric, step);
    }

    #[inline(always)]
    fn begin_doubling(&mut self) {
        self.direction = usize::from(self.stream.uniform() > 0.5);
        self.ends[self.direction].copy_to(&mut self.arena, self.current);
        self.height = 0;
        self.leaves = 0;
    }

    #[inline(always)]
    fn advance_here(&mut self, kernel: &Kernel, found: Densities) -> Option<Statistics> {
        let step = self.signed_step();
        let kinetic = self.current.end_step(&mut self.arena, &kernel.metric, step);
        self.leapfrog_steps += 1;
        let energy = kinetic - found.log_density();
        // Without a density (or with an infinite one, which is a bug of the model) there is nothing to go on with.
        let energy = if energy.is_finite() { energy } else { f64::INFINITY };
        let excess = energy - self.initial_energy;
        let weight = Weight::exp(-excess);
        self.sum_accept += weight.at_most_one();
        if excess > self.max_energy_error || energy == f64::INFINITY {
            self.divergent = true;
            return Some(self.statistics());
        }
        if !(self.push_leaf(weight, found, energy) && self.merge_equal_depths()) {
            return Some(self.statistics());
        }
        if self.leaves == 1 << self.depth {
            let goes_on = self.absorb_new_half();
            if !goes_on || self.depth == self.max_depth {
                return Some(self.statistics());
            }
            self.begin_doubling();
        }
        self.begin_step(kernel);
        None
    }

    /// Adds the current point to the new half: to the point before it if that has no partner yet, else as a tree of its
    /// own. False if the two turn.
    #[inline(always)]
    fn push_leaf(&mut self, weight: Weight, found: Densities, energy: f64) -> bool {
        self.leaves += 1;
        if self.leaves.is_multiple_of(2) {
            return self.pair(weight, found, energy);
        }
        let Phase { q, p, gradient, velocity } = self.current;
        let leaf = &mut self.stack[self.height];
        leaf.depth = 0;
        leaf.weight = weight;
        leaf.proposal = Proposal { found, energy, ..leaf.proposal };
        // The end of a point is its beginning: it is written when there is another one.
        for (from, to) in [
            (p, leaf.span.rho),
            (p, leaf.span.begin.p),
            (velocity, leaf.span.begin.velocity),
            (q, leaf.proposal.q),
            (gradient, leaf.proposal.gradient),
        ] {
            self.arena.copy(from, to);
        }
        self.height += 1;
        true
    }

    /// Merges the topmost subtree, which is a point, with the current point, as [`Self::merge_equal_depths`] does with
    /// larger ones.
    #[inline(always)]
    fn pair(&mut self, weight: Weight, found: Densities, energy: f64) -> bool {
        let Phase { q, p, gradient, velocity } = self.current;
        let first = &mut self.stack[self.height - 1];
        let (weight, share) = first.weight.plus(weight);
        if self.stream.uniform() < share {
            first.proposal = Proposal { found, energy, ..first.proposal };
            self.arena.copy(q, first.proposal.q);
            self.arena.copy(gradient, first.proposal.gradient);
        }
        let persists = along(&self.arena, [first.span.begin.velocity, velocity], [first.span.rho, p]);
        self.arena.add_scaled(first.span.rho, 1.0, p);
        self.arena.copy(p, first.span.end.p);
        self.arena.copy(velocity, first.span.end.velocity);
        first.depth = 1;
        first.weight = weight;
        persists
    }

    /// False if one of the merged trees turns.
    #[inline(always)]
    fn merge_equal_depths(&mut self) -> bool {
        while let Some(below) = self.height.checked_sub(2)
            && self.stack[below].depth == self.stack[below + 1].depth
        {
            let [.., first, last] = &mut self.stack[..self.height] else { return true };
            self.height -= 1;
            let (weight, share) = first.weight.plus(last.weight);
            if self.stream.uniform() < share {
                std::mem::swap(&mut first.proposal, &mut last.proposal);
            }
            let persists = persists(&self.arena, first.span, last.span, first.depth);
            self.arena.add_scaled(first.span.rho, 1.0, last.span.rho);
            std::mem::swap(&mut first.span.end, &mut last.span.end);
            first.depth += 1;
            first.weight = weight;
            if !persists {
                return false;
            }
        }
        true
    }

    /// Makes the new half part of the trajectory. False if the trajectory turns.
    #[inline(always)]
    fn absorb_new_half(&mut self) -> bool {
        let new = &mut self.stack[0];
        self.depth += 1;
        // Biased towards the new half: the acceptance probability is the ratio of the weights of the halves.
        if self.stream.uniform() < new.weight.over(self.weight) {
            std::mem::swap(&mut self.sample, &mut new.proposal);
        }
        self.weight = self.weight.plus(new.weight).0;
        let end = |phase: Phase| End { p: phase.p, velocity: phase.velocity };
        let old =
            Span { rho: self.rho, begin: end(self.ends[1 - self.direction]), end: end(self.ends[self.direction]) };
        let persists = persists(&self.arena, old, new.span, new.depth);
        self.arena.add_scaled(self.rho, 1.0, new.span.rho);
        std::mem::swap(&mut self.ends[self.direction], &mut self.current);
        persists
    }

    fn statistics(&self) -> Statistics {
        Statistics {
            accept_stat: self.sum_accept / f64::from(self.leapfrog_steps),
            step_size: self.step_size,
            tree_depth: self.depth,
            leapfrog_steps: self.leapfrog_steps,
            divergent: self.divergent,
            energy: self.sample.energy,
        }
    }
}

impl Stepper for Nuts {
    fn begin(&mut self, kernel: &Kernel, state: &State, mut stream: Stream) {
        self.step_size = kernel.draw_step_size(&mut stream);
        let first = self.ends[0];
        self.arena.get_mut(first.q).copy_from_slice(&state.q);
        self.arena.get_mut(first.gradient).copy_from_slice(&state.gradient);
        kernel.metric.draw_momentum(self.arena.get_mut(first.p), &mut stream);
        let kinetic = first.kinetic_energy(&mut self.arena, &kernel.metric);
        first.copy_to(&mut self.arena, self.ends[1]);
        self.arena.copy(first.p, self.rho);
        self.arena.copy(first.q, self.sample.q);
        self.arena.copy(first.gradient, self.sample.gradient);
        self.initial_energy = kinetic - state.log_density();
        self.sample.found = state.densities;
        self.sample.energy = self.initial_energy;
        self.weight = Weight::ONE;
        self.stream = stream;
        self.sum_accept = 0.0;
        self.leapfrog_steps = 0;
        self.depth = 0;
        self.divergent = false;
        self.begin_doubling();
        self.begin_step(kernel);
    }

    fn position(&self) -> &[f64] {
        self.arena.get(self.current.q)
    }

    fn gradient_mut(&mut self) -> &mut [f64] {
        self.arena.get_mut(self.current.gradient)
    }

    fn advance(&mut self, kernel: &Kernel, found: Densities) -> Option<Statistics> {
        lanes::dispatch(Advance { nuts: self, kernel, found })
    }

    fn finish(&self, state: &mut State) {
        state.q.copy_from_slice(self.arena.get(self.sample.q));
        state.gradient.copy_from_slice(self.arena.get(self.sample.gradient));
        state.densities = self.sample.found;
    }
}

/// What follows from an evaluation, compiled for the instruction set of the processor.
struct Advance<'a> {
    nuts: &'a mut Nuts,
    kernel: &'a Kernel,
    found: Densities,
}

impl lanes::Kernel for Advance<'_> {
    type Output = Option<Statistics>;

    #[inline(always)]
    fn run(self) -> Option<Statistics> {
        self.nuts.advance_here(self.kernel, self.found)
    }
}

/// The generalised no-U-turn criterion for two adjacent trees: the velocities at both ends of a span of points go along
/// with the sum ρ of its momenta. It must hold for both trees together, for the first with the nearest point of the
/// last, and for the last with the nearest point of the first. With trees of depth 0, which are points, the three are
/// the same.
#[inline(always)]
fn persists(arena: &Arena, first: Span, last: Span, depth: u32) -> bool {
    if depth == 0 {
        return along(arena, [first.begin.velocity, last.begin.velocity], [first.rho, last.rho]);
    }
    along(arena, [first.begin.velocity, last.end.velocity], [first.rho, last.rho])
        && along(arena, [first.begin.velocity, last.begin.velocity], [first.rho, last.begin.p])
        && along(arena, [first.end.velocity, last.end.velocity], [last.rho, first.end.p])
}

/// Whether both velocities go along with the sum of two momenta.
#[inline(always)]
fn along(arena: &Arena, [begin, end]: [Slot; 2], [rho, more]: [Slot; 2]) -> bool {
    let (at_begin, at_end) = dots_with_sum(arena.lines(begin), arena.lines(end), arena.lines(rho), arena.lines(more));
    at_begin > 0.0 && at_end > 0.0
}

#[cfg(test)]
#[path = "nuts_tests.rs"]
mod tests;
