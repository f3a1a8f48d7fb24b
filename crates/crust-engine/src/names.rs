//! Names of the numbers in a value, and where each of them is.

use crust_math::functions::{Cell, Shape};

use crate::code::{Constraint, Item, Quantity};
use crate::machine::{Machine, Run};

/// The numbers of a parameter or another quantity of the output.
#[derive(Clone, Debug)]
pub struct Layout {
    pub name: String,
    pub slot: u32,
    pub parts: Vec<Part>,
    /// How many unconstrained numbers a parameter takes.
    pub free_size: usize,
}

/// A quantity without tuples in it, or a part of one with.
#[derive(Clone, Debug)]
pub struct Part {
    /// Which part of the tuple, and of the tuple inside; empty where there is no tuple.
    pub path: Vec<usize>,
    pub shape: Shape,
    /// Unconstrained numbers per cell, where that differs from the numbers of the cell.
    free_cell: Option<usize>,
}

/// Works out the sizes of a quantity.
pub fn layout(machine: &mut Machine, quantity: &Quantity) -> Run<Layout> {
    let mut parts = Vec::new();
    collect(machine, &quantity.declared, &[], &mut Vec::new(), &mut parts)?;
    let free_size = parts.iter().map(Part::free_size).sum();
    Ok(Layout { name: quantity.name.clone(), slot: quantity.slot, parts, free_size })
}

fn collect(
    machine: &mut Machine,
    declared: &crate::code::Declared,
    arrays: &[usize],
    path: &mut Vec<usize>,
    parts: &mut Vec<Part>,
) -> Run<()> {
    match &declared.item {
        Item::Cell { constraint, .. } => {
            let shape = machine.declared_shape(arrays, declared)?;
            let free_cell = match constraint {
                Constraint::Special(_) => Some(constraint.transform(shape.rows(), shape.columns()).free_size()),
                _ => None,
            };
            parts.push(Part { path: path.clone(), shape, free_cell });
        }
        Item::Tuple(list) => {
            let mut all = arrays.to_vec();
            for size in &declared.arrays {
                all.push(usize::try_from(machine.int(size)?).unwrap_or(0));
            }
            for (i, part) in list.iter().enumerate() {
                path.push(i);
                collect(machine, part, &all, path, parts)?;
                path.pop();
            }
        }
    }
    Ok(())
}

impl Part {
    /// Where in a tuple: `.2.1`.
    fn dots(&self) -> String {
        let mut dots = String::new();
        for part in &self.path {
            dots.push('.');
            dots.push_str(&(part + 1).to_string());
        }
        dots
    }

    fn free_size(&self) -> usize {
        self.free_cell.map_or_else(|| self.shape.len(), |n| n * self.shape.cells())
    }

    /// Calls `f` with the indices of each number (from 1) and its position, the first index running fastest: the order
    /// of Stan's output.
    pub fn each_in_output_order(&self, mut f: impl FnMut(&[usize], usize)) {
        let shape = &self.shape;
        let rank = shape.rank();
        let arrays = shape.array_rank();
        let mut at = vec![1; rank];
        if shape.is_empty() {
            return;
        }
        loop {
            let mut position = 0;
            for (d, at) in at[..arrays].iter().enumerate() {
                position = position * shape.size(d) + at - 1;
            }
            position *= shape.cell_len();
            position += match shape.cell() {
                Cell::Scalar => 0,
                Cell::Vector | Cell::RowVector => at[arrays] - 1,
                Cell::Matrix => at[arrays] - 1 + (at[arrays + 1] - 1) * shape.rows(),
            };
            f(&at, position);
            let Some(d) = (0..rank).find(|&d| at[d] < shape.size(d)) else { return };
            at[..d].fill(1);
            at[d] += 1;
        }
    }
}

impl Layout {
    /// Names of all numbers as they stand in the program: `theta[1,2]`; the first index runs fastest.
    pub fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for part in &self.parts {
            let path = part.dots();
            part.each_in_output_order(|at, _| names.push(format!("{}{path}{}", self.name, brackets(at))));
        }
        names
    }

    /// How many numbers there are.
    #[allow(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.parts.iter().map(|p| p.shape.len()).sum()
    }

    /// Names of the unconstrained numbers, in the order in which they lie: arrays row by row, matrices column by
    /// column.
    pub fn free_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for part in &self.parts {
            let path = part.dots();
            let shape = &part.shape;
            let arrays: Vec<usize> = (0..shape.array_rank()).map(|d| shape.size(d)).collect();
            for cell in 0..shape.cells() {
                let mut at: Vec<usize> = Vec::new();
                let mut rest = cell;
                for &n in arrays.iter().rev() {
                    at.insert(0, rest % n + 1);
                    rest /= n;
                }
                let per = part.free_cell.unwrap_or(shape.cell_len());
                for e in 0..per {
                    let mut at = at.clone();
                    match (part.free_cell, shape.cell()) {
                        (None, Cell::Scalar) => {}
                        (None, Cell::Matrix) => at.extend([e % shape.rows() + 1, e / shape.rows() + 1]),
                        _ => at.push(e + 1),
                    }
                    names.push(format!("{}{path}{}", self.name, brackets(&at)));
                }
            }
        }
        names
    }
}

fn brackets(at: &[usize]) -> String {
    if at.is_empty() {
        return String::new();
    }
    let list: Vec<String> = at.iter().map(usize::to_string).collect();
    format!("[{}]", list.join(","))
}
