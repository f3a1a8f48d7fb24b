//! Building, reshaping, measuring and cutting values.

use crust_math::functions::{Cell, Shape};
use crust_stan::span::Span;
use smallvec::SmallVec;

use super::value::{Value, View};
use super::{Machine, Run, Stop, fatal};
use crate::code::{Comparison, Node};
use crate::ir::{Graph, Ref};
use crate::memory::{Flags, cast};
use crate::structure::Structure;

/// The most numbers that a container may have, as in the front end.
const MOST_NUMBERS: usize = 1 << 28;

impl Machine {
    pub(super) fn structure(&mut self, structure: Structure, arguments: &[Node], span: Span) -> Run<View> {
        use Structure as S;
        if let Some(x) = constant(structure) {
            return self.number(x);
        }
        if structure == S::Size || structure == S::NumElements {
            // Also of arrays of tuples.
            if let Value::Tuple { first, .. } = self.eval(&arguments[0])? {
                return match self.tuples[first as usize] {
                    Value::Numbers(view) => self.int_number(view.shape.size(0)),
                    _ => fatal("not-supported", "the engine cannot measure nested tuples", span),
                };
            }
        }
        let views = self.list(arguments)?;
        match structure {
            S::RepVector | S::RepRowVector | S::RepMatrix | S::RepArray => self.repeat(structure, &views, span),
            S::AppendRow | S::AppendCol | S::AppendArray => self.append(structure, &views, span),
            S::Head | S::Tail | S::Segment => self.stretch(structure, &views, span),
            S::Block | S::SubRow | S::SubCol | S::Row | S::Col => self.submatrix(structure, &views, span),
            S::Diagonal | S::DiagMatrix | S::SymmetrizeFromLowerTri | S::Reverse => self.arranged(structure, views[0]),
            S::ToVector | S::ToRowVector | S::ToArray1d => Ok(flatten(structure, views[0])),
            S::ToMatrix => self.as_matrix(&views, span),
            S::ToArray2d => self.as_array_2d(views[0]),
            S::Size => {
                let shape = views[0].shape;
                let n = if shape.array_rank() > 0 || shape.is_scalar() { first_size(&shape) } else { shape.len() };
                self.int_number(n)
            }
            S::NumElements => self.int_number(views[0].shape.len()),
            S::Rows => self.int_number(views[0].shape.rows()),
            S::Cols => self.int_number(views[0].shape.columns()),
            S::Dims => {
                let shape = views[0].shape;
                // To Stan a vector is a matrix of one column here, and a row vector one of one row.
                let arrays = (0..shape.array_rank()).map(|d| shape.size(d));
                let cell: &[usize] = if shape.cell() == Cell::Scalar { &[] } else { &[shape.rows(), shape.columns()] };
                #[allow(clippy::cast_precision_loss, reason = "sizes fit in 32 bits")]
                let dims: SmallVec<[f64; 8]> = arrays.chain(cell.iter().copied()).map(|n| n as f64).collect();
                let block = self.uniform(&dims)?;
                Ok(View { shape: Shape::array(&[dims.len()]), block })
            }
            S::ToInt => self.each(views[0], f64::trunc),
            S::IntStep => self.truths(views[0], |x| x > 0.0, |graph, x| against(graph, Comparison::Greater, x, 0.0)),
            S::IsInf => self.truths(views[0], f64::is_infinite, |graph, x| {
                let ends = [f64::INFINITY, f64::NEG_INFINITY].map(|end| against(graph, Comparison::Equal, x, end));
                graph.connect(true, ends[0], ends[1])
            }),
            S::IsNan => self.truths(views[0], f64::is_nan, |graph, x| graph.compare(Comparison::NotEqual, x, x)),
            S::LogicalNegation => self.truths(views[0], |x| x == 0.0, Graph::not),
            S::LogicalOr
            | S::LogicalAnd
            | S::LogicalEq
            | S::LogicalNeq
            | S::LogicalLt
            | S::LogicalLte
            | S::LogicalGt
            | S::LogicalGte => self.comparison(structure, &views),
            _ => self.filled(structure, &views, span),
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "sizes fit in 32 bits")]
    fn int_number(&mut self, n: usize) -> Run<View> {
        self.number(n as f64)
    }

    /// A count among the arguments.
    pub(super) fn count(&mut self, view: View, what: &str, span: Span) -> Run<usize> {
        let n = self.uniform_number(view)?;
        if n < 0.0 || n > f64::from(u32::MAX) {
            return fatal("bad-arguments", format!("{what} is {n}, but must not be negative"), span);
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
        Ok(n as usize)
    }

    fn each(&mut self, x: View, f: fn(f64) -> f64) -> Run<View> {
        if self.is_symbolic(x) {
            return Err(Stop::LanesUnfit);
        }
        let y = self.allocate(x.block.count(), x.block.flags.without(Flags::GRADIENT))?;
        let (low, out) = self.arena.below(y, self.width);
        for (y, x) in out.iter_mut().zip(&low[x.block.range(self.width)]) {
            *y = f(*x);
        }
        Ok(View { shape: x.shape, block: y })
    }

    /// A truth about each number.
    fn truths(&mut self, x: View, f: fn(f64) -> bool, traced: fn(&mut Graph, Ref) -> Ref) -> Run<View> {
        if self.is_symbolic(x) {
            return self.traced_map(&[x], x.shape, |graph, x| traced(graph, x[0]));
        }
        let y = self.allocate(x.block.count(), x.block.flags.without(Flags::GRADIENT))?;
        let (low, out) = self.arena.below(y, self.width);
        for (y, x) in out.iter_mut().zip(&low[x.block.range(self.width)]) {
            *y = f64::from(f(*x));
        }
        Ok(View { shape: x.shape, block: y })
    }

    fn comparison(&mut self, structure: Structure, views: &[View]) -> Run<View> {
        use Structure as S;
        #[allow(clippy::float_cmp, reason = "the program asks for it")]
        self.item_by_item(views, |x| {
            let (a, b) = (x[0], x[1]);
            f64::from(match structure {
                S::LogicalOr => a != 0.0 || b != 0.0,
                S::LogicalAnd => a != 0.0 && b != 0.0,
                S::LogicalEq => a == b,
                S::LogicalNeq => a != b,
                S::LogicalLt => a < b,
                S::LogicalLte => a <= b,
                S::LogicalGt => a > b,
                _ => a >= b,
            })
        })
    }

    fn repeat(&mut self, structure: Structure, views: &[View], span: Span) -> Run<View> {
        let x = views[0];
        let mut sizes: SmallVec<[usize; 4]> = SmallVec::new();
        for &size in &views[1..] {
            sizes.push(self.count(size, "a size", span)?);
        }
        let shape = match structure {
            Structure::RepVector => Shape::vector(sizes[0]),
            Structure::RepRowVector => Shape::row_vector(sizes[0]),
            Structure::RepMatrix => match x.shape.cell() {
                Cell::Scalar => Shape::matrix(sizes[0], sizes[1]),
                Cell::Vector => Shape::matrix(x.shape.len(), sizes[0]),
                _ => Shape::matrix(sizes[0], x.shape.len()),
            },
            _ => sizes.iter().rev().fold(x.shape, |shape, &n| shape.in_array(n)),
        };
        let numbers = sizes.iter().try_fold(x.block.count(), |product, &size| product.checked_mul(size));
        if numbers.is_none_or(|n| n > MOST_NUMBERS) {
            return fatal("too-large", format!("{shape} is too large: more than {MOST_NUMBERS} numbers"), span);
        }
        let n = x.block.count();
        let mut picks = self.take_picks();
        if structure == Structure::RepMatrix && x.shape.cell() == Cell::RowVector {
            picks.extend((0..n).flat_map(|j| std::iter::repeat_n(cast(j), sizes[0])));
        } else {
            let times = shape.len().checked_div(n).unwrap_or(0);
            picks.extend((0..times).flat_map(|_| 0..cast(n)));
        }
        self.pick(x, picks, shape)
    }

    fn append(&mut self, structure: Structure, views: &[View], span: Span) -> Run<View> {
        let (a, b) = (views[0], views[1]);
        let (sa, sb) = (a.shape, b.shape);
        let mismatch = || {
            let message = format!("{}: {sa} and {sb} do not fit", structure.name());
            fatal("size-mismatch", message, span)
        };
        let block = self.concatenate(&[a, b])?;
        match structure {
            Structure::AppendArray => {
                let fits = sa.size(0) == 0 || sb.size(0) == 0 || sa.element() == sb.element();
                if !fits {
                    return mismatch();
                }
                let element = if sa.size(0) == 0 { sb.element() } else { sa.element() };
                Ok(View { shape: element.in_array(sa.size(0) + sb.size(0)), block })
            }
            Structure::AppendCol => {
                let row_like = |s: &Shape| matches!(s.cell(), Cell::Scalar | Cell::RowVector);
                if row_like(&sa) && row_like(&sb) {
                    return Ok(View { shape: Shape::row_vector(sa.len() + sb.len()), block });
                }
                if sa.rows() != sb.rows() {
                    return mismatch();
                }
                Ok(View { shape: Shape::matrix(sa.rows(), sa.columns() + sb.columns()), block })
            }
            _ => {
                let column_like = |s: &Shape| matches!(s.cell(), Cell::Scalar | Cell::Vector);
                if column_like(&sa) && column_like(&sb) {
                    return Ok(View { shape: Shape::vector(sa.len() + sb.len()), block });
                }
                if sa.columns() != sb.columns() {
                    return mismatch();
                }
                // The columns of both take turns.
                let (ra, rb, columns) = (sa.rows(), sb.rows(), sa.columns());
                let mut picks = self.take_picks();
                for j in 0..columns {
                    picks.extend((0..ra).map(|i| cast(j * ra + i)));
                    picks.extend((0..rb).map(|i| cast(ra * columns + j * rb + i)));
                }
                let shape = Shape::matrix(ra + rb, columns);
                self.pick(View { shape, block }, picks, shape)
            }
        }
    }

    /// Neighbouring elements of a vector, or of an array.
    fn stretch(&mut self, structure: Structure, views: &[View], span: Span) -> Run<View> {
        let x = views[0];
        let total = first_size(&x.shape);
        let (from, n) = match structure {
            Structure::Head => (0, self.count(views[1], "the number of elements", span)?),
            Structure::Tail => {
                let n = self.count(views[1], "the number of elements", span)?;
                (total.saturating_sub(n), n)
            }
            _ => {
                let from = self.count(views[1], "the first index", span)?;
                let n = self.count(views[2], "the number of elements", span)?;
                if from == 0 && n > 0 {
                    return fatal("index-out-of-range", "segment: the first index is 0, but indices start at 1", span);
                }
                (from.saturating_sub(1), n)
            }
        };
        if from + n > total {
            let name = structure.name();
            let message = format!("{name}: elements {} to {} of {total} are asked for", from + 1, from + n);
            return fatal("index-out-of-range", message, span);
        }
        let per = if x.shape.array_rank() > 0 { x.shape.element().len() } else { 1 };
        let shape = with_first_size(&x.shape, n);
        Ok(View { shape, block: x.block.elements(from * per, n * per, self.width) })
    }

    fn submatrix(&mut self, structure: Structure, views: &[View], span: Span) -> Run<View> {
        let x = views[0];
        let (rows, columns) = (x.shape.rows(), x.shape.columns());
        let mut at: SmallVec<[usize; 4]> = SmallVec::new();
        for &view in &views[1..] {
            at.push(self.count(view, "an index", span)?);
        }
        // First row, first column, rows, columns.
        let (i, j, n, m, shape) = match structure {
            Structure::Block => (at[0], at[1], at[2], at[3], Shape::matrix(at[2], at[3])),
            Structure::SubRow => (at[0], at[1], 1, at[2], Shape::row_vector(at[2])),
            Structure::SubCol => (at[0], at[1], at[2], 1, Shape::vector(at[2])),
            Structure::Row => (at[0], 1, 1, columns, Shape::row_vector(columns)),
            _ => (1, at[0], rows, 1, Shape::vector(rows)),
        };
        let fits = |first: usize, n: usize, size: usize| n == 0 || (first >= 1 && first + n - 1 <= size);
        if !fits(i, n, rows) || !fits(j, m, columns) {
            let name = structure.name();
            let message = format!("{name}: rows {i} and on, columns {j} and on are not all in a {}", x.shape);
            return fatal("index-out-of-range", message, span);
        }
        let mut picks = self.take_picks();
        for column in 0..m {
            picks.extend((0..n).map(|row| cast(i + row - 1 + (j + column - 1) * rows)));
        }
        self.pick(x, picks, shape)
    }

    fn arranged(&mut self, structure: Structure, x: View) -> Run<View> {
        let (rows, columns) = (x.shape.rows(), x.shape.columns());
        let mut picks = self.take_picks();
        let shape = match structure {
            Structure::Diagonal => {
                let n = rows.min(columns);
                picks.extend((0..n).map(|i| cast(i + i * rows)));
                Shape::vector(n)
            }
            Structure::SymmetrizeFromLowerTri => {
                for j in 0..columns {
                    picks.extend((0..rows).map(|i| cast(i.max(j) + i.min(j) * rows)));
                }
                x.shape
            }
            Structure::DiagMatrix => {
                // A zero is put behind the elements, and picked off the diagonal.
                let zero = self.number(0.0)?;
                let n = x.block.count();
                let block = self.concatenate(&[x, zero])?;
                for j in 0..n {
                    picks.extend((0..n).map(|i| cast(if i == j { i } else { n })));
                }
                let shape = Shape::matrix(n, n);
                return self.pick(View { shape, block }, picks, shape);
            }
            _ => {
                let per = if x.shape.array_rank() > 0 { x.shape.element().len() } else { 1 };
                let n = first_size(&x.shape);
                for e in (0..n).rev() {
                    picks.extend((0..per).map(|i| cast(e * per + i)));
                }
                x.shape
            }
        };
        self.pick(x, picks, shape)
    }

    fn as_matrix(&mut self, views: &[View], span: Span) -> Run<View> {
        let x = views[0];
        let n = x.block.count();
        if let [_, rows, columns, order @ ..] = views {
            let rows = self.count(*rows, "the number of rows", span)?;
            let columns = self.count(*columns, "the number of columns", span)?;
            if rows * columns != n {
                let message = format!("to_matrix: {n} numbers do not fill {rows} rows and {columns} columns");
                return fatal("size-mismatch", message, span);
            }
            let shape = Shape::matrix(rows, columns);
            let by_column = match order {
                [order, ..] => self.uniform_number(*order)? != 0.0,
                [] => true,
            };
            if by_column {
                return Ok(View { shape, block: x.block });
            }
            let turned = View { shape: Shape::matrix(columns, rows), block: x.block };
            return self.transpose(turned);
        }
        match (x.shape.array_rank(), x.shape.cell()) {
            // An array of rows.
            (1, Cell::RowVector) | (2, Cell::Scalar) => {
                let (rows, columns) = (x.shape.size(0), x.shape.size(1));
                self.transpose(View { shape: Shape::matrix(columns, rows), block: x.block })
            }
            _ => {
                let shape = Shape::matrix(x.shape.rows(), x.shape.columns());
                Ok(View { shape, block: x.block })
            }
        }
    }

    fn as_array_2d(&mut self, x: View) -> Run<View> {
        let (rows, columns) = (x.shape.rows(), x.shape.columns());
        let turned = self.transpose(x)?;
        Ok(View { shape: Shape::array(&[rows, columns]), ..turned })
    }

    /// Vectors and arrays with given content.
    fn filled(&mut self, structure: Structure, views: &[View], span: Span) -> Run<View> {
        use Structure as S;
        let n = self.count(views[0], "the size", span)?;
        let mut numbers = vec![0.0; if structure == S::IdentityMatrix { n * n } else { n }];
        match structure {
            S::IdentityMatrix => (0..n).for_each(|i| numbers[i * n + i] = 1.0),
            S::OnesVector | S::OnesRowVector | S::OnesArray => numbers.fill(1.0),
            #[allow(clippy::cast_precision_loss, reason = "sizes fit in 32 bits")]
            S::UniformSimplex => numbers.fill(1.0 / n as f64),
            S::OneHotVector | S::OneHotRowVector | S::OneHotArray => {
                let at = self.count(views[1], "the index", span)?;
                if at < 1 || at > n {
                    return fatal("index-out-of-range", format!("index {at} is not between 1 and {n}"), span);
                }
                numbers[at - 1] = 1.0;
            }
            S::LinspacedVector | S::LinspacedRowVector | S::LinspacedArray | S::LinspacedIntArray => {
                let (low, high) = (self.uniform_number(views[1])?, self.uniform_number(views[2])?);
                if structure == S::LinspacedIntArray && low > high {
                    let message = format!("{}: the range from {low} to {high} is decreasing", structure.name());
                    return fatal("bad-arguments", message, span);
                }
                linspaced(&mut numbers, low, high, structure == S::LinspacedIntArray);
            }
            _ => {}
        }
        let block = self.uniform(&numbers)?;
        let shape = match structure {
            S::IdentityMatrix => Shape::matrix(n, n),
            S::OnesRowVector | S::ZerosRowVector | S::OneHotRowVector | S::LinspacedRowVector => Shape::row_vector(n),
            S::OnesArray | S::ZerosArray | S::OneHotArray | S::LinspacedArray | S::LinspacedIntArray => {
                Shape::array(&[n])
            }
            _ => Shape::vector(n),
        };
        Ok(View { shape, block })
    }
}

fn against(graph: &mut Graph, comparison: Comparison, x: Ref, bound: f64) -> Ref {
    let bound = graph.constant(bound);
    graph.compare(comparison, x, bound)
}

/// The same numbers in one dimension.
fn flatten(structure: Structure, x: View) -> View {
    let n = x.block.count();
    let shape = match structure {
        Structure::ToVector => Shape::vector(n),
        Structure::ToRowVector => Shape::row_vector(n),
        _ => Shape::array(&[n]),
    };
    View { shape, block: x.block }
}

fn constant(structure: Structure) -> Option<f64> {
    use Structure as S;
    Some(match structure {
        S::Pi => std::f64::consts::PI,
        S::E => std::f64::consts::E,
        S::Sqrt2 => std::f64::consts::SQRT_2,
        S::Log2 => std::f64::consts::LN_2,
        S::Log10 => std::f64::consts::LN_10,
        S::NotANumber => f64::NAN,
        S::PositiveInfinity => f64::INFINITY,
        S::NegativeInfinity => f64::NEG_INFINITY,
        S::MachinePrecision => f64::EPSILON,
        _ => return None,
    })
}

/// How many elements an array has, or how many numbers a vector or matrix.
fn first_size(shape: &Shape) -> usize {
    if shape.array_rank() > 0 { shape.size(0) } else { shape.len() }
}

/// The shape with another number of elements.
fn with_first_size(shape: &Shape, n: usize) -> Shape {
    if shape.array_rank() > 0 {
        return shape.element().in_array(n);
    }
    match shape.cell() {
        Cell::RowVector => Shape::row_vector(n),
        _ => Shape::vector(n),
    }
}

/// Evenly spaced numbers from `low` to `high`. Integers are spaced so that the steps are equal, as far as the range
/// allows.
#[allow(clippy::cast_precision_loss, reason = "sizes fit in 32 bits")]
fn linspaced(numbers: &mut [f64], low: f64, high: f64, integers: bool) {
    let n = numbers.len();
    if n == 1 {
        numbers[0] = high;
        return;
    }
    if integers {
        let (range, steps) = (high - low, n as f64);
        if range + 1.0 < steps {
            // Fewer integers than steps: each is repeated.
            let repeat = ((steps + range) / (range + 1.0)).floor();
            numbers.iter_mut().enumerate().for_each(|(i, x)| *x = low + (i as f64 / repeat).floor());
        } else {
            // The largest whole step that fits.
            let step = (range / (steps - 1.0)).floor();
            numbers.iter_mut().enumerate().for_each(|(i, x)| *x = low + i as f64 * step);
        }
        return;
    }
    let step = (high - low) / (n - 1) as f64;
    numbers.iter_mut().enumerate().for_each(|(i, x)| *x = if i == n - 1 { high } else { low + i as f64 * step });
}
