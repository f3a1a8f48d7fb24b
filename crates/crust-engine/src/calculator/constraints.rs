//! The constraints of declared types, checked as Stan checks data: same conditions, same tolerance.
//!
//! Offset and multiplier say how a parameter is transformed; Stan does not check them for data, neither does this.

use crust_math::linalg::cholesky;
use crust_stan::ast::SpecialType;
use crust_stan::data::{Calculator, Outcome, Step, Violation};
use crust_stan::diagnostics::Diagnostic;
use crust_stan::typed::{Constraint, Expr, SizedKind, SizedType};
use crust_stan::value::{Cell, Shape, Tensor, Value};

/// Stan's tolerance for sums and symmetry.
const TOLERANCE: f64 = 1e-8;

/// What leads to a container: array dimensions still to be filled in, and tuple parts.
#[derive(Clone, Copy)]
enum Way {
    Dimension,
    Part(u32),
}

pub(super) fn violations(
    calculator: &mut super::Calculator<'_>,
    declared: &SizedType,
    name: &str,
    value: &Value,
) -> Outcome<Vec<Violation>> {
    let mut found = Vec::new();
    below(calculator, declared, name, &mut Vec::new(), value, &mut found)?;
    Ok(found)
}

fn below(
    calculator: &mut super::Calculator<'_>,
    declared: &SizedType,
    name: &str,
    way: &mut Vec<Way>,
    value: &Value,
    found: &mut Vec<Violation>,
) -> Outcome<()> {
    match &declared.kind {
        SizedKind::Array { sizes, element } => {
            way.extend(sizes.iter().map(|_| Way::Dimension));
            below(calculator, element, name, way, value, found)?;
            way.truncate(way.len() - sizes.len());
        }
        SizedKind::Tuple(types) => {
            for (k, ty) in (1..).zip(types) {
                let Some(part) = value.part(k) else { continue };
                way.push(Way::Part(k));
                below(calculator, ty, name, way, part, found)?;
                way.pop();
            }
        }
        SizedKind::Plain { constraint, .. } => bounds(calculator, constraint, name, way, value, found)?,
        SizedKind::Special { special, .. } => {
            let Value::Tensor(tensor) = value else { return Ok(()) };
            found.extend(special_cells(*special, tensor, name, way));
        }
    }
    Ok(())
}

/// A bound, what it asks of a number, and that in words.
type Side<'a> = (&'a Option<Expr>, fn(f64, f64) -> bool, &'a str);

fn bounds(
    calculator: &mut super::Calculator<'_>,
    constraint: &Constraint,
    name: &str,
    way: &[Way],
    value: &Value,
    found: &mut Vec<Violation>,
) -> Outcome<()> {
    let sides: [Side; 2] = [
        (&constraint.lower, |x, bound| x >= bound, "must be at least"),
        (&constraint.upper, |x, bound| x <= bound, "must be at most"),
    ];
    // NaN is within no bound; that is said once.
    let mut nan_is_said = false;
    for (bound, holds, words) in sides {
        let Some(e) = bound else { continue };
        let bound = calculator.expression(e)?;
        let (Some(limits), Some(numbers)) = (bound.to_reals(), value.to_reals()) else { continue };
        if !fits(&bound, value) {
            let (bound, value) = (bound.shape(), value.shape());
            let text = |s: Option<Shape>| s.map_or_else(String::new, |s| s.to_string());
            let message = format!("the bound of `{name}` is {}, which does not fit {}", text(bound), text(value));
            return Err(Box::new(Diagnostic::error("size-mismatch", message, e.span)));
        }
        let skip_nan = nan_is_said;
        let wrong = |i: usize, x: f64| !(holds(x, limits[i % limits.len()]) || skip_nan && x.is_nan());
        let mut bad = numbers.iter().enumerate().filter(|(i, x)| wrong(*i, **x));
        let Some((at, x)) = bad.next() else { continue };
        nan_is_said = true;
        let limit = limits[at % limits.len()];
        found.push(Violation {
            name: name.to_owned(),
            path: path_to(way, value, at),
            found: format!("is {x}"),
            requirement: format!("{words} {limit}"),
            more: bad.count(),
        });
    }
    Ok(())
}

/// Whether a bound is a scalar, or has the dimensions of the value or of its inner part.
fn fits(bound: &Value, value: &Value) -> bool {
    match (bound.as_tensor(), value.as_tensor()) {
        (None, _) => true,
        (Some(bound), Some(value)) => value.dims().ends_with(&bound.dims()) || value.numbers.is_empty(),
        (Some(_), None) => false,
    }
}

/// The path to the scalar at a place of the layout.
fn path_to(way: &[Way], value: &Value, at: usize) -> Vec<Step> {
    let Value::Tensor(t) = value else { return fill(way, &[], &[]) };
    let size = t.cell.scalars().max(1);
    let (cell, inner) = (at / size, at % size);
    let inner = match t.cell.dims().as_slice() {
        [] => vec![],
        [_] => vec![inner],
        dims => vec![inner % dims[0], inner / dims[0]],
    };
    fill(way, &indices(&t.array, cell), &inner)
}

/// The indices of a cell.
fn indices(array: &[usize], mut cell: usize) -> Vec<usize> {
    let mut indices = vec![0; array.len()];
    for (slot, &size) in indices.iter_mut().zip(array).rev() {
        *slot = cell % size.max(1);
        cell /= size.max(1);
    }
    indices
}

fn fill(way: &[Way], indices: &[usize], inner: &[usize]) -> Vec<Step> {
    let mut next = indices.iter();
    let mut path: Vec<Step> = Vec::new();
    for step in way {
        path.push(match step {
            Way::Part(k) => Step::Part(*k),
            Way::Dimension => Step::Index(next.next().copied().unwrap_or(0)),
        });
    }
    path.extend(inner.iter().map(|&i| Step::Index(i)));
    path
}

fn special_cells(special: SpecialType, t: &Tensor, name: &str, way: &[Way]) -> Option<Violation> {
    let numbers = t.numbers.to_reals();
    let (rows, cols) = match t.cell {
        Cell::Vector(n) => (n, 1),
        Cell::Matrix(r, c) => (r, c),
        _ => return None,
    };
    let size = rows * cols;
    let cells: usize = t.array.iter().product();
    if size == 0 && cells > 0 {
        let fault = check(special, &Dense { rows, cols, numbers: &[] })?;
        return Some(violation(name, fill(way, &vec![0; t.array.len()], &[]), fault, cells - 1));
    }
    let mut first = None;
    let mut more = 0;
    for (k, cell) in numbers.chunks_exact(size.max(1)).enumerate() {
        let Some(fault) = check(special, &Dense { rows, cols, numbers: cell }) else { continue };
        if first.is_some() {
            more += 1;
        } else {
            first = Some((fill(way, &indices(&t.array, k), &[]), fault));
        }
    }
    first.map(|(path, fault)| violation(name, path, fault, more))
}

fn violation(name: &str, path: Vec<Step>, fault: Fault, more: usize) -> Violation {
    let path = path.into_iter().chain(fault.at.iter().map(|&i| Step::Index(i))).collect();
    Violation { name: name.to_owned(), path, found: fault.found, requirement: fault.requirement, more }
}

/// A matrix, column by column; a vector is one column.
struct Dense<'a> {
    rows: usize,
    cols: usize,
    numbers: &'a [f64],
}

impl Dense<'_> {
    fn at(&self, r: usize, c: usize) -> f64 {
        self.numbers[c * self.rows + r]
    }
}

/// What is wrong with a cell: at which of its elements (or with all of it), and what should be.
struct Fault {
    at: Vec<usize>,
    found: String,
    requirement: String,
}

#[expect(clippy::unnecessary_wraps, reason = "every caller returns it as it is")]
fn fault(at: &[usize], found: String, requirement: impl Into<String>) -> Option<Fault> {
    Some(Fault { at: at.to_vec(), found, requirement: requirement.into() })
}

/// Within the tolerance; NaN never is.
fn near(x: f64, y: f64) -> bool {
    (x - y).abs() <= TOLERANCE
}

fn check(special: SpecialType, m: &Dense<'_>) -> Option<Fault> {
    let nothing = m.numbers.is_empty();
    match special {
        // Sizes of zero that Stan lets pass.
        SpecialType::Ordered
        | SpecialType::PositiveOrdered
        | SpecialType::CorrMatrix
        | SpecialType::CholeskyFactorCorr
            if nothing =>
        {
            None
        }
        _ if nothing => fault(&[], "has no elements".into(), format!("a {} needs at least one", special.name())),
        SpecialType::Simplex | SpecialType::ColumnStochasticMatrix => stochastic(m, true),
        SpecialType::RowStochasticMatrix => stochastic(m, false),
        SpecialType::UnitVector => unit_length(m.numbers, &[], "a unit_vector must have length 1"),
        SpecialType::PositiveOrdered if m.numbers[0] < 0.0 => {
            fault(&[0], format!("is {}", m.numbers[0]), "the first of a positive_ordered must not be negative")
        }
        SpecialType::Ordered | SpecialType::PositiveOrdered => ordered(m.numbers),
        SpecialType::SumToZeroVector | SpecialType::SumToZeroMatrix => {
            let sum: f64 = m.numbers.iter().sum();
            if near(sum, 0.0) { None } else { fault(&[], format!("sums to {sum}"), "must sum to 0") }
        }
        SpecialType::CovMatrix => positive_definite(m),
        SpecialType::CorrMatrix => {
            let off = (0..m.rows).find(|&i| !near(m.at(i, i), 1.0));
            match off {
                Some(i) => fault(&[i, i], format!("is {}", m.at(i, i)), "the diagonal of a corr_matrix must be 1"),
                None => positive_definite(m),
            }
        }
        SpecialType::CholeskyFactorCov => cholesky_factor(m),
        SpecialType::CholeskyFactorCorr => cholesky_factor(m).or_else(|| {
            (0..m.rows).find_map(|r| {
                let row: Vec<f64> = (0..m.cols).map(|c| m.at(r, c)).collect();
                unit_length(&row, &[r], "the rows of a cholesky_factor_corr must have length 1")
            })
        }),
    }
}

fn unit_length(numbers: &[f64], at: &[usize], requirement: &str) -> Option<Fault> {
    let squares: f64 = numbers.iter().map(|x| x * x).sum();
    if near(squares, 1.0) { None } else { fault(at, format!("has squares that sum to {squares}"), requirement) }
}

fn ordered(numbers: &[f64]) -> Option<Fault> {
    let above = |x: f64, y: f64| x > y;
    let at = numbers.windows(2).position(|pair| !above(pair[1], pair[0]))?;
    let requirement = format!("must be greater than the element before it, {}", numbers[at]);
    fault(&[at + 1], format!("is {}", numbers[at + 1]), requirement)
}

/// Columns (or rows) of numbers that are not negative and sum to one.
fn stochastic(m: &Dense<'_>, by_column: bool) -> Option<Fault> {
    let is_vector = m.cols == 1 && by_column;
    let fine = |x: f64| x >= 0.0;
    if let Some(at) = m.numbers.iter().position(|x| !fine(*x)) {
        let place = if is_vector { vec![at] } else { vec![at % m.rows, at / m.rows] };
        return fault(&place, format!("is {}", m.numbers[at]), "must not be negative");
    }
    let lines = if by_column { m.cols } else { m.rows };
    (0..lines).find_map(|line| {
        let sum: f64 = if by_column {
            m.numbers[line * m.rows..(line + 1) * m.rows].iter().sum()
        } else {
            (0..m.cols).map(|c| m.at(line, c)).sum()
        };
        if near(sum, 1.0) {
            return None;
        }
        match (is_vector, by_column) {
            (true, _) => fault(&[], format!("sums to {sum}"), "must sum to 1"),
            (_, true) => {
                fault(&[], format!("has a column {} that sums to {sum}", line + 1), "all columns must sum to 1")
            }
            (_, false) => fault(&[line], format!("sums to {sum}"), "all rows must sum to 1"),
        }
    })
}

fn positive_definite(m: &Dense<'_>) -> Option<Fault> {
    for r in 0..m.rows {
        for c in r + 1..m.cols {
            if !near(m.at(r, c), m.at(c, r)) {
                let requirement = format!("must be {}, as on the other side of the diagonal", m.at(c, r));
                return fault(&[r, c], format!("is {}", m.at(r, c)), requirement);
            }
        }
    }
    // Stan asks this of a single number, and of larger matrices only that they have a Cholesky factor.
    let large_enough = m.rows > 1 || m.numbers[0] > TOLERANCE;
    if !large_enough || cholesky::factor(&mut m.numbers.to_vec(), m.rows).is_err() {
        return fault(&[], "is not positive definite".into(), "must be");
    }
    None
}

fn cholesky_factor(m: &Dense<'_>) -> Option<Fault> {
    if m.cols > m.rows {
        let found = format!("has {} columns and {} rows", m.cols, m.rows);
        return fault(&[], found, "must not have more columns than rows");
    }
    for c in 0..m.cols {
        if let Some(r) = (0..c).find(|&r| m.at(r, c) != 0.0) {
            return fault(&[r, c], format!("is {}", m.at(r, c)), "must be 0, above the diagonal");
        }
        let positive = m.at(c, c) > 0.0;
        if !positive {
            return fault(&[c, c], format!("is {}", m.at(c, c)), "must be positive, on the diagonal");
        }
    }
    None
}
