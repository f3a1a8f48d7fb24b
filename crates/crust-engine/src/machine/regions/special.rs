//! Parameters whose elements depend on each other, as operations on unconstrained numbers: simplexes, ordered vectors
//! and vectors that sum to zero. The formulas are those of `crust_math::transforms`.

use crust_stan::ast::SpecialType;

use super::direct::jacobian_term;
use crate::code::Constraint;
use crate::ir::Ref;
use crate::kernels::arithmetic::Arithmetic::{Add, Multiply, Subtract};
use crate::machine::symbolic::{Refs, unary_named};
use crate::machine::{Machine, Run, Stop};

/// Longer vectors are left to the machine: their sums wait for each other.
const LONGEST: usize = 64;

/// Whether a list can check such a constraint at the end of a block.
pub fn is_guarded(constraint: &Constraint) -> bool {
    use SpecialType::{Ordered, PositiveOrdered, Simplex};
    matches!(constraint, Constraint::Special(Simplex | Ordered | PositiveOrdered))
}

impl Machine {
    /// One vector of `size` elements, from as many unconstrained numbers as it has.
    pub(super) fn constrain_special(&mut self, special: SpecialType, free: &[Ref], size: usize) -> Run<Refs> {
        if size == 0 || size > LONGEST {
            return Err(Stop::LanesUnfit);
        }
        match special {
            SpecialType::Simplex => self.simplex_of(free),
            SpecialType::SumToZeroVector => Ok(self.log_ratios(free)),
            SpecialType::Ordered => self.rising(free, false),
            SpecialType::PositiveOrdered => self.rising(free, true),
            _ => Err(Stop::LanesUnfit),
        }
    }

    /// With `wₙ = xₙ / √(n (n + 1))`: `zₙ = Σ_{m > n} wₘ − n wₙ`.
    fn log_ratios(&mut self, free: &[Ref]) -> Refs {
        let graph = self.graph();
        let mut all = Refs::from_elem(0, free.len() + 1);
        let mut sum = graph.constant(0.0);
        let mut n: u32 = crate::memory::cast(free.len());
        for (k, &x) in free.iter().enumerate().rev() {
            let count = f64::from(n);
            let scale = graph.constant(1.0 / (count * (count + 1.0)).sqrt());
            let w = graph.arithmetic(Multiply, x, scale);
            let count = graph.constant(count);
            let part = graph.arithmetic(Multiply, count, w);
            all[k + 1] = graph.arithmetic(Subtract, sum, part);
            sum = graph.arithmetic(Add, sum, w);
            n -= 1;
        }
        all[0] = sum;
        all
    }

    /// `softmax(z)`, whose log Jacobian is `½ log K − K log Σ exp(z)`: the elements of z add up to 0.
    fn simplex_of(&mut self, free: &[Ref]) -> Run<Refs> {
        let exp = unary_named("exp")?;
        let z = self.log_ratios(free);
        let jacobian = self.wanted.jacobian;
        let graph = self.graph();
        let total = graph.log_sum_exp(&z);
        let count: u32 = crate::memory::cast(z.len());
        let count = f64::from(count);
        let (many, half_log) = (graph.constant(-count), graph.constant(0.5 * count.ln()));
        let slope = graph.arithmetic(Multiply, many, total);
        jacobian_term(graph, slope, jacobian);
        jacobian_term(graph, half_log, jacobian);
        let each = z.iter().map(|&z| {
            let log = graph.arithmetic(Subtract, z, total);
            graph.unary(exp, log)
        });
        let simplex: Refs = each.collect();
        self.is_simplex(&simplex);
        Ok(simplex)
    }

    fn rising(&mut self, free: &[Ref], positive: bool) -> Run<Refs> {
        let exp = unary_named("exp")?;
        let jacobian = self.wanted.jacobian;
        let graph = self.graph();
        let mut all = Refs::new();
        for (k, &x) in free.iter().enumerate() {
            if k == 0 && !positive {
                all.push(x);
                continue;
            }
            jacobian_term(graph, x, jacobian);
            let step = graph.unary(exp, x);
            let next = all.last().map_or(step, |&last| graph.arithmetic(Add, last, step));
            all.push(next);
        }
        Ok(all)
    }
}
