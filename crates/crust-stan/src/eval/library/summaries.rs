//! Sizes, sums, extremes, moments, order.

use super::{Args, Function, count, of_shape, plain, real};
use crate::eval::operators::{Answer, complexes};
use crate::eval::{Failure, fail};
use crate::value::{Cell, Complex, Item, Numbers, Shape, Tensor, Value};

pub(super) const TABLE: &[Function] = &[
    of_shape("size", |a| {
        from_shape(a, |s| match (s.array.first(), &s.item) {
            (Some(&n), _) => Some(n),
            (None, Item::Cell(cell)) => Some(cell.scalars()),
            _ => None,
        })
    }),
    of_shape("num_elements", |a| from_shape(a, Shape::scalars)),
    of_shape("rows", |a| {
        from_shape(a, |s| match s.item {
            Item::Cell(Cell::Vector(n) | Cell::ComplexVector(n)) => Some(n),
            Item::Cell(Cell::RowVector(_) | Cell::ComplexRowVector(_)) => Some(1),
            Item::Cell(Cell::Matrix(r, _) | Cell::ComplexMatrix(r, _)) => Some(r),
            _ => None,
        })
    }),
    of_shape("cols", |a| {
        from_shape(a, |s| match s.item {
            Item::Cell(Cell::Vector(_) | Cell::ComplexVector(_)) => Some(1),
            Item::Cell(Cell::RowVector(n) | Cell::ComplexRowVector(n)) => Some(n),
            Item::Cell(Cell::Matrix(_, c) | Cell::ComplexMatrix(_, c)) => Some(c),
            _ => None,
        })
    }),
    of_shape("dims", dims),
    plain("sum", |a| total(a, i32::checked_add, 0, |z, w| z + w, Complex { re: 0.0, im: 0.0 })),
    plain("prod", |a| total(a, i32::checked_mul, 1, |z, w| z * w, Complex { re: 1.0, im: 0.0 })),
    plain("min", |a| extreme(a, |x, y| x < y, f64::INFINITY)),
    plain("max", |a| extreme(a, |x, y| x > y, f64::NEG_INFINITY)),
    plain("mean", |a| Ok(Value::Real(mean(a, &nonempty(a)?)))),
    plain("variance", |a| Ok(Value::Real(variance(a)?))),
    plain("sd", |a| Ok(Value::Real(variance(a)?.sqrt()))),
    plain("log_sum_exp", log_sum_exp),
    plain("norm1", |a| Ok(Value::Real(a.reals(0)?.iter().map(|x| x.abs()).sum()))),
    plain("norm2", |a| Ok(Value::Real(a.reals(0)?.iter().map(|x| x * x).sum::<f64>().sqrt()))),
    plain("quantile", quantile),
    plain("cumulative_sum", cumulative_sum),
    plain("sort_asc", |a| sort(a, false)),
    plain("sort_desc", |a| sort(a, true)),
    plain("sort_indices_asc", |a| sort_indices(a, false)),
    plain("sort_indices_desc", |a| sort_indices(a, true)),
    plain("rank", |a| {
        let numbers = a.reals(0)?;
        let x = numbers[a.position(1, numbers.len())?];
        count(numbers.iter().filter(|y| **y < x).count())
    }),
    plain("softmax", |a| softmax(a, |x, log_sum| (x - log_sum).exp())),
    plain("log_softmax", |a| softmax(a, |x, log_sum| x - log_sum)),
];

/// A function of the shape of its argument, for which the argument's numbers need not be known.
fn from_shape(a: &Args, f: impl Fn(&Shape) -> Option<usize>) -> Answer {
    match known_shape(a)? {
        Ok(shape) => match f(&shape) {
            Some(n) => count(n),
            None => a.error("argument-type", "this has no such size"),
        },
        Err(unknown) => Ok(unknown),
    }
}

fn known_shape(a: &Args) -> Result<Result<Shape, Value>, Failure> {
    let value = a.get(0)?;
    Ok(match (value.shape(), value.reason()) {
        (Some(shape), _) => Ok(shape),
        (None, Some(u)) => Err(Value::unavailable(u.reason.clone(), u.span, None)),
        (None, None) => return a.error("argument-type", "this has no size"),
    })
}

fn dims(a: &Args) -> Answer {
    let shape = match known_shape(a)? {
        Ok(shape) => shape,
        Err(unknown) => return Ok(unknown),
    };
    let Item::Cell(cell) = shape.item else { return a.error("argument-type", "a tuple has no dimensions") };
    let inner = cell.dims();
    let all = shape.array.iter().chain(inner.as_slice());
    let ints = all.map(|&n| i32::try_from(n)).collect::<Result<_, _>>();
    ints.map_or_else(|_| a.error("integer-overflow", "a size does not fit Stan's int"), |v| Ok(Value::int_array(v)))
}

fn total(
    a: &Args,
    ints: fn(i32, i32) -> Option<i32>,
    start: i32,
    numbers: fn(Complex, Complex) -> Complex,
    first: Complex,
) -> Answer {
    let t = match a.get(0)? {
        Value::Tensor(t) => t,
        scalar => return Ok(scalar.clone()),
    };
    match &t.numbers {
        Numbers::Int(v) => match v.iter().try_fold(start, |sum, &n| ints(sum, n)) {
            Some(n) => Ok(Value::Int(n)),
            None => a.error("integer-overflow", "the result does not fit Stan's int, which has 32 bits"),
        },
        Numbers::Real(_) => {
            let result = complexes(t).into_iter().fold(first, numbers);
            Ok(if t.cell.is_complex() { Value::Complex(result) } else { Value::Real(result.re) })
        }
    }
}

fn extreme(a: &Args, better: fn(f64, f64) -> bool, of_nothing: f64) -> Answer {
    if let (Value::Int(x), Ok(Value::Int(y))) = (a.get(0)?, a.get(1)) {
        return Ok(Value::Int(if better(f64::from(*y), f64::from(*x)) { *y } else { *x }));
    }
    match &a.tensor(0)?.numbers {
        Numbers::Int(v) => {
            let best = v.iter().copied().reduce(|x, y| if better(f64::from(y), f64::from(x)) { y } else { x });
            best.map_or_else(|| a.error("out-of-domain", "an empty array of int has none"), |n| Ok(Value::Int(n)))
        }
        Numbers::Real(v) if v.iter().any(|x| x.is_nan()) => Ok(Value::Real(f64::NAN)),
        Numbers::Real(v) => {
            Ok(Value::Real(v.iter().copied().fold(of_nothing, |x, y| if better(y, x) { y } else { x })))
        }
    }
}

fn nonempty(a: &Args) -> Result<Vec<f64>, Failure> {
    let numbers = a.reals(0)?;
    if numbers.is_empty() { a.error("out-of-domain", "the argument has no elements") } else { Ok(numbers) }
}

fn mean(_: &Args, numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / real(numbers.len())
}

fn variance(a: &Args) -> Result<f64, Failure> {
    let numbers = nonempty(a)?;
    if numbers.len() == 1 {
        return Ok(0.0);
    }
    let centre = mean(a, &numbers);
    let squares: f64 = numbers.iter().map(|x| (x - centre) * (x - centre)).sum();
    Ok(squares / (real(numbers.len()) - 1.0))
}

fn log_sum_exp(a: &Args) -> Answer {
    if a.len() == 2 {
        return crate::eval::operators::zip(a.get(0)?, a.get(1)?, |x, y| log_sum_of(&[x, y]));
    }
    match a.get(0)?.to_reals() {
        Some(numbers) => Ok(Value::Real(log_sum_of(&numbers))),
        None => a.error("argument-type", "numbers are expected"),
    }
}

fn log_sum_of(numbers: &[f64]) -> f64 {
    let top = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if top.is_infinite() && !numbers.iter().any(|x| x.is_nan()) {
        return top;
    }
    top + numbers.iter().map(|x| (x - top).exp()).sum::<f64>().ln()
}

fn quantile(a: &Args) -> Answer {
    let mut numbers = nonempty(a)?;
    if numbers.iter().any(|x| x.is_nan()) {
        return a.error("out-of-domain", "an element is NaN");
    }
    numbers.sort_by(f64::total_cmp);
    let at = |p: f64| {
        if !(0.0..=1.0).contains(&p) {
            return a.error("out-of-domain", &format!("the probability {p} is not between 0 and 1"));
        }
        let place = p * real(numbers.len() - 1);
        let (low, rest) = (place.floor(), place.fract());
        let index = numbers.iter().enumerate().take_while(|(i, _)| real(*i) <= low).count() - 1;
        let upper = numbers[(index + 1).min(numbers.len() - 1)];
        Ok((1.0 - rest) * numbers[index] + rest * upper)
    };
    match a.get(1)? {
        Value::Tensor(t) => {
            let all = t.numbers.to_reals().into_iter().map(at).collect::<Result<_, _>>()?;
            Ok(Value::real_array(all))
        }
        _ => Ok(Value::Real(at(a.real(1)?)?)),
    }
}

fn cumulative_sum(a: &Args) -> Answer {
    let t = a.tensor(0)?;
    let numbers = match &t.numbers {
        Numbers::Int(v) => {
            let mut sum = 0_i32;
            let sums = v.iter().map(|&n| {
                sum = sum.checked_add(n)?;
                Some(sum)
            });
            match sums.collect() {
                Some(v) => Numbers::Int(v),
                None => return a.error("integer-overflow", "a sum does not fit Stan's int, which has 32 bits"),
            }
        }
        Numbers::Real(v) => {
            let unit = t.cell.unit();
            let mut sums = v.clone();
            (unit..sums.len()).for_each(|i| sums[i] += sums[i - unit]);
            Numbers::Real(sums)
        }
    };
    Ok(Tensor { array: t.array.clone(), cell: t.cell, numbers }.into())
}

/// The order of the elements; equal ones stay in their order.
fn order(a: &Args, descending: bool) -> Result<Vec<usize>, Failure> {
    let numbers = a.reals(0)?;
    if numbers.iter().any(|x| x.is_nan()) {
        return fail("out-of-domain", format!("`{}`: an element is NaN", a.name));
    }
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    let compare = |&i: &usize, &j: &usize| numbers[i].partial_cmp(&numbers[j]).unwrap_or(std::cmp::Ordering::Equal);
    if descending {
        order.sort_by(|i, j| compare(j, i));
    } else {
        order.sort_by(compare);
    }
    Ok(order)
}

fn sort(a: &Args, descending: bool) -> Answer {
    let (t, order) = (a.tensor(0)?, order(a, descending)?);
    if t.cell.is_complex() {
        return a.error("argument-type", "complex numbers have no order");
    }
    let numbers = match &t.numbers {
        Numbers::Int(v) => Numbers::Int(order.iter().map(|&i| v[i]).collect()),
        Numbers::Real(v) => Numbers::Real(order.iter().map(|&i| v[i]).collect()),
    };
    Ok(Tensor { array: t.array.clone(), cell: t.cell, numbers }.into())
}

fn sort_indices(a: &Args, descending: bool) -> Answer {
    let order = order(a, descending)?;
    let indices = order.into_iter().map(|i| i32::try_from(i + 1)).collect::<Result<_, _>>();
    indices.map_or_else(|_| a.error("too-large", "too many elements"), |v| Ok(Value::int_array(v)))
}

fn softmax(a: &Args, f: impl Fn(f64, f64) -> f64) -> Answer {
    let numbers = a.reals(0)?;
    let log_sum = log_sum_of(&numbers);
    Ok(Value::vector(numbers.into_iter().map(|x| f(x, log_sum)).collect()))
}
