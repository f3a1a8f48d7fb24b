//! Sorting, ranks and quantiles.

use super::sums::count;
use crate::density::{Domain, DomainError};
use crate::functions::{Argument, Shape, ShapeError, VectorFunction};
use std::cmp::Ordering;

#[derive(Clone, Copy)]
enum Direction {
    Ascending,
    Descending,
}

impl Direction {
    /// The order of two elements; equal ones stay as they are.
    #[expect(clippy::float_cmp, reason = "ties are exact")]
    fn compare(self, x: &[f64], i: usize, j: usize) -> Ordering {
        let order = match self {
            Self::Ascending => x[i].total_cmp(&x[j]),
            Self::Descending => x[j].total_cmp(&x[i]),
        };
        // ±0 are equal
        if x[i] == x[j] { i.cmp(&j) } else { order }
    }

    /// Writes the positions, from 0, of the elements in their order.
    fn permutation(self, x: &[f64], positions: &mut [f64]) {
        for (i, position) in positions.iter_mut().enumerate() {
            *position = count(i);
        }
        positions.sort_unstable_by(|&i, &j| self.compare(x, index(i), index(j)));
    }
}

/// A position that was written as a number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was an index before")]
fn index(position: f64) -> usize {
    position as usize
}

fn one(arguments: &[Argument]) -> Result<Shape, ShapeError> {
    let [x] = arguments else { return Err(ShapeError::Arguments("one argument")) };
    Ok(x.shape)
}

fn no_nan(name: &'static str, argument: &'static str, x: &[f64]) -> Result<(), DomainError> {
    x.iter().try_for_each(|&x| Domain(name).not_nan(argument, x))
}

/// The numbers of a container in order.
pub(super) struct Sort {
    name: &'static str,
    direction: Direction,
}

pub(super) const SORT_ASC: Sort = Sort { name: "sort_asc", direction: Direction::Ascending };
pub(super) const SORT_DESC: Sort = Sort { name: "sort_desc", direction: Direction::Descending };

impl VectorFunction for Sort {
    fn name(&self) -> &'static str {
        self.name
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        one(arguments)
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        arguments[0].len()
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], scratch: &mut [f64]) -> Result<(), DomainError> {
        let x = arguments[0].numbers;
        no_nan(self.name, "container argument", x)?;
        let positions = &mut scratch[..x.len()];
        self.direction.permutation(x, positions);
        for (out, &i) in out.iter_mut().zip(&*positions) {
            *out = x[index(i)];
        }
        Ok(())
    }

    fn reverse(
        &self,
        arguments: &[Argument],
        _: &[f64],
        adjoint: &[f64],
        adjoints: &mut [&mut [f64]],
        scratch: &mut [f64],
    ) {
        let x = arguments[0].numbers;
        if adjoints[0].is_empty() {
            return;
        }
        let positions = &mut scratch[..x.len()];
        self.direction.permutation(x, positions);
        for (a, &i) in adjoint.iter().zip(&*positions) {
            adjoints[0][index(i)] += a;
        }
    }
}

/// The positions, from 1, of the numbers of a container in their order.
pub(super) struct SortIndices {
    name: &'static str,
    direction: Direction,
}

pub(super) const SORT_INDICES_ASC: SortIndices =
    SortIndices { name: "sort_indices_asc", direction: Direction::Ascending };
pub(super) const SORT_INDICES_DESC: SortIndices =
    SortIndices { name: "sort_indices_desc", direction: Direction::Descending };

impl VectorFunction for SortIndices {
    fn name(&self) -> &'static str {
        self.name
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        Ok(Shape::array(&[one(arguments)?.len()]))
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], _: &mut [f64]) -> Result<(), DomainError> {
        self.direction.permutation(arguments[0].numbers, out);
        out.iter_mut().for_each(|position| *position += 1.0);
        Ok(())
    }

    fn reverse(&self, _: &[Argument], _: &[f64], _: &[f64], _: &mut [&mut [f64]], _: &mut [f64]) {}
}

/// How many elements are smaller than the one at the position.
pub(super) struct Rank;

impl VectorFunction for Rank {
    fn name(&self) -> &'static str {
        "rank"
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        let [x, position] = arguments else { return Err(ShapeError::Arguments("two arguments")) };
        match position.numbers.first() {
            Some(&position) if !(1.0..=count(x.shape.len())).contains(&position) => {
                Err(ShapeError::Position { position, last: x.shape.len() })
            }
            _ => Ok(Shape::SCALAR),
        }
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], _: &mut [f64]) -> Result<(), DomainError> {
        let (x, position) = (arguments[0].numbers, arguments[1].numbers[0]);
        let inside = (1.0..=count(x.len())).contains(&position);
        Domain("rank").that(inside, "position", position, "one of the container")?;
        let element = x[index(position) - 1];
        out[0] = count(x.iter().filter(|&&x| x < element).count());
        Ok(())
    }

    fn reverse(&self, _: &[Argument], _: &[f64], _: &[f64], _: &mut [&mut [f64]], _: &mut [f64]) {}
}

/// Quantiles of data, with linear interpolation between order statistics (type 7 of Hyndman and Fan 1996).
pub(super) struct Quantile;

impl VectorFunction for Quantile {
    fn name(&self) -> &'static str {
        "quantile"
    }

    fn shape(&self, arguments: &[Argument]) -> Result<Shape, ShapeError> {
        let [_, p] = arguments else { return Err(ShapeError::Arguments("two arguments")) };
        Ok(p.shape)
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        arguments[0].len()
    }

    fn value(&self, arguments: &[Argument], out: &mut [f64], scratch: &mut [f64]) -> Result<(), DomainError> {
        let (x, p) = (arguments[0].numbers, arguments[1].numbers);
        let domain = Domain("quantile");
        p.iter().try_for_each(|&p| domain.bounded("p", p, 0.0, 1.0, "in the interval [0, 1]"))?;
        no_nan("quantile", "samples_vec", x)?;
        if x.is_empty() {
            out.fill(0.0);
            return Ok(());
        }
        let sorted = &mut scratch[..x.len()];
        sorted.copy_from_slice(x);
        sorted.sort_unstable_by(f64::total_cmp);
        for (out, p) in out.iter_mut().zip(p) {
            let place = count(x.len() - 1) * p;
            let (low, high) = (index(place.floor()), index(place.ceil()));
            let part = place - place.floor();
            // an infinite neighbour does not count if it has no part
            *out = if low == high { sorted[low] } else { (1.0 - part) * sorted[low] + part * sorted[high] };
        }
        Ok(())
    }

    fn reverse(&self, _: &[Argument], _: &[f64], _: &[f64], _: &mut [&mut [f64]], _: &mut [f64]) {}
}
