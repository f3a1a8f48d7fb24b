//! How a Gibbs sweep decides: it draws, it follows a path that is given (for transition probabilities), or it stays
//! above a floor (for nested sampling). The sweeps are written once, for all three.

use crust_math::lanes::scalar;
use crust_math::random::Stream;
use crust_math::special::log1p_exp;

use crate::model::Floor;

/// The choice of one value of several.
pub(crate) trait Choose {
    /// The value of a variable, given log prior probabilities and log likelihoods of all values, up to a constant.
    /// `weights` is scratch memory. All three end with padding, whose log prior is −∞.
    fn choose(
        &mut self,
        place: usize,
        now: usize,
        log_prior: &[f64],
        log_likelihood: &[f64],
        weights: &mut [f64],
    ) -> usize;
}

/// The choice to flip a bit.
pub(crate) trait Flip {
    /// Before the bits of a row.
    fn begin(&mut self, row: usize);

    /// Whether the bit k of this row flips, given by how much that would change the log prior and the log likelihood.
    fn flips(&mut self, k: usize, log_prior: f64, log_likelihood: f64) -> bool;
}

/// Draws from the conditional distribution.
pub(crate) struct Drawn<'a> {
    pub stream: &'a mut Stream,
    /// For bits: a logistic draw for each, made at once since that is faster.
    pub thresholds: &'a mut [f64],
}

/// weights = exp(log prior + log likelihood − the largest); returns their sum and the largest.
#[inline(always)]
pub(crate) fn normalise(log_prior: &[f64], log_likelihood: &[f64], weights: &mut [f64]) -> (f64, f64) {
    let mut largest = f64::NEG_INFINITY;
    for ((w, a), b) in weights.iter_mut().zip(log_prior).zip(log_likelihood) {
        *w = a + b;
        largest = if *w > largest { *w } else { largest };
    }
    let mut total = 0.0;
    for w in weights.iter_mut() {
        *w = scalar::exp(*w - largest);
    }
    for w in weights.iter() {
        total += w;
    }
    (total, largest)
}

#[inline(always)]
fn pick(weights: &[f64], mut rest: f64, otherwise: usize) -> usize {
    let mut last = otherwise;
    for (k, &w) in weights.iter().enumerate() {
        if w > 0.0 {
            last = k;
            if rest < w {
                return k;
            }
        }
        rest -= w;
    }
    last
}

impl Choose for Drawn<'_> {
    #[inline(always)]
    fn choose(
        &mut self,
        _place: usize,
        now: usize,
        log_prior: &[f64],
        log_likelihood: &[f64],
        weights: &mut [f64],
    ) -> usize {
        let (total, _) = normalise(log_prior, log_likelihood, weights);
        pick(weights, self.stream.uniform() * total, now)
    }
}

impl Flip for Drawn<'_> {
    #[inline(always)]
    fn begin(&mut self, _row: usize) {
        for x in self.thresholds.iter_mut() {
            *x = self.stream.uniform();
        }
        // P(logit U < x) = 1 / (1 + exp(−x)).
        for x in self.thresholds.iter_mut() {
            *x = scalar::log(*x / (1.0 - *x));
        }
    }

    #[inline(always)]
    fn flips(&mut self, k: usize, log_prior: f64, log_likelihood: f64) -> bool {
        self.thresholds[k] < log_prior + log_likelihood
    }
}

/// Follows a path and adds up the logarithm of its probability.
pub(crate) struct Followed<'a> {
    /// The new value of each variable.
    pub to: &'a [usize],
    pub log_probability: f64,
}

impl Choose for Followed<'_> {
    #[inline(always)]
    fn choose(
        &mut self,
        place: usize,
        _now: usize,
        log_prior: &[f64],
        log_likelihood: &[f64],
        weights: &mut [f64],
    ) -> usize {
        let to = self.to[place];
        let (total, largest) = normalise(log_prior, log_likelihood, weights);
        self.log_probability += log_prior[to] + log_likelihood[to] - largest - pxfm::f_log(total);
        to
    }
}

/// The same for bits.
pub(crate) struct FollowedBits<'a> {
    /// Whether a bit has another value at the end of the path than at its beginning, row by row.
    pub differs: &'a [bool],
    pub components: usize,
    pub row: usize,
    pub log_probability: f64,
}

impl Flip for FollowedBits<'_> {
    #[inline(always)]
    fn begin(&mut self, row: usize) {
        self.row = row;
    }

    #[inline(always)]
    fn flips(&mut self, k: usize, log_prior: f64, log_likelihood: f64) -> bool {
        let flips = self.differs[self.row * self.components + k];
        let log_odds = log_prior + log_likelihood;
        self.log_probability -= log1p_exp(if flips { -log_odds } else { log_odds });
        flips
    }
}

/// Draws from the prior, restricted to values whose likelihood is above a floor.
pub(crate) struct Constrained<'a> {
    pub stream: &'a mut Stream,
    pub floor: &'a Floor,
    /// log p(Y | x) of the current state.
    pub log_likelihood: f64,
}

impl Choose for Constrained<'_> {
    #[inline(always)]
    fn choose(
        &mut self,
        _place: usize,
        now: usize,
        log_prior: &[f64],
        log_likelihood: &[f64],
        weights: &mut [f64],
    ) -> usize {
        let mut total = 0.0;
        for ((w, &prior), &likelihood) in weights.iter_mut().zip(log_prior).zip(log_likelihood) {
            let share = self.floor.share(self.log_likelihood + (likelihood - log_likelihood[now]));
            *w = if share > 0.0 { share * scalar::exp(prior) } else { 0.0 };
            total += *w;
        }
        let to = pick(weights, self.stream.uniform() * total, now);
        self.log_likelihood += log_likelihood[to] - log_likelihood[now];
        to
    }
}

impl Flip for Constrained<'_> {
    #[inline(always)]
    fn begin(&mut self, _row: usize) {}

    #[inline(always)]
    fn flips(&mut self, _k: usize, log_prior: f64, log_likelihood: f64) -> bool {
        let stays = self.floor.share(self.log_likelihood);
        let moves = self.floor.share(self.log_likelihood + log_likelihood) * pxfm::f_exp(log_prior);
        let flips = self.stream.uniform() * (stays + moves) < moves;
        if flips {
            self.log_likelihood += log_likelihood;
        }
        flips
    }
}
