//! Ordered vectors and unit vectors.
//!
//! | declared | constrained value | log Jacobian |
//! | --- | --- | --- |
//! | `ordered` | y₁ = x₁, yₖ = yₖ₋₁ + exp(xₖ) | Σ_{k ≥ 2} xₖ |
//! | `positive_ordered` | y₁ = exp(x₁), yₖ = yₖ₋₁ + exp(xₖ) | Σ xₖ |
//! | `unit_vector` | y = x / ‖x‖ | −½ ‖x‖² |
//!
//! A unit vector has one free value more than dimensions, so its last column is no Jacobian: it gives x a standard
//! normal density, which makes the direction uniform.

use super::error::{Problem, TransformError};
use super::{Forward, LaneBlock, Reverse, TOLERANCE, lane_blocks, row};

/// Whether the first element of an ordered vector is positive.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum First {
    Any,
    Positive,
}

pub(super) fn constrain_ordered(f: &mut Forward<'_>, size: usize, first: First) {
    let lanes = f.lanes;
    for k in 0..size {
        let free = row(f.free, k, lanes);
        let grows = k > 0 || first == First::Positive;
        let (before, out) = f.out[..(k + 1) * lanes].split_at_mut(k * lanes);
        match (k, first) {
            (0, First::Any) => out.copy_from_slice(free),
            (0, First::Positive) => out.iter_mut().zip(free).for_each(|(y, x)| *y = x.exp()),
            _ => {
                for ((y, &x), &previous) in out.iter_mut().zip(free).zip(row(before, k - 1, lanes)) {
                    *y = previous + x.exp();
                }
            }
        }
        if let (true, Some(jacobian)) = (grows, f.log_jacobian.as_deref_mut()) {
            jacobian.iter_mut().zip(free).for_each(|(j, x)| *j += x);
        }
    }
}

/// x̄ₖ = exp(xₖ) Σ_{m ≥ k} ȳₘ + j
pub(super) fn reverse_ordered(r: &mut Reverse<'_>, size: usize, first: First) {
    let j = r.jacobian_adjoint;
    for block in lane_blocks(r.lanes) {
        let mut sum = LaneBlock::ZEROS;
        for k in (0..size).rev() {
            for (sum, &a) in sum.iter_mut().zip(block.row(r.out_adjoint, k)) {
                *sum += a;
            }
            let target = block.row_mut(r.free_adjoint, k);
            if k > 0 || first == First::Positive {
                for ((t, &x), &sum) in target.iter_mut().zip(block.row(r.free, k)).zip(&sum) {
                    *t += x.exp() * sum + j;
                }
            } else {
                target.iter_mut().zip(&sum).for_each(|(t, sum)| *t += sum);
            }
        }
    }
}

pub(super) fn unconstrain_ordered(
    (size, lanes): (usize, usize),
    first: First,
    constrained: &[f64],
    free: &mut [f64],
) -> Result<(), TransformError> {
    let declared = if first == First::Positive { "positive_ordered" } else { "ordered" };
    for k in 0..size {
        for lane in 0..lanes {
            let fail = |problem| Err(TransformError { lane, declared, problem });
            let y = constrained[k * lanes + lane];
            let x = &mut free[k * lanes + lane];
            if k > 0 {
                let previous = constrained[(k - 1) * lanes + lane];
                let increasing = y > previous;
                if !increasing {
                    return fail(Problem::NotIncreasing { element: k + 1, value: y, previous });
                }
                *x = (y - previous).ln();
            } else if first == First::Any {
                *x = y;
            } else if y >= 0.0 {
                *x = y.ln();
            } else {
                return fail(Problem::Negative { element: 1, value: y });
            }
        }
    }
    Ok(())
}

/// ‖x‖², NaN unless positive and finite: there the direction is undefined.
fn squared_length(free: &[f64], size: usize, block: LaneBlock) -> [f64; LaneBlock::MAX] {
    let mut squared = LaneBlock::ZEROS;
    for k in 0..size {
        for (squared, &x) in squared.iter_mut().zip(block.row(free, k)) {
            *squared += x * x;
        }
    }
    squared.map(|s| if s > 0.0 && s < f64::INFINITY { s } else { f64::NAN })
}

pub(super) fn constrain_unit_vector(f: &mut Forward<'_>, size: usize) {
    for block in lane_blocks(f.lanes) {
        let squared = squared_length(f.free, size, block);
        let length = squared.map(f64::sqrt);
        for k in 0..size {
            for ((y, &x), &length) in block.row_mut(f.out, k).iter_mut().zip(block.row(f.free, k)).zip(&length) {
                *y = x / length;
            }
        }
        if let Some(jacobian) = f.log_jacobian.as_deref_mut() {
            for (j, &squared) in block.row_mut(jacobian, 0).iter_mut().zip(&squared) {
                *j -= 0.5 * squared;
            }
        }
    }
}

/// x̄ = (ȳ − y (y · ȳ)) / ‖x‖ − j x
pub(super) fn reverse_unit_vector(r: &mut Reverse<'_>, size: usize) {
    let j = r.jacobian_adjoint;
    for block in lane_blocks(r.lanes) {
        let length = squared_length(r.free, size, block).map(f64::sqrt);
        let mut along = LaneBlock::ZEROS;
        for k in 0..size {
            for ((along, &y), &a) in along.iter_mut().zip(block.row(r.out, k)).zip(block.row(r.out_adjoint, k)) {
                *along += y * a;
            }
        }
        for k in 0..size {
            let values = block.row(r.free, k).iter().zip(block.row(r.out, k)).zip(block.row(r.out_adjoint, k));
            let target = block.row_mut(r.free_adjoint, k).iter_mut();
            for (((t, ((&x, &y), &a)), &along), &length) in target.zip(values).zip(&along).zip(&length) {
                *t += (a - y * along) / length - j * x;
            }
        }
    }
}

/// Any multiple is a free value of the same unit vector; as in Stan it is the vector itself.
pub(super) fn unconstrain_unit_vector(
    size: usize,
    lanes: usize,
    constrained: &[f64],
    free: &mut [f64],
) -> Result<(), TransformError> {
    for lane in 0..lanes {
        let fail = |problem| Err(TransformError { lane, declared: "unit_vector", problem });
        if size == 0 {
            return fail(Problem::NoElements);
        }
        let squared: f64 = (0..size).map(|k| constrained[k * lanes + lane].powi(2)).sum();
        let unit = (1.0 - squared).abs() <= TOLERANCE;
        if !unit {
            return fail(Problem::SquaredLength { value: squared });
        }
    }
    free[..size * lanes].copy_from_slice(&constrained[..size * lanes]);
    Ok(())
}
