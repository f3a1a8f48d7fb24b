//! Series of zeros and ones, and their autocovariances, by counting bits.

use super::autocovariance::{Autocovariances, DIRECT_LAGS, Series};
use crate::number::count;
use crust_math::lanes::{Kernel, dispatch};

const BITS: usize = u64::BITS as usize;
// the first and the last bits of a series that a lag leaves out lie in one word
const _: () = assert!(DIRECT_LAGS <= BITS);

/// Whether draws satisfy a condition, one bit for each.
#[derive(Debug, Default)]
pub(super) struct Indicator {
    /// For each series as many words as there must be and one more, the first bit lowest, with zeros behind the last.
    words: Vec<u64>,
    /// The last bits of each series, the very last highest.
    ends: Vec<u64>,
    ones: Vec<u32>,
    means: Vec<f64>,
    length: usize,
    /// Beyond the first lags the series are transformed like others.
    numbers: Vec<f64>,
    series: Series,
    is_transformed: bool,
}

impl Indicator {
    /// Takes other series, each of this length: 1 where the draw satisfies the condition.
    pub(super) fn fill<'a>(
        &mut self,
        series: impl Iterator<Item = &'a [f64]>,
        length: usize,
        holds: impl Fn(f64) -> bool,
    ) {
        self.words.clear();
        self.ends.clear();
        self.ones.clear();
        self.means.clear();
        self.length = length;
        self.is_transformed = false;
        let pack = |values: &[f64]| values.iter().rev().fold(0, |word, &x| word << 1 | u64::from(holds(x)));
        for values in series {
            let from = self.words.len();
            self.words.extend(values.chunks(BITS).map(pack).chain([0]));
            let ones = self.words[from..].iter().map(|word| word.count_ones()).sum();
            self.ones.push(ones);
            self.means.push(f64::from(ones) / count(length));
            let end = &values[length.saturating_sub(BITS)..];
            self.ends.push(pack(end) << ((BITS - end.len()) % BITS));
        }
    }

    /// Whether there are ones as well as zeros.
    pub(super) fn varies(&self) -> bool {
        self.means.iter().any(|&mean| mean > 0.0) && self.means.iter().any(|&mean| mean < 1.0)
    }

    /// Σ (`b_i` − m) (`b_i₊lag` − m) = Σ `b_i` `b_i₊lag` − m (a + b) + (n − lag) m², where a are the ones
    /// but for the last lag bits, and b those but for the first.
    ///
    /// Times n², all of it is whole numbers.
    fn direct(&self, lag: usize) -> f64 {
        let n = count(self.length);
        let mask = (1_u64 << lag) - 1;
        let mut sum = 0.0;
        for ((words, &end), &ones) in self.words.chunks_exact(self.words_each()).zip(&self.ends).zip(&self.ones) {
            let both = f64::from(dispatch(LaggedOnes { words, lag }));
            let (first, last) = ((words[0] & mask).count_ones(), (end & !(u64::MAX >> lag)).count_ones());
            let (once, ones) = (f64::from(2 * ones - first - last), f64::from(ones));
            sum += n * (n * both - ones * once) + (n - count(lag)) * ones * ones;
        }
        sum / (n * n * n) / count(self.means.len())
    }

    /// Words of each series.
    fn words_each(&self) -> usize {
        self.length.div_ceil(BITS) + 1
    }

    fn transform(&mut self) {
        self.numbers.clear();
        for words in self.words.chunks_exact(self.words_each()) {
            self.numbers.extend((0..self.length).map(|i| f64::from((words[i / BITS] >> (i % BITS) & 1) as u8)));
        }
        self.series.fill(self.numbers.chunks_exact(self.length), self.length);
        self.series.expect_all();
        self.is_transformed = true;
    }
}

impl Autocovariances for Indicator {
    fn length(&self) -> usize {
        self.length
    }

    fn means(&self) -> &[f64] {
        &self.means
    }

    fn autocovariance(&mut self, lag: usize) -> f64 {
        if lag < DIRECT_LAGS && !self.is_transformed {
            return self.direct(lag);
        }
        self.expect_all();
        self.series.autocovariance(lag)
    }

    fn expect_all(&mut self) {
        if !self.is_transformed {
            self.transform();
        }
    }
}

/// How many bits are set as well as the one that lies so much behind it. The last word is 0.
struct LaggedOnes<'a> {
    words: &'a [u64],
    lag: usize,
}

impl Kernel for LaggedOnes<'_> {
    type Output = u32;

    #[inline(always)]
    fn run(self) -> u32 {
        let mut ones = 0;
        for (word, next) in self.words.iter().zip(&self.words[1..]) {
            // in two steps, as nothing can be shifted by all of its bits
            let behind = word >> self.lag | next << (BITS - 1 - self.lag) << 1;
            ones += (word & behind).count_ones();
        }
        ones
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_math::random::{Purpose, StreamKey};

    #[test]
    fn counted_bits_give_the_autocovariances_of_zeros_and_ones() {
        let mut stream = StreamKey::new(3, Purpose::TEST).stream();
        for n in [1, 2, 3, 31, 63, 64, 65, 127, 128, 129, 500] {
            for limit in [-1.0, 0.05, 0.5, 2.0] {
                let draws: Vec<f64> = (0..3 * n).map(|_| stream.uniform()).collect();
                let numbers: Vec<f64> = draws.iter().map(|&x| f64::from(u8::from(x <= limit))).collect();
                let (mut bits, mut series) = (Indicator::default(), Series::default());
                bits.fill(draws.chunks(n), n, |x| x <= limit);
                series.fill(numbers.chunks(n), n);
                let equal = bits.means().iter().zip(series.means()).all(|(a, b)| a.to_bits() == b.to_bits());
                assert!(equal && bits.length() == n);
                for lag in 0..n {
                    let (ours, theirs) = (bits.autocovariance(lag), series.autocovariance(lag));
                    assert!((ours - theirs).abs() < 1e-15, "n = {n}, lag {lag}: {ours} and {theirs}");
                }
                assert_eq!(bits.varies(), numbers.iter().any(|x| *x > 0.5) && numbers.iter().any(|x| *x < 0.5));
            }
        }
    }
}
