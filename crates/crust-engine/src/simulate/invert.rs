//! Draws far out in a tail: the distribution function is inverted on the log scale.

use crust_math::density::{Domain, Terms};
use crust_math::random::{Draw, Stream};

use super::forward::cumulative;
use crate::density::Density;
use crate::random::Scalar;

/// A number between `low` and `high` whose distribution function, conditioned on being there, is uniform.
///
/// With `log S` the log survival function, `S(y) = S(low) - u (S(low) - S(high))`; seen from the other side where that
/// is the smaller tail. Bisection halves the interval until nothing lies between its ends.
pub fn draw(stream: &mut Stream, scalar: &Scalar, x: &[f64], low: f64, high: f64) -> Draw<f64> {
    let domain = Domain(scalar.name);
    let unreachable = || domain.that(false, "Truncated range", low, "one that the distribution can reach");
    let Some(names) = cumulative(scalar.name) else {
        unreachable()?;
        return Ok(f64::NAN);
    };
    let (Some(Density::Scalar(lower)), Some(Density::Scalar(upper))) =
        (Density::named(&names.lower), Density::named(&names.upper))
    else {
        unreachable()?;
        return Ok(f64::NAN);
    };
    // log P(Y > y) or log P(Y ≤ y)
    let log_tail = |above: bool, y: f64| -> Draw<f64> {
        if y.is_infinite() {
            return Ok(if (y > 0.0) == above { f64::NEG_INFINITY } else { 0.0 });
        }
        let mut all = vec![y];
        all.extend_from_slice(x);
        (if above { &upper } else { &lower }).at(&all, Terms::ALL).map(|(value, _)| value)
    };
    // Integers: P(Y > y) jumps at y, and `low` itself is inside.
    let start = if names.discrete { low.ceil() - 1.0 } else { low };
    let end = if names.discrete { high.floor() } else { high };
    let above = log_tail(true, start)? < log_tail(false, end)?;
    let (near, far) = if above { (start, end) } else { (end, start) };
    let (near, far) = (log_tail(above, near)?, log_tail(above, far)?);
    if near == f64::NEG_INFINITY || near.is_nan() {
        unreachable()?;
    }
    // log(near − u (near − far)), both on the log scale
    let u = stream.uniform();
    let wanted = near + (-u * (-(far - near).exp_m1())).ln_1p();
    let beyond = |y: f64| match log_tail(above, y) {
        Ok(value) if above => value < wanted,
        Ok(value) => value >= wanted,
        // Outside of the support, which a finite end is in: above it if that is the lower one.
        Err(_) => start.is_finite(),
    };
    let mut ends = bracket(start, end, beyond);
    while let Some(middle) = between(ends, names.discrete) {
        if beyond(middle) { ends.1 = middle } else { ends.0 = middle }
    }
    Ok(if names.discrete { ends.1 } else { ends.1.clamp(low, high) })
}

/// Finite ends that hold what is looked for: steps outwards from the end that is finite.
fn bracket(low: f64, high: f64, beyond: impl Fn(f64) -> bool) -> (f64, f64) {
    let (mut low, mut high) = (low, high);
    let mut step = 1.0;
    if low == f64::NEG_INFINITY {
        low = if high.is_finite() { high - step } else { -1.0 };
        while beyond(low) && low > -f64::MAX / 4.0 {
            low -= step;
            step *= 2.0;
        }
    }
    step = 1.0;
    if high == f64::INFINITY {
        high = low + step;
        while !beyond(high) && high < f64::MAX / 4.0 {
            high += step;
            step *= 2.0;
        }
    }
    (low, high)
}

/// A number strictly between, if there is one.
fn between((low, high): (f64, f64), discrete: bool) -> Option<f64> {
    let mut middle = low + 0.5 * (high - low);
    if discrete {
        middle = middle.floor();
    }
    (middle > low && middle < high).then_some(middle)
}
