//! Draws of categories, vectors, matrices and counts, cell by cell, and how likely they are.

use crust_math::density::DomainError;
use crust_math::functions::Shape;
use crust_math::random::Stream;
use crust_stan::span::Span;

use crate::density::Density;
use crate::random::Container;
use crate::simulate::{Mode, Score, cell_density};

/// The arguments of a distribution, taken apart for the cells that are drawn.
pub struct Pieces<'a> {
    container: &'static Container,
    letters: &'static str,
    counts: bool,
    /// How many numbers a cell has, and its shape.
    len: usize,
    shape: Shape,
    /// For each argument its parts (one for all cells, or one for each) and their shape.
    parts: Vec<(Vec<&'a [f64]>, Shape)>,
}

impl<'a> Pieces<'a> {
    /// The error is a mistake in the program.
    pub fn new(
        (container, letters, counts): (&'static Container, &'static str, bool),
        shapes: &[Shape],
        arguments: &'a [Vec<f64>],
    ) -> Result<Self, String> {
        let shape = shapes[0];
        let category = letters.contains('c') && matches!(container.name, "categorical_rng" | "categorical_logit_rng")
            || letters == "sc" && container.name.starts_with("ordered");
        // The counts of one draw are an array; otherwise an array is one of draws.
        let (n, len, own) = if category {
            (shape.len(), 1, Shape::SCALAR)
        } else if counts {
            let inner = shape.size(shape.rank() - 1);
            (shape.len() / inner.max(1), inner, Shape::array(&[inner]))
        } else {
            (shape.cells(), shape.cell_len(), shape.cell_shape())
        };
        let mut parts = Vec::new();
        for ((list, given), letter) in arguments.iter().zip(&shapes[1..]).zip(letters.chars().chain("k".chars())) {
            let (count, own) = match letter {
                's' => (list.len(), Shape::SCALAR),
                'k' => (n, Shape::array(&[len])),
                _ => (given.cells(), given.cell_shape()),
            };
            if count != 1 && count != n {
                return Err(format!("{n} are drawn, but an argument has {count}: {given}"));
            }
            let size = list.len().checked_div(count).unwrap_or(1).max(1);
            parts.push((list.chunks(size).collect(), own));
        }
        Ok(Self { container, letters, counts, len: len.max(1), shape: own, parts })
    }

    /// The arguments for one cell.
    fn of(&self, cell: usize) -> Vec<&'a [f64]> {
        let pick =
            |(p, _): &(Vec<&'a [f64]>, Shape)| if p.len() == 1 { p[0] } else { p.get(cell).copied().unwrap_or(&[]) };
        self.parts.iter().map(pick).collect()
    }

    /// How many arguments the distribution has: behind those of counts stand the given ones, for their total.
    fn arity(&self) -> usize {
        self.parts.len() - usize::from(self.counts)
    }

    fn is_ready(&self, own: &[&[f64]]) -> bool {
        own[..self.arity()].iter().all(|list| list.iter().all(|x| !x.is_nan()))
    }

    /// Draws every cell in which something is missing, as soon as its arguments are there.
    pub fn draw(&self, stream: &mut Stream, out: &mut [f64]) -> Result<(), DomainError> {
        for (cell, to) in out.chunks_mut(self.len).enumerate() {
            let own = self.of(cell);
            if to.iter().all(|x| !x.is_nan()) || !self.is_ready(&own) {
                continue;
            }
            let total = [own.last().map_or(0.0, |given| given.iter().sum())];
            let size = [isqrt(to.len())];
            let all: Vec<&[f64]> = if self.counts {
                own[..self.arity()].iter().copied().chain([&total[..]]).collect()
            } else if self.letters == "s" {
                [&size[..]].into_iter().chain(own.iter().copied()).collect()
            } else {
                own
            };
            (self.container.draw)(stream, &all, to)
                .map_err(|error| DomainError { function: self.container.name, ..error })?;
        }
        Ok(())
    }

    /// Adds the log density of the cells that have been drawn just now, or of all if they are given.
    pub fn score(&self, score: &mut Score, density: Option<Density>, (before, after): (&[f64], &[f64]), span: Span) {
        let cells = before.chunks(self.len).zip(after.chunks(self.len)).enumerate();
        for (cell, (before, after)) in cells {
            let own = self.of(cell);
            let fresh = before.iter().any(|x| x.is_nan());
            let there = after.iter().all(|x| !x.is_nan()) && self.is_ready(&own);
            if !there || !(fresh || score.mode == Mode::Given) {
                continue;
            }
            let mut list = vec![(after, self.shape)];
            list.extend(own[..self.arity()].iter().zip(&self.parts).map(|(numbers, (_, shape))| (*numbers, *shape)));
            score.add(cell_density(density, &list).into(), span);
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "matrices are small")]
fn isqrt(n: usize) -> f64 {
    n.isqrt() as f64
}
