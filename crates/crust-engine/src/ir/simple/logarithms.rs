//! Logarithms of numbers, from how these were made.

use super::super::graph::{Op, Ref};
use super::known::positive;
use super::{Pieces, Writer};
use crate::kernels::arithmetic::Arithmetic;
use crust_math::functions::elementwise::UNARY;

/// What is nested deeper than this keeps its logarithm.
const DEEP: u32 = 6;

/// `pieces`, all of them times a number.
pub fn scaled(pieces: Pieces, by: f64) -> Pieces {
    pieces.into_iter().map(|(x, weight)| (x, weight * by)).collect()
}

impl Writer<'_> {
    pub(super) fn unary(&mut self, name: &str, x: Ref) -> Option<Ref> {
        let function = UNARY.iter().find(|f| f.name == name)?;
        Some(self.graph.unary(function, x))
    }

    pub(super) fn constant(&mut self, x: f64) -> (Ref, f64) {
        (self.graph.constant(1.0), x)
    }

    /// `log(1 + e⁻ᵘ)`
    fn softplus_of_opposite(&mut self, u: Ref) -> Option<Ref> {
        let minus = self.graph.negate(u);
        self.unary("log1p_exp", minus)
    }

    /// `log x` where it is made of numbers that are there, or of what the log Jacobian of a bound needs.
    pub(super) fn free_log(&mut self, x: Ref, depth: u32) -> Option<Pieces> {
        if let Some(x) = self.graph.known(x) {
            return (x > 0.0 && x.is_finite()).then(|| Pieces::from_slice(&[self.constant(x.ln())]));
        }
        if depth > DEEP {
            return None;
        }
        let arguments = self.graph.arguments(x);
        match (self.graph.op(x), arguments) {
            (Op::Unary(index), &[a]) => match self.graph.unaries[index as usize].name {
                "exp" => Some(Pieces::from_slice(&[(a, 1.0)])),
                "inv_logit" => {
                    let softplus = self.softplus_of_opposite(a)?;
                    Some(Pieces::from_slice(&[(softplus, -1.0)]))
                }
                "sqrt" => self.free_log(a, depth + 1).map(|log| scaled(log, 0.5)),
                "inv_sqrt" => self.free_log(a, depth + 1).map(|log| scaled(log, -0.5)),
                "inv" => self.free_log(a, depth + 1).map(|log| scaled(log, -1.0)),
                "square" => self.free_log(a, depth + 1).map(|log| scaled(log, 2.0)),
                _ => None,
            },
            (Op::Multiply, &[a, b]) => {
                let mut log = self.free_log(a, depth + 1)?;
                log.extend(self.free_log(b, depth + 1)?);
                Some(log)
            }
            (Op::Divide, &[a, b]) => {
                let mut log = self.free_log(a, depth + 1)?;
                log.extend(scaled(self.free_log(b, depth + 1)?, -1.0));
                Some(log)
            }
            (Op::Subtract, &[one, b]) if self.graph.known(one) == Some(1.0) => self.free_log1m(b, depth + 1),
            _ => None,
        }
    }

    fn free_log1m(&mut self, x: Ref, depth: u32) -> Option<Pieces> {
        if let Some(x) = self.graph.known(x) {
            return (x < 1.0 && x.is_finite()).then(|| Pieces::from_slice(&[self.constant((-x).ln_1p())]));
        }
        if depth > DEEP {
            return None;
        }
        match (self.graph.op(x), self.graph.arguments(x)) {
            (Op::Unary(index), &[a]) if self.graph.unaries[index as usize].name == "inv_logit" => {
                let softplus = self.softplus_of_opposite(a)?;
                Some(Pieces::from_slice(&[(a, -1.0), (softplus, -1.0)]))
            }
            (Op::Subtract, &[one, b]) if self.graph.known(one) == Some(1.0) => self.free_log(b, depth + 1),
            _ => None,
        }
    }

    /// The logarithm of a number that is positive by construction.
    pub(super) fn log(&mut self, x: Ref) -> Option<Pieces> {
        match self.free_log(x, 0) {
            Some(log) => Some(log),
            None if positive(self.graph, x, 0) => {
                let log = self.unary("log", x)?;
                Some(Pieces::from_slice(&[(log, 1.0)]))
            }
            None => None,
        }
    }

    /// `log(1 − x)` of a number between 0 and 1.
    pub(super) fn log1m(&mut self, x: Ref) -> Option<Pieces> {
        if let Some(log) = self.free_log1m(x, 0) {
            return Some(log);
        }
        let log = self.unary("log1m", x)?;
        Some(Pieces::from_slice(&[(log, 1.0)]))
    }

    /// Pieces times a number that depends on parameters, or one that does not.
    pub(super) fn times(&mut self, pieces: Pieces, by: Ref) -> Pieces {
        let known = self.graph.known(by);
        let times = |(x, weight): (Ref, f64)| match (known, self.graph.known(x)) {
            (Some(by), _) => (x, weight * by),
            (None, Some(x)) => (by, weight * x),
            (None, None) => (self.graph.arithmetic(Arithmetic::Multiply, by, x), weight),
        };
        pieces.into_iter().map(times).collect()
    }
}
