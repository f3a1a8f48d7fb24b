//! Autocovariances of series: directly for the first lags, by a fast Fourier transform for all of them.

use super::moments::total;
use super::transform::Transform;
use crate::number::count;
use crust_math::lanes::{Kernel, dispatch};

/// Lags computed directly before a transform pays: of halves of 1000 draws it costs as much as about 80 lags.
pub(super) const DIRECT_LAGS: usize = 64;
/// Lags computed at once: values are loaded once for all of them.
const GROUP: usize = 4;

/// The autocovariance at every lag 0..n, with denominator n at each (the biased estimator, as Geyer 1992 and Stan use
/// it).
pub fn autocovariance(values: &[f64]) -> Vec<f64> {
    let mut series = Series::default();
    series.fill([values].into_iter(), values.len());
    (0..values.len()).map(|lag| series.autocovariance(lag)).collect()
}

/// Several series of equal length, as estimates of an effective sample size and R-hat see them.
pub(super) trait Autocovariances {
    /// Of each series.
    fn length(&self) -> usize;

    /// Of each series.
    fn means(&self) -> &[f64];

    /// The mean over the series of their autocovariances, with the length as denominator.
    fn autocovariance(&mut self, lag: usize) -> f64;

    /// Says that all lags will be asked for.
    fn expect_all(&mut self);
}

/// Series of equal length, centred each at its own mean, and their autocovariances, which are computed when they are
/// asked for: well-mixed chains need only a few lags.
#[derive(Debug, Default)]
pub(super) struct Series {
    centred: Vec<f64>,
    length: usize,
    means: Vec<f64>,
    /// The first lags, as far as they are known.
    first: Vec<f64>,
    /// All lags, once one beyond the first few was asked for.
    all: Vec<f64>,
    transform: Transform,
}

impl Series {
    /// Takes other series, each of this length.
    pub(super) fn fill<'a>(&mut self, series: impl Iterator<Item = &'a [f64]>, length: usize) {
        self.centred.clear();
        self.means.clear();
        self.first.clear();
        self.all.clear();
        self.length = length;
        for values in series {
            let mean = total(values) / count(length);
            self.means.push(mean);
            self.centred.extend(values.iter().map(|x| x - mean));
        }
    }

    fn add_group(&mut self) {
        let lag = self.first.len();
        let mut sums = [0.0; GROUP];
        for centred in self.centred.chunks_exact(self.length.max(1)) {
            let products = dispatch(LaggedProducts { centred, lag });
            sums.iter_mut().zip(products).for_each(|(sum, product)| *sum += product / count(self.length));
        }
        self.first.extend(sums.map(|sum| sum / count(self.means.len())));
    }
}

impl Autocovariances for Series {
    fn length(&self) -> usize {
        self.length
    }

    fn means(&self) -> &[f64] {
        &self.means
    }

    fn autocovariance(&mut self, lag: usize) -> f64 {
        if lag < DIRECT_LAGS && self.all.is_empty() {
            while self.first.len() <= lag {
                self.add_group();
            }
            return self.first[lag];
        }
        self.expect_all();
        self.all[lag]
    }

    fn expect_all(&mut self) {
        if self.all.is_empty() {
            self.transform.autocovariance(&self.centred, self.length, &mut self.all);
        }
    }
}

/// Σ `x_i` `x_i₊lag` for some lags from the first on, 0 for those that are longer than the series.
struct LaggedProducts<'a> {
    centred: &'a [f64],
    lag: usize,
}

impl Kernel for LaggedProducts<'_> {
    type Output = [f64; GROUP];

    #[inline(always)]
    fn run(self) -> [f64; GROUP] {
        let shifted = |more: usize| self.centred.get(self.lag + more..).unwrap_or_default();
        let [b, c, d, e] = [shifted(0), shifted(1), shifted(2), shifted(3)];
        // running sums that do not wait for each other
        let [mut t, mut u, mut v, mut w] = [[0.0; 8]; GROUP];
        let common = e.len() / 8;
        let zipped = chunks(self.centred).zip(chunks(b)).zip(chunks(c)).zip(chunks(d)).zip(chunks(e));
        for ((((a, b), c), d), e) in zipped {
            t = added(t, a, b);
            u = added(u, a, c);
            v = added(v, a, d);
            w = added(w, a, e);
        }
        [
            rest(t, self.centred, b, common),
            rest(u, self.centred, c, common),
            rest(v, self.centred, d, common),
            rest(w, self.centred, e, common),
        ]
    }
}

#[inline(always)]
fn chunks(values: &[f64]) -> std::slice::Iter<'_, [f64; 8]> {
    values.as_chunks().0.iter()
}

#[inline(always)]
fn added(mut sums: [f64; 8], a: &[f64; 8], b: &[f64; 8]) -> [f64; 8] {
    for i in 0..8 {
        sums[i] += a[i] * b[i];
    }
    sums
}

/// The sums of products, with those from this chunk on added to them.
#[inline(always)]
fn rest(mut sums: [f64; 8], a: &[f64], b: &[f64], from: usize) -> f64 {
    let (a, a_rest) = a[..b.len()].as_chunks::<8>();
    let (b, b_rest) = b.as_chunks::<8>();
    for (a, b) in a[from..].iter().zip(&b[from..]) {
        sums = added(sums, a, b);
    }
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_math::random::{Purpose, StreamKey};

    fn noise(n: usize) -> Vec<f64> {
        let mut stream = StreamKey::new(7, Purpose(1)).stream();
        (0..n).map(|_| 3.0 + stream.standard_normal()).collect()
    }

    /// The mean over series, by the definition.
    fn plain(series: &[Vec<f64>], lag: usize) -> f64 {
        let of_one = |values: &Vec<f64>| {
            let mean = values.iter().sum::<f64>() / count(values.len());
            let product = |i: usize| (values[i] - mean) * (values[i + lag] - mean);
            (0..values.len() - lag).map(product).sum::<f64>() / count(values.len())
        };
        series.iter().map(of_one).sum::<f64>() / count(series.len())
    }

    #[test]
    fn direct_sums_and_the_transform_give_the_definition_at_any_length_and_number() {
        for n in [1, 2, 3, 5, 8, 9, 31, 64, 65, 100, 127, 128, 129, 500, 1000] {
            for number in [1, 2, 3, 8, 9, 16, 17, 35] {
                let noise = noise(n * number);
                let series: Vec<Vec<f64>> = noise.chunks(n).map(<[f64]>::to_vec).collect();
                let mut ours = Series::default();
                ours.fill(noise.chunks(n), n);
                let mut transformed = Vec::new();
                Transform::default().autocovariance(&ours.centred, n, &mut transformed);
                assert_eq!(transformed.len(), n);
                for lag in (0..n).step_by(1 + n / 60) {
                    let (plain, lazy) = (plain(&series, lag), ours.autocovariance(lag));
                    assert!(
                        (transformed[lag] - plain).abs() < 1e-14,
                        "{number} × {n}, lag {lag}: {} {plain}",
                        transformed[lag]
                    );
                    assert!((lazy - plain).abs() < 1e-14, "{number} × {n}, lag {lag}: {lazy} and {plain}");
                }
            }
        }
    }

    #[test]
    fn known_autocovariances() {
        // (1, 2, 3, 4) centred is (−3, −1, 1, 3) / 2
        let expected = [5.0, 1.25, -1.5, -2.25].map(|x: f64| x / 4.0);
        for (a, b) in autocovariance(&[1.0, 2.0, 3.0, 4.0]).iter().zip(expected) {
            assert!((a - b).abs() < 1e-15, "{a} {b}");
        }
        assert!(autocovariance(&[]).is_empty());
        // the autocovariances of a centred series at all lags, both signs, sum to 0
        let all = autocovariance(&noise(777));
        assert!((all[0] + 2.0 * all[1..].iter().sum::<f64>()).abs() < 1e-12);
    }
}
