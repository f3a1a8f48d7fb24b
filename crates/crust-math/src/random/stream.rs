//! Keys and the streams of numbers that they open.

use super::Draw;
use super::philox::{philox2x32, philox4x32};
use crate::density::Domain;

/// What the numbers of a stream are for. Two uses of randomness that must not share numbers have different purposes.
///
/// A crate that needs a purpose of its own takes a number from [`Purpose::FIRST_FREE`] on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Purpose(pub u32);

impl Purpose {
    /// Draws of the parameters from the prior.
    pub const PRIOR: Self = Self(1);
    /// Simulated data, given the parameters.
    pub const DATA: Self = Self(2);
    /// Forward annealing.
    pub const FORWARD: Self = Self(3);
    /// Reverse annealing.
    pub const REVERSE: Self = Self(4);
    /// Pilot runs, which tune kernels.
    pub const PILOT: Self = Self(5);
    /// Starting points of samplers.
    pub const INITIAL: Self = Self(6);
    /// Warm-up and draws of the No-U-Turn sampler.
    pub const NUTS: Self = Self(7);
    /// `transformed data`.
    pub const TRANSFORMED_DATA: Self = Self(8);
    /// `generated quantities`.
    pub const GENERATED: Self = Self(9);
    /// Variational and Laplace fits.
    pub const FIT: Self = Self(10);
    /// Resampling, in sequential Monte Carlo and in the bootstrap.
    pub const RESAMPLE: Self = Self(11);
    /// Gibbs and other kernels that are run on their own.
    pub const KERNEL: Self = Self(12);
    /// Tests.
    pub const TEST: Self = Self(13);
    /// All purposes from here on are free for other crates.
    pub const FIRST_FREE: Self = Self(1 << 16);
}

/// The name of a stream.
///
/// # Distinct keys, distinct streams
/// A Philox block is a function of 64 bits of key and 128 bits of counter. The counter holds the chain (32 bits), the
/// step (64 bits) and the number of the block in the stream (32 bits). The Philox key is
///
/// > E(seed) ⊕ F(purpose, dataset)
///
/// where E and F are two different permutations of 64 bits (Philox 2×32-10 under two fixed keys). Therefore
/// - streams that differ in chain or step only use the same Philox permutation on disjoint sets of counters;
/// - with the same seed, streams that differ in purpose or dataset have different Philox keys, because F is injective;
/// - with the same purpose and dataset, streams that differ in the seed have different Philox keys, because E is.
///
/// These hold with certainty: within a run no two streams share a (key, counter) pair. Only two streams that differ in
/// the seed *and* in (purpose, dataset) may share a Philox key, by chance: with probability 2⁻⁶⁴ for each pair, so
/// about 10⁻⁸ for the whole of a thousand seeds with a thousand (purpose, dataset) pairs each.
///
/// A stream has 2³² blocks, which are 2³⁴ words of 32 bits or 2³³ uniforms. One that is longer goes on under a new
/// Philox key, the image of the old one under a third permutation; only such a stream can meet another, again with
/// probability 2⁻⁶⁴.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamKey {
    pub seed: u64,
    pub purpose: Purpose,
    pub dataset: u32,
    pub chain: u32,
    pub step: u64,
}

/// The keys of the permutations that make a Philox key. Any three numbers would do: these are the first 96 fractional
/// bits of e.
const MIX_SEED: u32 = 0xB7E1_5162;
const MIX_PLACE: u32 = 0x8AED_2A6A;
const MIX_CONTINUATION: u32 = 0xBF71_5880;

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "takes the number apart")]
fn halves(x: u64) -> [u32; 2] {
    [x as u32, (x >> 32) as u32]
}

impl StreamKey {
    /// The first stream of a purpose: dataset, chain and step are 0.
    pub fn new(seed: u64, purpose: Purpose) -> Self {
        Self { seed, purpose, dataset: 0, chain: 0, step: 0 }
    }

    #[must_use]
    pub fn purpose(self, purpose: Purpose) -> Self {
        Self { purpose, ..self }
    }

    #[must_use]
    pub fn dataset(self, dataset: u32) -> Self {
        Self { dataset, ..self }
    }

    #[must_use]
    pub fn chain(self, chain: u32) -> Self {
        Self { chain, ..self }
    }

    #[must_use]
    pub fn step(self, step: u64) -> Self {
        Self { step, ..self }
    }

    /// The stream of this name, at its beginning. Costs about as much as two draws.
    #[inline]
    pub fn stream(self) -> Stream {
        let seed = philox2x32(halves(self.seed), MIX_SEED);
        let place = philox2x32([self.purpose.0, self.dataset], MIX_PLACE);
        let [low, high] = halves(self.step);
        Stream {
            key: [seed[0] ^ place[0], seed[1] ^ place[1]],
            counter: [0, low, high, self.chain],
            block: [0; 4],
            used: 4,
        }
    }
}

/// A stream of random numbers. The same [`StreamKey`] gives the same numbers on every machine.
///
/// To make that true of the samplers too, they use only operations whose result is the correctly rounded one:
/// `+ − × ÷ √` and pxfm's `log`, `log1p`, `exp` and `atan`. The standard library's functions differ between platforms.
///
/// A stream has no state but its position: no sampler keeps a number for the next call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    key: [u32; 2],
    /// The counter of the next block: number of the block, step (low, high), chain.
    counter: [u32; 4],
    block: [u32; 4],
    /// How many words of the block are gone.
    used: usize,
}

impl Stream {
    #[inline]
    fn refill(&mut self) {
        self.block = philox4x32(self.counter, self.key);
        self.used = 0;
        self.counter[0] = self.counter[0].wrapping_add(1);
        if self.counter[0] == 0 {
            self.key = philox2x32(self.key, MIX_CONTINUATION);
        }
    }

    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        if self.used == 4 {
            self.refill();
        }
        let word = self.block[self.used & 3];
        self.used += 1;
        word
    }

    /// The next two words, the first one as the low half.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let low = u64::from(self.next_u32());
        let high = u64::from(self.next_u32());
        high << 32 | low
    }

    /// Uniform on the 2⁵³ − 1 multiples of 2⁻⁵³ strictly between 0 and 1: never 0, never 1, and `1 − u` is exact and
    /// has the same distribution.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        loop {
            let unit = unit(self.next_u64());
            if unit > 0.0 {
                return unit;
            }
        }
    }

    /// Uniform between two numbers. Rounding may return an end where they are within a few ulps.
    #[inline]
    pub fn uniform_range(&mut self, low: f64, high: f64) -> Draw<f64> {
        let domain = Domain("uniform_rng");
        domain.finite("Lower bound parameter", low)?;
        domain.finite("Upper bound parameter", high)?;
        domain.that(low < high, "Upper bound parameter", high, "greater than the lower bound")?;
        let u = self.uniform();
        // Not low + (high − low) u: the difference may overflow.
        Ok((low * (1.0 - u) + high * u).clamp(low, high))
    }

    /// Uniform on 0, …, n − 1, without bias: Lemire, "Fast random integer generation in an interval" (2019).
    ///
    /// # Panics
    /// If there is no such number: `n` = 0.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "there is no number below 0");
        let mut product = u128::from(self.next_u64()) * u128::from(n);
        if low_half(product) < n {
            let reject_below = n.wrapping_neg() % n;
            while low_half(product) < reject_below {
                product = u128::from(self.next_u64()) * u128::from(n);
            }
        }
        low_half(product >> 64)
    }

    /// Uniform on low, …, high, both included.
    #[inline]
    pub fn uniform_integer(&mut self, low: i64, high: i64) -> Draw<i64> {
        let holds = low <= high;
        Domain("discrete_range_rng").that(
            holds,
            "Upper bound parameter",
            super::numeric::float(high),
            "no less than the lower bound",
        )?;
        let span = low.abs_diff(high);
        let offset = if span == u64::MAX { self.next_u64() } else { self.below(span + 1) };
        Ok(low.wrapping_add_unsigned(offset))
    }

    /// True with probability `p`.
    #[inline]
    pub fn bernoulli(&mut self, p: f64) -> Draw<bool> {
        Domain("bernoulli_rng").bounded("Probability parameter", p, 0.0, 1.0, "in the interval [0, 1]")?;
        Ok(unit(self.next_u64()) < p)
    }

    /// What [`Self::next_u64`] gives, for each element.
    pub fn fill_u64(&mut self, out: &mut [u64]) {
        out.iter_mut().for_each(|x| *x = self.next_u64());
    }

    /// What [`Self::uniform`] gives, for each element.
    pub fn fill_uniform(&mut self, out: &mut [f64]) {
        out.iter_mut().for_each(|x| *x = self.uniform());
    }
}

/// The upper 53 bits as a number in [0, 1).
#[inline]
#[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
pub(super) fn unit(bits: u64) -> f64 {
    const SCALE: f64 = 1.0 / (1_u64 << 53) as f64;
    (bits >> 11) as f64 * SCALE
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the low half is wanted")]
fn low_half(x: u128) -> u64 {
    x as u64
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
