//! The calibrated comparison of real with simulated data: the test that section 3.3 asks for.

use crate::number::{Number, count};
use crate::result::Calibration;
use crate::sandwich::quartiles;

/// Quartiles of log w at each T, shifted so that the median at the largest T is 0.
///
/// Datasets differ in their marginal likelihood; what is compared is how the estimates approach it.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve(pub Vec<[f64; 3]>);

/// The curve of a dataset from the log weights at each T.
pub fn curve(log_weights: &[&[f64]]) -> Curve {
    let points: Vec<[f64; 3]> = log_weights.iter().map(|values| quartiles(values)).collect();
    let shift = points.last().map_or(0.0, |last| last[1]);
    Curve(points.into_iter().map(|q| q.map(|v| if shift.is_finite() { v - shift } else { v })).collect())
}

/// Ranks the curve of the real data among those of replicates, which were simulated from the fitted model and annealed
/// in the same way with the same kernels.
///
/// If the real data come from the fitted model too, all curves are exchangeable. The discrepancy of a curve is computed
/// by a rule that treats all of them alike, so that the rank of the real one is uniform and rank/(R + 1) is a p-value.
/// The rule: numbers are put on the scale asinh (gaps range from tenths to thousands of nats); each number's distance
/// from the mean of the other curves, in units of the standard deviation over all curves; the root of the mean square
/// over the curve.
pub fn calibrate(steps: &[usize], chains: usize, real: &Curve, replicates: &[Curve]) -> Calibration {
    let all: Vec<Vec<f64>> = std::iter::once(real).chain(replicates).map(scaled).collect();
    let discrepancies = discrepancies(&all);
    let (discrepancy, others) = discrepancies.split_first().map_or((f64::NAN, &[][..]), |(first, rest)| (*first, rest));
    let rank = others.iter().filter(|&&other| other >= discrepancy).count() + 1;
    let numbers = |curve: &Curve| curve.0.iter().map(|q| q.map(Number).to_vec()).collect::<Vec<_>>();
    Calibration {
        steps: steps.to_vec(),
        chains,
        discrepancy,
        replicates: others.to_vec(),
        rank,
        p_value: count(rank) / count(others.len() + 1),
        real_curve: numbers(real),
        replicate_curves: replicates.iter().map(numbers).collect(),
    }
}

/// Chains of weight 0 lie as far down as numbers go.
fn scaled(curve: &Curve) -> Vec<f64> {
    curve.0.iter().flatten().map(|v| v.clamp(-1e300, 1e300).asinh()).collect()
}

fn discrepancies(curves: &[Vec<f64>]) -> Vec<f64> {
    let n = count(curves.len());
    let dimension = curves.first().map_or(0, Vec::len);
    let mut squares = vec![0.0; curves.len()];
    for c in 0..dimension {
        let column: Vec<f64> = curves.iter().map(|curve| curve[c]).collect();
        let mean = column.iter().sum::<f64>() / n;
        let spread = (column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
        for (square, x) in squares.iter_mut().zip(&column) {
            // x minus the mean of the others is (x − mean) n/(n − 1)
            let distance = (x - mean) * n / (n - 1.0).max(1.0);
            *square += if spread > 0.0 { (distance / spread).powi(2) } else { 0.0 };
        }
    }
    squares.into_iter().map(|square| (square / count(dimension.max(1))).sqrt()).collect()
}
