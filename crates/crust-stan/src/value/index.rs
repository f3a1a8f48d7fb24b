//! Taking parts of values by index, and writing to them.

use std::fmt;
use std::sync::Arc;

use super::{Cell, Complex, Item, Numbers, Shape, Tensor, Tuple, Unavailable, Value};

/// An index with its numbers filled in; they count from one and may be out of range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    One(i32),
    All,
    Many(Vec<i32>),
    From(i32),
    UpTo(i32),
    Between(i32, i32),
}

/// Why an index does not lead anywhere, or a value does not fit there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexProblem {
    OutOfRange {
        /// Which index of the list, counted from one.
        position: usize,
        index: i32,
        size: usize,
    },
    /// More indices than dimensions, or a tuple part that does not exist. The type checker rules it out.
    NoSuchPart,
    /// The value to be written has another shape than the part it is written to.
    Mismatch { expected: Shape, found: Option<Shape> },
}

impl fmt::Display for IndexProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange { index, size: 0, .. } => {
                write!(f, "index {index} is out of range: there are no elements")
            }
            Self::OutOfRange { index, size, .. } => write!(f, "index {index} is out of range 1 to {size}"),
            Self::NoSuchPart => f.write_str("there is no such part"),
            Self::Mismatch { expected, found: Some(found) } => write!(f, "expected {expected}, found {found}"),
            Self::Mismatch { expected, found: None } => write!(f, "expected {expected}"),
        }
    }
}

/// A selector with its range checked; counts from zero.
#[derive(Clone, Debug)]
enum Pick {
    One(usize),
    Range { start: usize, len: usize },
    List(Vec<usize>),
}

impl Pick {
    fn len(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Range { len, .. } => *len,
            Self::List(list) => list.len(),
        }
    }

    fn keeps(&self) -> bool {
        !matches!(self, Self::One(_))
    }

    fn is_all(&self, size: usize) -> bool {
        matches!(self, Self::Range { start: 0, len } if *len == size)
    }

    fn for_each(&self, mut visit: impl FnMut(usize)) {
        match self {
            Self::One(i) => visit(*i),
            Self::Range { start, len } => (*start..start + len).for_each(visit),
            Self::List(list) => list.iter().copied().for_each(&mut visit),
        }
    }
}

/// Checks one index. `is_array`: only of arrays may `x[n + 1:]` be the empty rest; vectors refuse it, as in Stan.
fn pick(selector: &Selector, size: usize, position: usize, is_array: bool) -> Result<Pick, IndexProblem> {
    let place = |index: i32| match usize::try_from(index) {
        Ok(i) if (1..=size).contains(&i) => Ok(i - 1),
        _ => Err(IndexProblem::OutOfRange { position, index, size }),
    };
    Ok(match selector {
        Selector::One(i) => Pick::One(place(*i)?),
        Selector::All => Pick::Range { start: 0, len: size },
        Selector::Many(list) => Pick::List(list.iter().map(|&i| place(i)).collect::<Result<_, _>>()?),
        Selector::From(a) if is_array && usize::try_from(*a) == Ok(size + 1) => Pick::Range { start: size, len: 0 },
        Selector::From(a) => {
            let start = place(*a)?;
            Pick::Range { start, len: size - start }
        }
        Selector::UpTo(b) if *b <= 0 => Pick::Range { start: 0, len: 0 },
        Selector::UpTo(b) => Pick::Range { start: 0, len: place(*b)? + 1 },
        Selector::Between(a, b) if b < a => Pick::Range { start: 0, len: 0 },
        Selector::Between(a, b) => {
            let start = place(*a)?;
            Pick::Range { start, len: place(*b)? + 1 - start }
        }
    })
}

/// The picks of all dimensions of a tensor; dimensions without an index are taken whole.
fn picks(array: &[usize], cell: Cell, selectors: &[Selector]) -> Result<Vec<Pick>, IndexProblem> {
    let cell_dims = cell.dims();
    let dims = array.iter().chain(cell_dims.as_slice());
    if selectors.len() > array.len() + cell_dims.as_slice().len() {
        return Err(IndexProblem::NoSuchPart);
    }
    dims.enumerate()
        .map(|(k, &size)| pick(selectors.get(k).unwrap_or(&Selector::All), size, k + 1, k < array.len()))
        .collect()
}

/// The array dimensions and the cell of what is picked.
fn picked_shape(array: &[usize], cell: Cell, picks: &[Pick]) -> (Vec<usize>, Cell) {
    let (outer, inner) = picks.split_at(array.len());
    let dims = outer.iter().filter(|p| p.keeps()).map(Pick::len).collect();
    let real = match (cell.with_complex(false), inner) {
        (Cell::Vector(_), [p]) if p.keeps() => Cell::Vector(p.len()),
        (Cell::RowVector(_), [p]) if p.keeps() => Cell::RowVector(p.len()),
        (Cell::Matrix(..), [r, c]) => match (r.keeps(), c.keeps()) {
            (true, true) => Cell::Matrix(r.len(), c.len()),
            (true, false) => Cell::Vector(r.len()),
            (false, true) => Cell::RowVector(c.len()),
            (false, false) => Cell::Real,
        },
        (Cell::Int, _) => Cell::Int,
        _ => Cell::Real,
    };
    (dims, if cell.is_complex() { real.with_complex(true) } else { real })
}

/// Where the picked scalars lie, in the order of the layout of the result: the starts of pieces of `run` scalars.
fn places(array: &[usize], cell: Cell, picks: &[Pick]) -> (Vec<usize>, usize) {
    // The loops from the outside to the inside, each with its stride: array dimensions, then columns, then rows.
    let mut loops: Vec<(&Pick, usize, usize)> = Vec::with_capacity(picks.len());
    let mut stride = cell.scalars();
    for (k, &size) in array.iter().enumerate().rev() {
        loops.insert(0, (&picks[k], size, stride));
        stride = stride.saturating_mul(size);
    }
    match (&picks[array.len()..], cell.dims().as_slice()) {
        ([p], &[n]) => loops.push((p, n, 1)),
        ([r, c], &[rows, cols]) => {
            loops.push((c, cols, rows));
            loops.push((r, rows, 1));
        }
        _ => {}
    }
    // Inner dimensions that are taken whole make one contiguous piece.
    let mut run = 1;
    while let Some((pick, size, _)) = loops.last() {
        if !pick.is_all(*size) {
            break;
        }
        run *= size;
        loops.pop();
    }
    if run == 0 || loops.iter().any(|(pick, ..)| pick.len() == 0) {
        return (Vec::new(), 0);
    }
    let mut starts = vec![0];
    for (pick, _, stride) in loops {
        let mut next = Vec::with_capacity(starts.len() * pick.len());
        for start in starts {
            pick.for_each(|i| next.push(start + i * stride));
        }
        starts = next;
    }
    (starts, run)
}

impl Tensor {
    /// The scalar at a place of the layout, which must exist.
    pub fn scalar(&self, at: usize) -> Value {
        match &self.numbers {
            Numbers::Int(v) => Value::Int(v[at]),
            Numbers::Real(v) if self.cell.is_complex() => Value::Complex(Complex { re: v[2 * at], im: v[2 * at + 1] }),
            Numbers::Real(v) => Value::Real(v[at]),
        }
    }

    /// The place of one scalar, given one index for every dimension.
    pub fn place(&self, indices: &[i32]) -> Result<usize, IndexProblem> {
        let cell_dims = self.cell.dims();
        let inner = cell_dims.as_slice();
        if indices.len() != self.array.len() + inner.len() {
            return Err(IndexProblem::NoSuchPart);
        }
        let check = |k: usize, size: usize| match usize::try_from(indices[k]) {
            Ok(i) if (1..=size).contains(&i) => Ok(i - 1),
            _ => Err(IndexProblem::OutOfRange { position: k + 1, index: indices[k], size }),
        };
        let mut at = 0;
        for (k, &size) in self.array.iter().enumerate() {
            at = at * size + check(k, size)?;
        }
        let depth = self.array.len();
        match inner {
            [] => Ok(at),
            [n] => Ok(at * n + check(depth, *n)?),
            dims => {
                let (row, col) = (check(depth, dims[0])?, check(depth + 1, dims[1])?);
                Ok((at * dims[1] + col) * dims[0] + row)
            }
        }
    }

    fn select(&self, selectors: &[Selector]) -> Result<Value, IndexProblem> {
        let picks = picks(&self.array, self.cell, selectors)?;
        let (array, cell) = picked_shape(&self.array, self.cell, &picks);
        let (starts, run) = places(&self.array, self.cell, &picks);
        if array.is_empty() && cell.is_scalar() {
            return starts.first().map(|&at| self.scalar(at)).ok_or(IndexProblem::NoSuchPart);
        }
        let (unit, run) = (self.cell.unit(), run * self.cell.unit());
        let numbers = match &self.numbers {
            Numbers::Int(v) => Numbers::Int(gather(v, &starts, run, unit)),
            Numbers::Real(v) => Numbers::Real(gather(v, &starts, run, unit)),
        };
        Ok(Self { array, cell, numbers }.into())
    }

    fn assign(&mut self, selectors: &[Selector], value: &Value) -> Result<(), IndexProblem> {
        let picks = picks(&self.array, self.cell, selectors)?;
        let (array, cell) = picked_shape(&self.array, self.cell, &picks);
        let (starts, run) = places(&self.array, self.cell, &picks);
        let (unit, run) = (self.cell.unit(), run * self.cell.unit());
        let expected = || Shape { array: array.clone(), item: Item::Cell(cell) };
        match (value, &mut self.numbers) {
            (Value::Int(n), Numbers::Int(v)) if cell.is_scalar() && array.is_empty() => v[starts[0]] = *n,
            (Value::Real(x), Numbers::Real(v)) if cell == Cell::Real && array.is_empty() => v[starts[0]] = *x,
            (Value::Complex(z), Numbers::Real(v)) if cell == Cell::Complex && array.is_empty() => {
                v[starts[0] * 2..starts[0] * 2 + 2].copy_from_slice(&[z.re, z.im]);
            }
            (Value::Tensor(from), numbers) if from.array == array && from.cell == cell => {
                match (numbers, &from.numbers) {
                    (Numbers::Int(to), Numbers::Int(from)) => scatter(to, from, &starts, run, unit),
                    (Numbers::Real(to), Numbers::Real(from)) => scatter(to, from, &starts, run, unit),
                    _ => return Err(IndexProblem::Mismatch { expected: expected(), found: value.shape() }),
                }
            }
            _ => return Err(IndexProblem::Mismatch { expected: expected(), found: value.shape() }),
        }
        Ok(())
    }
}

fn gather<T: Copy>(from: &[T], starts: &[usize], run: usize, unit: usize) -> Vec<T> {
    let mut out = Vec::with_capacity(starts.len() * run);
    for start in starts {
        out.extend_from_slice(&from[start * unit..start * unit + run]);
    }
    out
}

fn scatter<T: Copy>(to: &mut [T], from: &[T], starts: &[usize], run: usize, unit: usize) {
    for (start, piece) in starts.iter().zip(from.chunks_exact(run.max(1))) {
        to[start * unit..start * unit + run].copy_from_slice(piece);
    }
}

impl Shape {
    /// The shape of the part that the selectors take.
    pub fn select(&self, selectors: &[Selector]) -> Result<Self, IndexProblem> {
        // A tuple has no dimensions of its own: a scalar cell stands in for it.
        let cell = match &self.item {
            Item::Cell(cell) => *cell,
            Item::Tuple(_) => Cell::Int,
        };
        let picks = picks(&self.array, cell, selectors)?;
        let (array, cell) = picked_shape(&self.array, cell, &picks);
        let item = match &self.item {
            Item::Cell(_) => Item::Cell(cell),
            tuple @ Item::Tuple(_) => tuple.clone(),
        };
        Ok(Self { array, item })
    }
}

impl Value {
    /// The part of this value that the selectors take; without selectors, all of it.
    pub fn select(&self, selectors: &[Selector]) -> Result<Self, IndexProblem> {
        match self {
            _ if selectors.is_empty() => Ok(self.clone()),
            Self::Tensor(t) => t.select(selectors),
            Self::Tuple(t) if selectors.len() <= t.array.len() => {
                let outer = Shape { array: t.array.clone(), item: Item::Cell(Cell::Int) }.select(selectors)?;
                let parts = t.parts.iter().map(|p| p.select(selectors)).collect::<Result<_, _>>()?;
                Ok(Tuple { array: outer.array, parts }.into())
            }
            Self::Unavailable(u) => {
                let shape = u.shape.as_ref().map(|s| s.select(selectors)).transpose()?;
                Ok(Self::Unavailable(Arc::new(Unavailable { shape, ..(**u).clone() })))
            }
            _ => Err(IndexProblem::NoSuchPart),
        }
    }

    /// The element of an array or vector, the row of a matrix; counts from zero.
    pub fn element(&self, at: usize) -> Option<Self> {
        let index = i32::try_from(at).ok()?.checked_add(1)?;
        self.select(&[Selector::One(index)]).ok()
    }

    /// Writes `value`, which has been promoted to the type there, to the part that the selectors take.
    ///
    /// Availability is kept per container: an unknown element makes its container unknown, of known shape.
    pub fn assign(&mut self, selectors: &[Selector], value: Self) -> Result<(), IndexProblem> {
        if selectors.is_empty() {
            *self = value;
            return Ok(());
        }
        match (self, value) {
            (Self::Tuple(to), Self::Tuple(from)) if from.parts.len() == to.parts.len() => {
                for (to, from) in Arc::make_mut(to).parts.iter_mut().zip(&from.parts) {
                    to.assign(selectors, from.clone())?;
                }
                Ok(())
            }
            (Self::Tuple(to), Self::Unavailable(u)) => {
                let part = Unavailable { shape: None, ..(*u).clone() };
                for to in &mut Arc::make_mut(to).parts {
                    to.assign(selectors, Self::Unavailable(Arc::new(part.clone())))?;
                }
                Ok(())
            }
            (to @ Self::Tensor(_), Self::Unavailable(u)) => {
                let shape = to.shape();
                shape.as_ref().map(|s| s.select(selectors)).transpose()?;
                *to = Self::Unavailable(Arc::new(Unavailable { shape, ..(*u).clone() }));
                Ok(())
            }
            (Self::Tensor(to), value) => Arc::make_mut(to).assign(selectors, &value),
            (Self::Unavailable(u), _) => u.shape.as_ref().map(|s| s.select(selectors)).transpose().map(|_| ()),
            _ => Err(IndexProblem::NoSuchPart),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Selector::{All, Between, From, Many, One, UpTo};

    /// A 3 by 4 matrix with `10 r + c` in row r, column c.
    fn matrix() -> Value {
        let numbers = (1..=4).flat_map(|c| (1..=3).map(move |r| f64::from(10 * r + c))).collect();
        Value::matrix(3, 4, numbers)
    }

    fn show(value: &Value, selectors: &[Selector]) -> String {
        match value.select(selectors) {
            Ok(v) => format!("{} {v}", v.shape().expect("known")),
            Err(problem) => problem.to_string(),
        }
    }

    #[test]
    fn every_kind_of_index_of_a_matrix() {
        let m = matrix();
        let table: &[(&[Selector], &str)] = &[
            (&[One(2), One(3)], "real 23"),
            (&[One(2)], "row_vector[4] [21, 22, 23, 24]"),
            (&[One(2), All], "row_vector[4] [21, 22, 23, 24]"),
            (&[All, One(2)], "vector[3] [12, 22, 32]"),
            (&[Many(vec![3, 1, 3]), UpTo(2)], "matrix[3, 2] [[31, 32], [11, 12], [31, 32]]"),
            (&[Between(2, 3), From(3)], "matrix[2, 2] [[23, 24], [33, 34]]"),
            (&[Between(3, 2)], "matrix[0, 4] []"),
            (&[UpTo(-7), One(1)], "vector[0] []"),
            (&[One(4)], "index 4 is out of range 1 to 3"),
            (&[One(1), One(0)], "index 0 is out of range 1 to 4"),
            (&[From(4)], "index 4 is out of range 1 to 3"),
            (&[All, Many(vec![1, 5])], "index 5 is out of range 1 to 4"),
            (&[One(1), One(1), One(1)], "there is no such part"),
        ];
        for (selectors, expected) in table {
            assert_eq!(show(&m, selectors), *expected, "{selectors:?}");
        }
    }

    #[test]
    fn arrays_of_matrices_and_the_empty_rest() {
        let numbers = (1..=12).map(f64::from).collect();
        let a: Value = Tensor::reals(vec![3], Cell::Matrix(2, 2), numbers).into();
        assert_eq!(show(&a, &[One(2)]), "matrix[2, 2] [[5, 7], [6, 8]]");
        assert_eq!(show(&a, &[Between(2, 3), One(1)]), "array[2] row_vector[2] [[5, 7], [9, 11]]");
        assert_eq!(show(&a, &[All, One(2), One(1)]), "array[3] real [2, 6, 10]");
        assert_eq!(show(&a, &[From(4)]), "array[0] matrix[2, 2] []");
        assert_eq!(show(&a, &[From(5)]), "index 5 is out of range 1 to 3");
    }

    #[test]
    fn writing_goes_where_reading_comes_from() {
        let selectors: &[&[Selector]] = &[
            &[One(2), One(3)],
            &[One(2)],
            &[All, One(2)],
            &[Many(vec![3, 1]), UpTo(2)],
            &[Between(2, 3), From(3)],
            &[Between(3, 2)],
        ];
        for selectors in selectors {
            let part = matrix().select(selectors).expect("in range");
            let mut target = Value::matrix(3, 4, vec![0.0; 12]);
            target.assign(selectors, part.clone()).expect("fits");
            assert_eq!(target.select(selectors).expect("in range"), part, "{selectors:?}");
            let sum = |v: &Value| v.to_reals().expect("numbers").iter().sum::<f64>();
            assert!((sum(&target) - sum(&part)).abs() < 1e-9, "{selectors:?} wrote elsewhere, too");
        }
        let mut target = matrix();
        let problem = target.assign(&[One(1)], Value::row_vector(vec![1.0])).expect_err("too short");
        assert_eq!(problem.to_string(), "expected row_vector[4], found row_vector[1]");
    }

    #[test]
    fn place_agrees_with_select() {
        let a: Value = Tensor::reals(vec![2, 3], Cell::Matrix(2, 2), (0..24).map(f64::from).collect()).into();
        let tensor = a.as_tensor().expect("a tensor");
        for (i, j, r, c) in [(1, 1, 1, 1), (2, 3, 2, 2), (1, 2, 2, 1), (2, 1, 1, 2)] {
            let at = tensor.place(&[i, j, r, c]).expect("in range");
            assert_eq!(tensor.scalar(at), a.select(&[One(i), One(j), One(r), One(c)]).expect("in range"));
        }
        assert!(tensor.place(&[1, 4, 1, 1]).is_err());
    }

    #[test]
    fn tuples_are_indexed_part_by_part() {
        let vectors = Tensor::reals(vec![2], Cell::Vector(2), vec![1.0, 2.0, 3.0, 4.0]);
        let mut t: Value = Tuple { array: vec![2], parts: vec![Value::int_array(vec![7, 8]), vectors.into()] }.into();
        assert_eq!(t.select(&[One(2)]).expect("in range").to_string(), "(8, [3, 4])");
        let new = Value::tuple(vec![Value::Int(9), Value::vector(vec![5.0, 6.0])]);
        t.assign(&[One(1)], new).expect("fits");
        assert_eq!(t.to_string(), "[(9, [5, 6]), (8, [3, 4])]");
        assert!(t.select(&[One(3)]).is_err());
    }

    #[test]
    fn an_unknown_element_leaves_the_shape_known() {
        let mut v = Value::vector(vec![1.0, 2.0]);
        v.assign(&[One(1)], Value::unavailable("chance", None, None)).expect("in range");
        assert_eq!(v.shape(), Some(Shape::cell(Cell::Vector(2))));
        assert_eq!(v.select(&[One(2)]).expect("in range").reason().map(|u| u.reason.as_str()), Some("chance"));
        assert!(v.select(&[One(3)]).is_err());
    }
}
