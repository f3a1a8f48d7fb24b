//! The ascending order of draws, found once: quantiles, the median, distances from it and ranks follow from it.

use super::moments::{between, place};
use crate::number::count;
use crust_math::lanes::{Kernel, dispatch};
use std::hint::select_unpredictable;

/// Fewer values are sorted by comparisons.
const RADIX_FROM: usize = 600;
/// Bits that one pass of the radix sort looks at, and passes at most.
const DIGIT: u32 = 8;
const PASSES: u32 = 4;
/// Bits of the sign and the exponent of numbers.
const EXPONENT: u32 = 12;

/// Values in ascending order, and where each was.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// The values in the total order of IEEE 754: NaNs stand at the ends.
    sorted: Vec<f64>,
    /// The places in their low bits.
    words: Vec<u64>,
    /// The bits of a word that are a place.
    places: u64,
    spare: Vec<u64>,
    distances: Vec<f64>,
}

/// Unsigned integers in the total order of the numbers.
#[inline(always)]
fn key(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The least and the greatest key.
struct KeyRange<'a>(&'a [f64]);

impl Kernel for KeyRange<'_> {
    type Output = (u64, u64);

    #[inline(always)]
    fn run(self) -> (u64, u64) {
        let (mut least, mut greatest) = (u64::MAX, 0);
        for &x in self.0 {
            let key = key(x);
            least = if key < least { key } else { least };
            greatest = if key > greatest { key } else { greatest };
        }
        (least, greatest)
    }
}

/// Makes the words.
struct Words<'a> {
    values: &'a [f64],
    /// The least key.
    least: u64,
    /// How many bits of a key are left out.
    dropped: u32,
    /// How many bits a place has.
    bits: u32,
    out: &'a mut Vec<u64>,
}

impl Kernel for Words<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.out.resize(self.values.len(), 0);
        for ((word, &x), place) in self.out.iter_mut().zip(self.values).zip(0..) {
            *word = (key(x) - self.least) >> self.dropped << self.bits | place;
        }
    }
}

/// Sorts words by their bits from this one on, of which there are at most as many as all passes look at. Whether they
/// are in the spare memory at the end.
fn radix_sort(words: &mut [u64], spare: &mut [u64], from: u32) -> bool {
    const BUCKETS: usize = 1 << DIGIT;
    let mut counts = [[0_usize; BUCKETS]; PASSES as usize];
    let digit = |word: u64, pass: u32| at(word >> from >> (DIGIT * pass)) % BUCKETS;
    for &word in &*words {
        for (pass, counts) in (0..).zip(&mut counts) {
            counts[digit(word, pass)] += 1;
        }
    }
    let (mut source, mut target) = (words, spare);
    let mut is_spare = false;
    for (pass, mut next) in (0..).zip(counts) {
        if next[digit(source[0], pass)] == source.len() {
            // all have the same digit
            continue;
        }
        let mut sum = 0;
        for count in &mut next {
            sum += std::mem::replace(count, sum);
        }
        for &word in &*source {
            let place = &mut next[digit(word, pass)];
            target[*place] = word;
            *place += 1;
        }
        (source, target) = (target, source);
        is_spare = !is_spare;
    }
    is_spare
}

impl Order {
    pub(super) fn of(values: &[f64]) -> Self {
        let mut order = Self::default();
        order.sort(values);
        order
    }

    /// Sorts words that consist of the leading bits of a value's key, less the least key, and of the value's place. The
    /// radix sort looks at the first bits, so many that values which agree in them are few, or equal; these are sorted
    /// by comparisons.
    pub(super) fn sort(&mut self, values: &[f64]) {
        let bits = usize::BITS - values.len().leading_zeros();
        self.places = (1 << bits) - 1;
        let (least, greatest) = dispatch(KeyRange(values));
        let width = u64::BITS - greatest.saturating_sub(least).leading_zeros();
        let dropped = (width + bits).saturating_sub(u64::BITS);
        dispatch(Words { values, least, dropped, bits, out: &mut self.words });
        // the bits of the words from here on are in order
        let mut from = bits;
        if values.len() < RADIX_FROM {
            self.words.sort_unstable();
        } else {
            let passes = (EXPONENT + bits).div_ceil(DIGIT).min(PASSES);
            from += (width - dropped).saturating_sub(DIGIT * passes);
            self.spare.resize(self.words.len(), 0);
            if radix_sort(&mut self.words, &mut self.spare, from) {
                std::mem::swap(&mut self.words, &mut self.spare);
            }
        }
        if from > bits || dropped > 0 {
            self.sort_rest(values, from);
        }
        self.sorted.clear();
        self.sorted.extend(self.words.iter().map(|word| values[at(word & self.places)]));
    }

    /// Sorts words that are in order of their bits from this one on.
    fn sort_rest(&mut self, values: &[f64], from: u32) {
        let value = |word: u64| key(values[at(word & self.places)]);
        let mut start = 0;
        while start + 1 < self.words.len() {
            let mut end = start + 1;
            while end < self.words.len() && self.words[end] >> from == self.words[start] >> from {
                end += 1;
            }
            if end > start + 1 {
                self.words[start..end].sort_unstable_by_key(|&word| value(word));
            }
            start = end;
        }
    }

    /// The order of the distances of another order's values from a number that is finite: those below it in descending
    /// order and those above it in ascending order are in order already, as rounded differences never decrease.
    pub(super) fn of_distances(&mut self, other: &Self, centre: f64) {
        let n = other.sorted.len();
        self.distances.clear();
        self.distances.extend(other.sorted.iter().map(|x| (x - centre).abs()));
        self.places = other.places;
        self.words.clear();
        self.sorted.clear();
        let mut above = other.sorted.partition_point(|&x| x < centre);
        // values below the centre that are left
        let mut below = above;
        self.words.resize(n, 0);
        self.sorted.resize(n, 0.0);
        let mut out = self.words.iter_mut().zip(&mut self.sorted);
        while below > 0 && above < n {
            let Some((word, value)) = out.next() else { break };
            // without a branch: which one is nearer cannot be foretold
            let is_below = self.distances[below - 1] < self.distances[above];
            let next = select_unpredictable(is_below, below - 1, above);
            (*word, *value) = (other.words[next], self.distances[next]);
            below -= usize::from(is_below);
            above += usize::from(!is_below);
        }
        let rest = (0..below).rev().chain(above..n);
        for ((word, value), next) in out.zip(rest) {
            (*word, *value) = (other.words[next], self.distances[next]);
        }
    }

    /// Forgets values; the others keep their places.
    pub(super) fn retain(&mut self, keeps: impl Fn(usize) -> bool) {
        let places = self.places;
        let kept = |word: &u64| keeps(at(word & places));
        let mut words = self.words.iter();
        self.sorted.retain(|_| words.next().is_some_and(kept));
        self.words.retain(kept);
    }

    /// The values in order, with their places.
    pub(super) fn places(&self) -> impl Iterator<Item = usize> {
        self.words.iter().map(|word| at(word & self.places))
    }

    pub(super) fn sorted(&self) -> &[f64] {
        &self.sorted
    }

    /// The least and the greatest value, if there are values and none is NaN.
    pub(super) fn range(&self) -> Option<(f64, f64)> {
        let (&least, &greatest) = self.sorted.first().zip(self.sorted.last())?;
        (!least.is_nan() && !greatest.is_nan()).then_some((least, greatest))
    }

    /// The median; NaN of nothing and of anything with a NaN in it.
    pub(super) fn median(&self) -> f64 {
        let n = self.sorted.len();
        if self.range().is_none() {
            return f64::NAN;
        }
        // half the sum of the middle two, so that both lie equally far from it also after rounding: folded draws are
        // ranked
        f64::midpoint(self.sorted[(n - 1) / 2], self.sorted[n / 2])
    }

    /// The quantile that interpolates between order statistics; NaN of nothing, of anything with a NaN in it, and of a
    /// probability outside \[0, 1\].
    pub(super) fn quantile(&self, probability: f64) -> f64 {
        let n = self.sorted.len();
        match (self.range(), place(n, probability)) {
            (Some(_), Some((below, weight))) => {
                between((self.sorted[below], self.sorted[(below + 1).min(n - 1)]), weight)
            }
            _ => f64::NAN,
        }
    }

    /// The value of a rank that counts from 1, the nearest where there is none; NaN like the median.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank in 1..=n")]
    pub(super) fn statistic(&self, rank: f64) -> f64 {
        if self.range().is_none() {
            return f64::NAN;
        }
        self.sorted[rank.clamp(1.0, count(self.sorted.len())) as usize - 1]
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a place in a slice, or the low bits of a word")]
fn at(word: u64) -> usize {
    word as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_math::random::{Purpose, Stream, StreamKey};

    fn check(values: &[f64]) {
        let order = Order::of(values);
        let mut expected = values.to_vec();
        expected.sort_by(f64::total_cmp);
        let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(order.sorted()), bits(&expected));
        let mut seen = vec![false; values.len()];
        for (place, sorted) in order.places().zip(order.sorted()) {
            assert_eq!(values[place].to_bits(), sorted.to_bits());
            assert!(!std::mem::replace(&mut seen[place], true), "place {place} twice");
        }
        assert!(seen.into_iter().all(|x| x));
        let centre = order.median();
        if centre.is_finite() {
            let mut folded = Order::default();
            folded.of_distances(&order, centre);
            let distances: Vec<f64> = values.iter().map(|x| (x - centre).abs()).collect();
            assert_eq!(bits(folded.sorted()), bits(Order::of(&distances).sorted()));
            for (place, sorted) in folded.places().zip(folded.sorted()) {
                assert_eq!(distances[place].to_bits(), sorted.to_bits());
            }
        }
    }

    /// Values that a sort by leading bits could get wrong: many agree in them, or have nothing else.
    #[test]
    fn the_order_is_that_of_comparisons() {
        let kinds: [fn(&mut Stream) -> f64; 9] = [
            |stream| stream.standard_normal(),
            |stream| stream.standard_normal().round(),
            |stream| 1e12 + stream.standard_normal(),
            |stream| 1.0 + 1e-13 * stream.standard_normal().abs(),
            |stream| stream.standard_normal().powi(3).exp(),
            |stream| if stream.uniform() < 0.5 { -1.0 } else { 1.0 + 1e-12 * stream.uniform() },
            |stream| if stream.uniform() < 0.5 { 0.0 } else { -0.0 },
            |stream| 1.0 / (4.0 * stream.standard_normal()).round(),
            |stream| f64::from_bits(stream.uniform().to_bits() << 3),
        ];
        for kind in kinds {
            for n in [0, 1, 2, 3, 7, 16, RADIX_FROM - 1, RADIX_FROM, 1024, 5000] {
                let mut stream = StreamKey::new(4, Purpose::TEST).stream();
                let mut values: Vec<f64> = (0..n).map(|_| kind(&mut stream)).collect();
                check(&values);
                values.sort_by(|a, b| b.total_cmp(a));
                check(&values);
            }
        }
        check(&vec![3.5; 1000]);
        check(&[f64::NAN, 1.0, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY].repeat(200));
        check(&[f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, -5e-324, 0.0].repeat(200));
    }

    #[test]
    fn what_is_forgotten_leaves_the_rest_in_order() {
        let mut order = Order::of(&[4.0, 1.0, 3.0, 2.0, 5.0]);
        order.retain(|place| place != 2);
        assert_eq!((order.sorted(), order.places().collect::<Vec<_>>()), (&[1.0, 2.0, 4.0, 5.0][..], vec![1, 3, 0, 4]));
    }
}
