//! Directions along which a density does not change: it has no finite integral then, and what is fitted to it stands for
//! nothing, even where a fit comes to an end (mean field has an optimum for `y ~ normal(a + b, 1)` with flat priors).

use crust_math::random::StreamKey;

use super::Error;
use super::evaluate::{Evaluations, Points};
use super::family::{Approximation, Elliptical};
use crate::target::Target;
use crate::vector::{add_scaled, dot};

/// Above this dimension nobody looks: it takes 2d gradients and 2d³ products of numbers.
const MOST: usize = 200;
/// What is left of a column of gradients, relative to its length, where nothing but rounding is: a prior with a standard
/// deviation of a million beside data of size 1 leaves 1e-12.
const ROUNDING: f64 = 1e-13;
/// By how much a log density at least changes over a standard deviation of what is fitted to it, if it changes at all.
const NO_CHANGE: f64 = 1e-9;
/// How far out it is looked whether a density falls, in standard deviations.
const FAR_OUT: [f64; 3] = [4.0, 16.0, 64.0];
/// A log density that has fallen by less has not fallen.
const ROUNDED: f64 = 1e-6;
/// How many coordinates of a direction are named.
const NAMED: usize = 4;

/// Refuses a density that is constant along a line at draws of an approximation.
///
/// If log p does not change along v, ∇ log p · v = 0 at every point: the columns of a matrix whose rows are gradients are
/// then linearly dependent, and the converse is true of all but special draws.
pub fn is_confined<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    q: &dyn Approximation,
    key: StreamKey,
) -> Result<(), Error> {
    let d = q.dimension();
    if d > MOST {
        return Ok(());
    }
    let mut stream = key.stream();
    let mut points = Points::new(d, (0..2 * d + 8).flat_map(|_| q.draw(&mut stream)).collect());
    evaluations.evaluate(&mut points, true)?;
    // Where there is no density the gradient says nothing.
    let seen: Vec<&[f64]> =
        (0..points.len()).filter(|&i| points.log_density[i].is_finite()).map(|i| points.gradient(i)).collect();
    if seen.len() < d {
        return Ok(());
    }
    // A column of nothing but rounding depends on no other.
    let steps: Vec<f64> = q.variances().iter().map(|v| v.sqrt()).collect();
    let changes = |j: usize| seen.iter().any(|gradient| (gradient[j] * steps[j]).abs() > NO_CHANGE);
    let still = (0..d).find(|&j| !changes(j)).map(|j| vec![j + 1]);
    match still.or_else(|| dependent(d, &seen)) {
        Some(coordinates) => Err(Error::Flat { coordinates }),
        None => Ok(()),
    }
}

/// Refuses a density that never falls on the way out of an approximation, along one of its axes: it has no finite
/// integral, and the optimum is where the digits end (a parameter with a flat prior that the data push to infinity).
pub fn falls<T: Target + Clone + Send>(evaluations: &mut Evaluations<'_, T>, q: &Elliptical) -> Result<(), Error> {
    let d = q.dimension();
    if d > MOST {
        return Ok(());
    }
    let mut points = Points::new(d, q.mean.clone());
    let mut axis = vec![0.0; d];
    for i in 0..d {
        for far in FAR_OUT.iter().flat_map(|far| [*far, -far]) {
            axis[i] = far;
            let first = points.x.len();
            q.scale.apply_to(&axis, &mut points.x);
            points.x[first..].iter_mut().zip(&q.mean).for_each(|(x, m)| *x += m);
        }
        axis[i] = 0.0;
    }
    evaluations.evaluate(&mut points, false)?;
    let (centre, out) = points.log_density.split_at(1);
    // Between two modes there may be nothing.
    if !centre[0].is_finite() {
        return Ok(());
    }
    let side = |ways: &[f64], from: usize| ways.iter().skip(from).step_by(2).all(|p| *p >= centre[0] - ROUNDED);
    match out.chunks_exact(2 * FAR_OUT.len()).position(|ways| side(ways, 0) || side(ways, 1)) {
        Some(coordinate) => Err(Error::NeverFalls { coordinate: coordinate + 1 }),
        None => Ok(()),
    }
}

/// Columns of a matrix, given by rows, of which one is a combination of the others; from 1: those with the largest shares.
fn dependent(d: usize, rows: &[&[f64]]) -> Option<Vec<usize>> {
    /// An orthonormal column, and how it is made of the columns of the matrix.
    struct Known {
        column: Vec<f64>,
        made_of: Vec<f64>,
    }
    let mut known: Vec<Known> = Vec::with_capacity(d);
    for j in 0..d {
        let mut column: Vec<f64> = rows.iter().map(|row| row[j]).collect();
        let length = dot(&column, &column).sqrt();
        let mut made_of = vec![0.0; d];
        made_of[j] = 1.0;
        // Twice is enough (Kahan and Parlett).
        for _ in 0..2 {
            for other in &known {
                let share = dot(&column, &other.column);
                add_scaled(&mut column, -share, &other.column);
                add_scaled(&mut made_of, -share, &other.made_of);
            }
        }
        let left = dot(&column, &column).sqrt();
        if left <= ROUNDING * length {
            return Some(largest(&made_of));
        }
        column.iter_mut().chain(&mut made_of).for_each(|x| *x /= left);
        known.push(Known { column, made_of });
    }
    None
}

fn largest(shares: &[f64]) -> Vec<usize> {
    let most = shares.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let mut order: Vec<usize> = (0..shares.len()).filter(|&i| shares[i].abs() > 1e-6 * most).collect();
    order.sort_by(|&a, &b| shares[b].abs().total_cmp(&shares[a].abs()).then(a.cmp(&b)));
    order.truncate(NAMED);
    // Rounding decides between equal shares.
    order.sort_unstable();
    order.into_iter().map(|i| i + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_math::random::Purpose;

    #[test]
    fn dependent_columns_are_found_and_vague_ones_are_not() {
        let mut stream = StreamKey::new(1, Purpose::TEST).stream();
        let rows: Vec<[f64; 4]> = (0..20)
            .map(|_| {
                let [a, b, c] = [(); 3].map(|()| stream.standard_normal());
                [a, b, 3.0 * a - 2.0 * b, 1e-12 * c]
            })
            .collect();
        let columns = |chosen: &[usize]| -> Vec<Vec<f64>> {
            rows.iter().map(|row| chosen.iter().map(|&j| row[j]).collect()).collect()
        };
        let found = |chosen: &[usize]| {
            let rows = columns(chosen);
            dependent(chosen.len(), &rows.iter().map(Vec::as_slice).collect::<Vec<_>>())
        };
        assert_eq!(found(&[0, 1, 3]), None);
        assert_eq!(found(&[0, 1, 2, 3]), Some(vec![1, 2, 3]));
        let zero = [[1.0, 0.0], [2.0, 0.0], [0.5, 0.0]];
        assert_eq!(dependent(2, &zero.each_ref().map(|row| &row[..])), Some(vec![2]));
    }
}
