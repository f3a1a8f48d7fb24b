//! Sums over elements of vectors that are added to the log density, such as `-0.5 * dot_self(phi[i] - phi[j])`: as if a
//! loop went through the elements.

use super::builder::Item;
use super::expressions::Dependence;
use super::statements::Compiler;
use super::vectors::FEW;
use super::{Fit, Obstacle};
use crate::code::{Factor, Kind, Node};
use crate::flat::Step;
use crate::kernels::arithmetic::Arithmetic;

/// A summand with the number that it is multiplied with.
struct Part<'n> {
    node: &'n Node,
    by: f64,
}

impl Compiler<'_> {
    /// Adds an expression summand by summand if there are long sums in it. Says whether it has done so.
    pub(super) fn add_sums(&mut self, value: &Node, factor: Factor) -> Fit<bool> {
        let mut parts = Vec::new();
        self.take_apart(value, 1.0, &mut parts)?;
        let mut long = Vec::new();
        for part in &parts {
            long.push(self.is_long_sum(part.node)?);
        }
        if !long.contains(&true) {
            return Ok(false);
        }
        for (Part { node, by }, long) in parts.into_iter().zip(long) {
            if long {
                self.add_long_sum(node, by, factor)?;
            } else if by.to_bits() == 1.0_f64.to_bits() && matches!(node.kind, Kind::Density(_)) {
                self.add(node, factor)?;
            } else {
                let item = self.scalar(node)?;
                let item = self.builder.affine(&item, by, None, None)?;
                let x = self.builder.argument(&item)?;
                self.builder.sink(Step::Add { x, factor });
            }
        }
        Ok(true)
    }

    fn take_apart<'n>(&mut self, node: &'n Node, by: f64, parts: &mut Vec<Part<'n>>) -> Fit<()> {
        match &node.kind {
            Kind::Negate(x) => self.take_apart(x, -by, parts),
            Kind::Arithmetic(Arithmetic::Add, pair) => {
                self.take_apart(&pair[0], by, parts)?;
                self.take_apart(&pair[1], by, parts)
            }
            Kind::Arithmetic(Arithmetic::Subtract, pair) => {
                self.take_apart(&pair[0], by, parts)?;
                self.take_apart(&pair[1], -by, parts)
            }
            Kind::Arithmetic(Arithmetic::Multiply, pair) => {
                let [a, b] = &**pair;
                match (self.number(a)?, self.number(b)?) {
                    (Some(number), None) => self.take_apart(b, by * number, parts),
                    (None, Some(number)) => self.take_apart(a, by * number, parts),
                    _ => {
                        parts.push(Part { node, by });
                        Ok(())
                    }
                }
            }
            _ => {
                parts.push(Part { node, by });
                Ok(())
            }
        }
    }

    /// A number that is known from data.
    fn number(&mut self, node: &Node) -> Fit<Option<f64>> {
        if self.dependence(node) != Dependence::default() {
            return Ok(None);
        }
        let view = self.machine.numbers(node)?;
        let number = view.shape.is_scalar().then(|| self.machine.arena.of(view.block, self.machine.width)[0]);
        Ok(number.filter(|x| x.is_finite()))
    }

    /// Whether this is a sum over a vector that has to be computed first.
    fn is_long_sum(&mut self, node: &Node) -> Fit<bool> {
        let (Kind::DotSelf(x) | Kind::Sum(x)) = &node.kind else { return Ok(false) };
        if !self.is_computed(x) {
            return Ok(false);
        }
        let shape = self.machine.numbers(x)?.shape;
        Ok(shape.rank() == 1 && shape.len() > FEW)
    }

    fn add_long_sum(&mut self, node: &Node, by: f64, factor: Factor) -> Fit<()> {
        let (Kind::DotSelf(x) | Kind::Sum(x)) = &node.kind else { return Err(Obstacle::Unfit) };
        let n = self.machine.numbers(x)?.shape.len();
        let (terms, outer) = (std::mem::replace(&mut self.terms, false), self.elements_of(n));
        let found = self.long_sum(x, matches!(node.kind, Kind::DotSelf(_)), by, factor);
        self.terms = terms;
        let builder = std::mem::replace(&mut self.builder, outer);
        self.known.clear();
        found?;
        self.flat.strips.push(builder.finish());
        Ok(())
    }

    fn long_sum(&mut self, x: &Node, squares: bool, by: f64, factor: Factor) -> Fit<()> {
        let index = self.element_index(x);
        let mut item = self.element(x, &index)?;
        if squares {
            let pairs = vec![[self.builder.argument(&item)?, self.builder.argument(&Item::Constant(0.0))?]];
            item = self.builder.step(|out| Step::SquaredDistance { pairs, out })?;
        }
        let item = self.builder.affine(&item, by, None, None)?;
        let x = self.builder.argument(&item)?;
        self.builder.sink(Step::Add { x, factor });
        Ok(())
    }
}
