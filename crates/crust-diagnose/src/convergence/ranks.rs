//! Normal scores of the ranks of draws.

use super::order::Order;
use crate::number::count;
use crust_math::special::inv_Phi;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Blom's (1958) offset: the expected order statistic r of n normal draws is about Φ⁻¹((r − 3/8) / (n + 1/4)).
const BLOM: f64 = 3.0 / 8.0;

/// The scores of all ranks among n, for all threads. All quantities of a run have the same n, and Φ⁻¹ takes longer than
/// all the rest of a summary.
#[derive(Debug, Default)]
pub(crate) struct Scores {
    /// Of the ranks 1..=n.
    whole: Vec<f64>,
    /// The bits of those of the ranks 3/2, 5/2, … n − 1/2 of ties, where they were asked for, else 0, as no half of a
    /// rank has the score 0 unless it is the middle.
    halves: Vec<AtomicU64>,
}

thread_local! {
    /// The scores that were last asked for.
    static LAST: RefCell<Arc<Scores>> = RefCell::default();
}

impl Scores {
    /// The scores among n, computed by so many threads unless this one has had them last.
    pub(crate) fn among(n: usize, threads: usize) -> Arc<Self> {
        LAST.with_borrow_mut(|last| {
            if last.whole.len() != n {
                let halves = (0..n).map(|_| AtomicU64::new(0)).collect();
                *last = Arc::new(Self { whole: whole(n, threads), halves });
            }
            Arc::clone(last)
        })
    }

    /// Among how many ranks.
    pub(super) fn len(&self) -> usize {
        self.whole.len()
    }

    /// Writes the score of each value's rank to the value's place; equal values share the mean of their ranks. There
    /// are as many values as ranks, and none is NaN. Returns the least and the greatest score.
    #[expect(clippy::float_cmp, reason = "only equal draws are tied; −0 and 0 are")]
    pub(super) fn write(&self, order: &Order, out: &mut [f64]) -> (f64, f64) {
        let sorted = order.sorted();
        let mut places = order.places();
        let mut greatest = f64::NAN;
        let mut before = 0;
        while before < sorted.len() {
            let value = sorted[before];
            let mut after = before + 1;
            while after < sorted.len() && sorted[after] == value {
                after += 1;
            }
            let ties = after - before;
            greatest = if ties % 2 == 1 { self.whole[before + ties / 2] } else { self.half(before + ties / 2) };
            for place in places.by_ref().take(ties) {
                out[place] = greatest;
            }
            before = after;
        }
        (order.places().next().map_or(f64::NAN, |place| out[place]), greatest)
    }

    /// The score between that of this rank and of the next.
    fn half(&self, rank: usize) -> f64 {
        // threads that come at the same time write the same number
        let known = self.halves[rank].load(Ordering::Relaxed);
        if known != 0 {
            return f64::from_bits(known);
        }
        let score = score(count(rank) + 0.5, self.whole.len());
        self.halves[rank].store(score.to_bits(), Ordering::Relaxed);
        score
    }
}

/// The scores of the ranks 1..=n. Those of r and n + 1 − r are mirror images.
fn whole(n: usize, threads: usize) -> Vec<f64> {
    let half = n.div_ceil(2);
    let mut scores = vec![0.0; n];
    let share = half.div_ceil(threads).max(1);
    let fill = |from: usize, part: &mut [f64]| {
        part.iter_mut().zip(from + 1..).for_each(|(out, rank)| *out = score(count(rank), n));
    };
    if threads == 1 {
        fill(0, &mut scores[..half]);
    } else {
        std::thread::scope(|scope| {
            for (part, from) in scores[..half].chunks_mut(share).zip((0..).step_by(share)) {
                scope.spawn(move || fill(from, part));
            }
        });
    }
    let (lower, upper) = scores.split_at_mut(half);
    upper.iter_mut().rev().zip(lower).for_each(|(upper, lower)| *upper = -*lower);
    scores
}

/// The score of a rank among n, which counts from 1.
fn score(rank: f64, n: usize) -> f64 {
    inv_Phi((rank - BLOM) / (count(n) - 2.0 * BLOM + 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal_scores(values: &[f64]) -> Vec<f64> {
        let mut out = vec![f64::NAN; values.len()];
        let range = Scores::among(values.len(), 1).write(&Order::of(values), &mut out);
        assert_eq!(
            range,
            (out.iter().copied().fold(f64::INFINITY, f64::min), out.iter().copied().fold(-f64::INFINITY, f64::max))
        );
        out
    }

    #[test]
    fn scores_follow_the_order_and_ties_share_one() {
        let scores = normal_scores(&[10.0, -0.0, 0.0, 1e300, -5.0]);
        assert_eq!(scores[1].to_bits(), scores[2].to_bits());
        assert!(scores[4] < scores[1] && scores[1] < scores[0] && scores[0] < scores[3]);
        // ranks 1 and 5 of 5 are mirror images: Φ⁻¹(0.625 / 5.25) = −1.179761…
        assert!((scores[4] + scores[3]).abs() < 1e-14);
        assert!((scores[4] + 1.179_761_117_611_861_2).abs() < 1e-12, "{}", scores[4]);
    }

    #[test]
    fn ties_have_the_mean_rank_whatever_n_was_before() {
        for values in [vec![1.0, 1.0, 1.0, 2.0], vec![3.0, 3.0, 1.0], vec![5.0; 6], vec![1.0, 2.0, 2.0, 3.0, 3.0, 3.0]]
        {
            let scores = normal_scores(&values);
            for (value, ours) in values.iter().zip(scores) {
                let below = values.iter().filter(|other| *other < value).count();
                let equal = values.iter().filter(|other| *other <= value).count() - below;
                let rank = count(below) + f64::midpoint(count(equal), 1.0);
                assert!((ours - score(rank, values.len())).abs() < 1e-15, "{values:?}");
            }
        }
    }

    #[test]
    fn threads_share_the_ranks() {
        for n in [0, 1, 2, 3, 10, 11] {
            let alone = whole(n, 1);
            assert!([2, 3, 50].into_iter().all(|threads| whole(n, threads) == alone), "{n}");
            for (rank, ours) in (1..).zip(alone) {
                assert!((ours - score(f64::from(rank), n)).abs() < 1e-14, "rank {rank} of {n}");
            }
        }
    }
}
