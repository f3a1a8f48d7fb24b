//! The ladder of T, the numbers of distributions, and how far up it goes.

use crate::number::count;
use crate::result::Rung;

/// T of the standard ladder.
const STEPS: [usize; 6] = [10, 30, 100, 300, 1000, 3000];
/// Where it goes on if that was not enough.
const FURTHER: [usize; 2] = [10_000, 30_000];

/// The T that are run one after the other, both lists rising.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ladder {
    /// Run unless the bound is tight before.
    pub steps: Vec<usize>,
    /// Run as long as the bound is not good enough, and may still become so.
    pub further: Vec<usize>,
}

impl Ladder {
    /// These T and no others.
    pub fn exactly(steps: Vec<usize>) -> Self {
        Self { steps, further: vec![] }
    }

    /// The T after `t`, where the bound was `bound`, unless the ladder ends here.
    ///
    /// B̂ falls as 1/T (the squared thermodynamic length of the path over T) as soon as chains follow the path. So a
    /// bound of at most `acceptable` · (last T)/t may come down to `acceptable`; a larger one will not, and going on
    /// would cost ten times the computing so far to say what is known already. It is decided by numbers alone, so that
    /// a resumed run decides alike.
    pub fn next(&self, t: usize, bound: f64, acceptable: f64) -> Option<usize> {
        let above = |steps: &[usize]| steps.iter().copied().find(|&step| step > t);
        above(&self.steps).or_else(|| {
            let last = *self.further.last()?;
            let within_reach = bound * count(t) / count(last) <= acceptable;
            above(&self.further).filter(|_| bound > acceptable && within_reach)
        })
    }

    /// The T that were meant to be run, and those that were added.
    pub fn with_rungs(&self, rungs: &[Rung]) -> Vec<usize> {
        let mut all: Vec<usize> = self.steps.iter().copied().chain(rungs.iter().map(|rung| rung.t)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// The roundest T of two figures between t and the next one that is at most `factor` times t.
pub(crate) fn between(t: usize, next: usize, factor: f64) -> Option<usize> {
    let most = (factor * count(t)).min(count(next) - 1.0);
    if factor.is_nan() || most <= count(t) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below the next T")]
    let most = most as usize;
    let unit = 10_usize.pow(most.ilog10().saturating_sub(1));
    Some(most / unit * unit).filter(|&between| between > t)
}

impl Default for Ladder {
    fn default() -> Self {
        Self { steps: STEPS.to_vec(), further: FURTHER.to_vec() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All T that are run, for a bound at each T.
    fn run(ladder: &Ladder, bound: impl Fn(usize) -> f64) -> Vec<usize> {
        let mut all = vec![ladder.steps[0]];
        while let Some(t) = all.last().and_then(|&t| ladder.next(t, bound(t), 1.0)) {
            all.push(t);
        }
        all
    }

    #[test]
    fn the_standard_ladder_goes_on_while_there_is_hope() {
        let standard = Ladder::default();
        assert_eq!(run(&standard, |_| 1.0), STEPS);
        let as_theory_says = |at_3000: f64| move |t: usize| at_3000 * 3000.0 / count(t);
        assert_eq!(run(&standard, as_theory_says(3.0))[6..], [10_000]);
        assert_eq!(run(&standard, as_theory_says(9.9))[6..], [10_000, 30_000]);
        // 30 nats would end at 3: not worth it
        assert_eq!(run(&standard, as_theory_says(30.0)), STEPS);
        // hope is lost on the way: 4 nats at T = 10,000 would end above 1
        assert_eq!(run(&standard, |_| 4.0)[6..], [10_000]);
        for nowhere in [f64::INFINITY, f64::NAN] {
            assert_eq!(run(&standard, |_| nowhere), STEPS);
        }
    }

    #[test]
    fn between_two_rungs_there_is_what_time_allows() {
        assert_eq!(between(300, 1000, 2.117), Some(630));
        assert_eq!(between(300, 1000, 3.4), Some(990));
        assert_eq!(between(30, 100, 1.51), Some(45));
        assert_eq!(between(300, 1000, 1.001), None);
        for nothing in [0.5, 0.0, -1.0, f64::NAN] {
            assert_eq!(between(300, 1000, nothing), None);
        }
        assert_eq!(between(300, 1000, f64::INFINITY), Some(990));
    }

    #[test]
    fn a_ladder_of_ones_own_is_obeyed() {
        let own = Ladder::exactly(vec![7, 70]);
        assert_eq!(run(&own, |_| 3.0), [7, 70]);
        assert_eq!(own.with_rungs(&[Rung { t: 7, ..Rung::default() }]), [7, 70]);
        let rungs = [3000, 10_000].map(|t| Rung { t, ..Rung::default() });
        assert_eq!(Ladder::default().with_rungs(&rungs)[4..], [1000, 3000, 10_000]);
        assert_eq!(own.with_rungs(&[7, 30].map(|t| Rung { t, ..Rung::default() })), [7, 30, 70]);
    }
}
