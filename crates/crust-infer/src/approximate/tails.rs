//! Whether draws of an approximation q can know the second moment `E_q w²` = ∫ p²/q of the importance weights w = p/q.
//!
//! Draws see what is within some three deviations. Where p is wider than q, most of the integral is outside, and k-hat,
//! which goes by the largest weights there are, does not notice: for mean field on coordinates with a correlation of
//! 0.9996 it was 0.2, for a density with an exponential tail 0.0 to 0.3 in eight of eight fits. So it is looked there.

use crust_math::random::StreamKey;

use super::Error;
use super::evaluate::{Evaluations, Points};
use super::family::{Approximation, Elliptical, float, standard_log_density};
use crate::metric::cholesky;
use crate::target::Target;
use crate::vector::dot;

/// Above this dimension nobody looks: it takes 3d gradients and 2d³ products of numbers.
const MOST: usize = 200;
/// How far out it is looked along the axes, in standard deviations.
const FAR_OUT: [f64; 4] = [4.0, 5.0, 6.0, 8.0];
/// Where the log density is lower by more than this, an approximation may be as wrong as it likes: 10⁻⁴.
const NEGLIGIBLE: f64 = -9.2;
/// Where log p²/q is lower by more than this, it adds little: a tenth.
const LITTLE: f64 = -2.3;
/// The integral of p²/q is infinite for two normal distributions if p has the precision ½ or less in the frame of q. With
/// this one, a quarter of it is where one of a thousand draws comes.
const LEAST_PRECISION: f64 = 0.6;

/// Looks along the axes of a frame, which is q or has its moments, and at the precision of p in this frame.
pub fn second_moment_is_seen<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    q: &dyn Approximation,
    frame: &Elliptical,
    key: StreamKey,
) -> Result<bool, Error> {
    if q.dimension() > MOST {
        return Ok(false);
    }
    if !falls_fast_enough(evaluations, q, frame)? {
        return Ok(false);
    }
    // Tails of Student's t distribution are above those of every normal one.
    if frame.degrees.is_some() {
        return Ok(true);
    }
    is_precise_enough(evaluations, q, frame, key)
}

/// Along each axis, p²/q is small wherever p is not.
fn falls_fast_enough<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    q: &dyn Approximation,
    frame: &Elliptical,
) -> Result<bool, Error> {
    let d = frame.dimension();
    let mut points = Points::new(d, frame.mean.clone());
    let mut axis = vec![0.0; d];
    for i in 0..d {
        for far in FAR_OUT.iter().flat_map(|far| [*far, -far]) {
            axis[i] = far;
            let first = points.x.len();
            frame.scale.apply_to(&axis, &mut points.x);
            points.x[first..].iter_mut().zip(&frame.mean).for_each(|(x, m)| *x += m);
        }
        axis[i] = 0.0;
    }
    evaluations.evaluate(&mut points, false)?;
    let at = |i: usize| (points.log_density[i], q.log_density(points.point(i)));
    let (p, q) = at(0);
    // Between two modes there may be nothing.
    let low = |i: usize| {
        let (p_out, q_out) = at(i);
        p_out - p <= NEGLIGIBLE || 2.0 * (p_out - p) - (q_out - q) <= LITTLE
    };
    Ok(p.is_finite() && (1..points.len()).all(low))
}

/// The precision of p in the frame, where z is standard: that which explains the gradients at draws best, g ≈ a − B z.
/// It is exact for a normal p.
fn is_precise_enough<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    q: &dyn Approximation,
    frame: &Elliptical,
    key: StreamKey,
) -> Result<bool, Error> {
    let d = frame.dimension();
    let mut stream = key.stream();
    let mut points = Points::new(d, (0..3 * d + 16).flat_map(|_| q.draw(&mut stream)).collect());
    evaluations.evaluate(&mut points, true)?;
    let seen: Vec<usize> = (0..points.len()).filter(|&i| points.log_density[i].is_finite()).collect();
    if seen.len() < 2 * d {
        return Ok(false);
    }
    let z = |i: usize| {
        let from_mean: Vec<f64> = points.point(i).iter().zip(&frame.mean).map(|(x, m)| x - m).collect();
        frame.scale.solve(&from_mean)
    };
    let z = centred(seen.iter().map(|&i| z(i)).collect());
    let g = centred(seen.iter().map(|&i| frame.scale.apply_transposed(points.gradient(i))).collect());
    // B = −(Σ g zᵀ)(Σ z zᵀ)⁻¹; its rows by both triangles.
    let (squares, products) = (sum_of_products(&z, &z), sum_of_products(&g, &z));
    let Ok(lower) = cholesky(d, &squares) else { return Ok(false) };
    let rows: Vec<Vec<f64>> = products.chunks_exact(d).map(|row| solve(&lower, row)).collect();
    let mut above = vec![0.0; d * d];
    for i in 0..d {
        for j in 0..d {
            above[i * d + j] = -0.5 * (rows[i][j] + rows[j][i]);
        }
        above[i * d + i] -= LEAST_PRECISION;
    }
    Ok(cholesky(d, &above).is_ok())
}

/// What of a bound lies where draws hardly come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unseen {
    /// From 1.
    pub coordinate: usize,
    pub nats: f64,
}

/// Draws of an ELBO see so many standard deviations of each coordinate: one of a thousand is beyond.
const SEEN: f64 = 3.0;
/// The distance of points beyond, and how many there are on each side.
const STEP: f64 = 0.5;
const POINTS: usize = 11;
/// Less of a bound does not matter.
const MATTERS: f64 = 0.05;

/// By how much the ELBO of a normal distribution is lower than its draws show, by the axis where that is most: the log
/// density on the axis minus what a parabola through its values at 0 and three standard deviations has, on average beyond
/// three. Where it is that of the logarithm of a gamma variate of shape 0.1, a part of e^x of 0.1 nats and more was never
/// seen by a thousand draws: fits were too wide, and stated bounds 0.05 to 0.3 nats too high.
pub fn unseen<T: Target + Clone + Send>(
    evaluations: &mut Evaluations<'_, T>,
    q: &Elliptical,
) -> Result<Option<Unseen>, Error> {
    let d = q.dimension();
    if d > MOST || q.degrees.is_some() {
        return Ok(None);
    }
    let mut points = Points::new(d, q.mean.clone());
    let mut axis = vec![0.0; d];
    let out = |k: usize| SEEN + STEP * float(k);
    for i in 0..d {
        for far in (0..POINTS).flat_map(|k| [out(k), -out(k)]) {
            axis[i] = far;
            let first = points.x.len();
            q.scale.apply_to(&axis, &mut points.x);
            points.x[first..].iter_mut().zip(&q.mean).for_each(|(x, m)| *x += m);
        }
        axis[i] = 0.0;
    }
    evaluations.evaluate(&mut points, false)?;
    let (centre, others) = points.log_density.split_at(1);
    let of_axis = |(i, values): (usize, &[f64])| {
        let side = |side: usize| {
            let fall = |k: usize| centre[0] - values[2 * k + side];
            // Trapezoids; what is no number says nothing.
            let at = |k: usize| {
                let z = out(k);
                let weight = if k == 0 { 0.5 } else { 1.0 };
                weight * STEP * standard_log_density(1.0, None, z * z).exp() * (fall(k) - fall(0) * (z / SEEN).powi(2))
            };
            (0..POINTS).map(at).filter(|x| x.is_finite()).sum::<f64>().max(0.0)
        };
        Unseen { coordinate: i + 1, nats: side(0) + side(1) }
    };
    let worst = others.chunks_exact(2 * POINTS).enumerate().map(of_axis).max_by(|a, b| a.nats.total_cmp(&b.nats));
    Ok(worst.filter(|worst| worst.nats > MATTERS))
}

fn centred(mut all: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let n = float(all.len());
    let mean: Vec<f64> = (0..all[0].len()).map(|i| all.iter().map(|x| x[i]).sum::<f64>() / n).collect();
    all.iter_mut().for_each(|x| x.iter_mut().zip(&mean).for_each(|(x, m)| *x -= m));
    all
}

/// Σ a bᵀ by rows.
fn sum_of_products(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<f64> {
    let d = b[0].len();
    let mut sums = vec![0.0; d * d];
    for (a, b) in a.iter().zip(b) {
        for (row, a) in sums.chunks_exact_mut(d).zip(a) {
            row.iter_mut().zip(b).for_each(|(sum, b)| *sum += a * b);
        }
    }
    sums
}

/// (L Lᵀ)⁻¹ x.
fn solve(lower: &[f64], x: &[f64]) -> Vec<f64> {
    let d = x.len();
    let mut x = x.to_vec();
    for i in 0..d {
        let row = &lower[i * d..][..=i];
        x[i] = (x[i] - dot(&row[..i], &x[..i])) / row[i];
    }
    for i in (0..d).rev() {
        let (before, rest) = x.split_at_mut(i);
        rest[0] /= lower[i * d + i];
        before.iter_mut().zip(&lower[i * d..]).for_each(|(x, l)| *x -= l * rest[0]);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::super::scale::Scale;
    use super::*;
    use crate::drive::{Control, Parallelism};
    use crate::target::{Batch, Fatal};
    use crust_math::random::Purpose;

    /// A log density of two coordinates with its gradient.
    #[derive(Clone)]
    struct Density(fn(f64, f64) -> (f64, [f64; 2]));

    impl Target for Density {
        fn dimension(&self) -> usize {
            2
        }

        fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal> {
            for lane in 0..batch.lanes {
                let x: Vec<f64> = batch.point(lane).collect();
                let (value, gradient) = self.0(x[0], x[1]);
                (batch.log_prior[lane], batch.log_likelihood[lane]) = (value, 0.0);
                if batch.wants_gradient() {
                    (0..2).for_each(|i| batch.gradient[i * batch.lanes + lane] = gradient[i]);
                }
            }
            Ok(())
        }
    }

    fn seen(density: fn(f64, f64) -> (f64, [f64; 2]), sds: [f64; 2], degrees: Option<f64>) -> bool {
        let control = Control::default();
        let mut evaluations = Evaluations::new(&Density(density), Parallelism::default(), &control);
        let q = Elliptical { mean: vec![0.0; 2], scale: Scale::Diagonal(sds.to_vec()), degrees };
        second_moment_is_seen(&mut evaluations, &q, &q, StreamKey::new(1, Purpose::TEST)).unwrap()
    }

    fn round(x: f64, y: f64) -> (f64, [f64; 2]) {
        (-0.5 * (x * x + y * y), [-x, -y])
    }

    /// A correlation of 0.8: mean field has sds of 0.6, and in its frame the precision along the diagonal is 0.2.
    fn correlated(x: f64, y: f64) -> (f64, [f64; 2]) {
        let w = 1.0 / 0.36;
        (-0.5 * w * (x * x - 1.6 * x * y + y * y), [-w * (x - 0.8 * y), -w * (y - 0.8 * x)])
    }

    /// x has an exponential tail on the left: the logarithm of a gamma variate of shape ½.
    fn skewed(x: f64, y: f64) -> (f64, [f64; 2]) {
        (0.5 * x - x.exp() - 0.5 * y * y, [0.5 - x.exp(), -y])
    }

    #[test]
    fn wide_densities_are_told_and_others_are_not() {
        assert!(seen(round, [1.0, 1.0], None));
        assert!(seen(round, [2.0, 1.5], None));
        // The variance of p is 1.4 and 2 times that of q.
        assert!(seen(round, [0.85, 0.85], None));
        assert!(!seen(round, [1.0, 0.7], None));
        assert!(!seen(skewed, [2.2, 1.0], None));
        assert!(!seen(skewed, [2.2, 1.0], Some(30.0)));
        assert!(seen(round, [1.0, 1.0], Some(5.0)));
    }

    /// Along the axes there is nothing to be seen.
    #[test]
    fn what_is_wide_between_the_axes_is_told() {
        assert!(!seen(correlated, [0.6, 0.6], None));
        assert!(seen(correlated, [1.3, 1.3], None));
    }

    /// E 2eˣ over N(−8.4, 3.4²) is 0.146, of which the share Φ(0.4) is beyond three standard deviations; a parabola
    /// through what there is at three has 0.020 there. A normal density has nothing there that it has not before.
    #[test]
    fn what_rare_draws_decide_is_told() {
        let of = |density: fn(f64, f64) -> (f64, [f64; 2]), mean: f64, sd: f64| {
            let control = Control::default();
            let mut evaluations = Evaluations::new(&Density(density), Parallelism::default(), &control);
            let q = Elliptical::normal(vec![mean, 0.0], Scale::Diagonal(vec![sd, 1.0]));
            unseen(&mut evaluations, &q).unwrap()
        };
        let steep = |x: f64, y: f64| (0.1 * x - 2.0 * x.exp() - 0.5 * y * y, [0.1 - 2.0 * x.exp(), -y]);
        let found = of(steep, -8.4, 3.4).unwrap();
        assert!(found.coordinate == 1 && (found.nats - 0.0755).abs() < 0.005, "{found:?}");
        assert_eq!(of(steep, -3.0, 1.5), None);
        assert_eq!(of(round, 0.3, 0.6), None);
        assert_eq!(of(skewed, -2.0, 1.4), None);
    }
}
