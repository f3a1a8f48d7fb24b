//! The real data among datasets drawn from the fitted model: all statistics together in one test.
//!
//! If real and replicated data are exchangeable, so are their largest deviations, since all are computed by one rule.
//! The rank of the real one then gives a p-value whatever the statistics are and however they depend on each other.
//! Where the model was fitted to the real data they are a little too well described, and the test errs on the side of
//! fewer alarms (posterior predictive checks; Gelman, Meng and Stern 1996).

use crate::number::count;
use crate::result::{Predictive, PredictiveStatistic};
use crate::sandwich::quartiles;

/// Real data whose rank is this extreme are called different. It is the rate of false alarms, too; half of it where
/// there was time to look at an alarm again.
pub(super) const MISMATCH: f64 = 0.05;

/// Which deviations count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Both,
    /// Only larger values than those of others.
    Upper,
}

/// A number of each dataset, that of the real one first.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) side: Side,
    pub(super) values: Vec<f64>,
}

const AUTOCORRELATION: &str = "autocorrelation";

/// Deviations beyond this are all the same.
const FURTHEST: f64 = 1e6;

/// The deviation of each value from the others, in their standard deviations, on a scale that tames heavy tails: asinh
/// of the distance from the median in units of the middle half.
pub(super) fn deviations(values: &[f64], side: Side) -> Vec<f64> {
    let values: Vec<f64> = values.iter().map(|x| if x.is_nan() { -1e300 } else { x.clamp(-1e300, 1e300) }).collect();
    let [low, median, high] = quartiles(&values);
    let width = if high > low { high - low } else { f64::MIN_POSITIVE };
    let scaled: Vec<f64> = values.iter().map(|x| ((x - median) / width).clamp(-1e100, 1e100).asinh()).collect();
    let (sum, squares) = scaled.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    let others = count(scaled.len()) - 1.0;
    let deviation = |x: &f64| {
        let mean = (sum - x) / others;
        let variance = ((squares - x * x) / others - mean * mean).max(0.0);
        // differences that rounding makes are none
        let distance = if (x - mean).abs() <= 1e-12 * (1.0 + mean.abs()) { 0.0 } else { x - mean };
        let ratio = if distance == 0.0 { 0.0 } else { distance / variance.sqrt() };
        match side {
            Side::Both => ratio.abs().min(FURTHEST),
            Side::Upper => ratio.clamp(-FURTHEST, FURTHEST),
        }
    };
    scaled.iter().map(deviation).collect()
}

/// The rank of the first among all, counted from the largest.
pub(super) fn rank_of_first(values: &[f64]) -> usize {
    values.split_first().map_or(1, |(first, others)| others.iter().filter(|other| *other >= first).count() + 1)
}

/// All columns together; none without replicates. A p-value up to `level` is an alarm.
pub(super) fn compare(columns: &[Column], level: f64) -> Option<Predictive> {
    let datasets = columns.iter().map(|column| column.values.len()).min().filter(|&n| n > 1)?;
    let all: Vec<Vec<f64>> = columns.iter().map(|c| deviations(&c.values[..datasets], c.side)).collect();
    let largest: Vec<f64> =
        (0..datasets).map(|i| all.iter().map(|column| column[i]).fold(f64::NEG_INFINITY, f64::max)).collect();
    let rank = rank_of_first(&largest);
    let p_value = count(rank) / count(datasets);
    let is_test = count(datasets) * level >= 1.0;
    let first = |(column, deviations): (&Column, &Vec<f64>)| statistic(column, deviations[0]);
    let statistics: Vec<PredictiveStatistic> = columns.iter().zip(&all).map(first).collect();
    let worst = statistics.iter().max_by(|a, b| a.deviation.total_cmp(&b.deviation));
    let alarm = worst.filter(|_| is_test && p_value <= level).map(|statistic| statistic.name.clone());
    Some(Predictive { replicates: datasets - 1, statistics, rank, p_value, level, is_test, alarm })
}

fn statistic(column: &Column, deviation: f64) -> PredictiveStatistic {
    let mut others = column.values[1..].to_vec();
    others.sort_by(f64::total_cmp);
    let at = |i: usize| others.get(i).copied().unwrap_or(f64::NAN);
    PredictiveStatistic {
        name: column.name.clone(),
        real: column.values[0],
        least: at(0),
        median: at(others.len() / 2),
        largest: at(others.len() - 1),
        deviation,
    }
}

/// Zeros beyond what rounding makes: 0 is an atom of a continuous distribution if it is there much more often than any
/// other number.
fn atom_of_zeros(values: &[f64]) -> f64 {
    /// Times as often.
    const MORE: usize = 3;
    let mut sorted: Vec<f64> = values.iter().copied().filter(|x| *x != 0.0).collect();
    let zeros = values.len() - sorted.len();
    sorted.sort_by(f64::total_cmp);
    let most = sorted.chunk_by(|a, b| a.total_cmp(b).is_eq()).map(<[f64]>::len).max().unwrap_or(0);
    count(zeros.saturating_sub(MORE * most))
}

/// Whether somebody has sorted the values, in groups or as a whole: they go up more than three times as often as down, or
/// down as up, where a series goes up about as often as down. Two values that are sorted (cases after controls, answers in
/// the order of their patterns) change less than a quarter as often as in random order.
#[expect(clippy::float_cmp, reason = "numbers of data are equal or not")]
fn are_sorted(values: &[f64]) -> bool {
    const TIMES: usize = 4;
    let steps = |test: fn(f64, f64) -> bool| values.windows(2).filter(|pair| test(pair[0], pair[1])).count();
    let (up, down) = (steps(|a, b| a < b), steps(|a, b| a > b));
    let first = values.first().copied().unwrap_or(f64::NAN);
    let other = values.iter().copied().find(|x| *x != first);
    let of_first = values.iter().filter(|x| **x == first).count();
    let of_other = other.map_or(0, |other| values.iter().filter(|x| **x == other).count());
    let two_values = of_first + of_other == values.len();
    let in_blocks = two_values && TIMES * (up + down) * values.len() < 2 * of_first * of_other;
    TIMES * up.min(down) < up + down || in_blocks
}

/// Numbers that describe the values of an outcome: moments, extremes, zeros, and how neighbours depend on each other.
/// Real numbers that were rounded have zeros, too: only those beyond are counted. Neighbours in a sorted file say nothing
/// about the model, for which the order of observations seldom matters: cases that come after controls are no misfit.
pub fn describe(name: &str, values: &[f64], integers: bool) -> Vec<(String, f64)> {
    let n = count(values.len());
    if values.len() < 2 {
        return values.iter().map(|value| (format!("{name}: value"), *value)).collect();
    }
    let mean = values.iter().sum::<f64>() / n;
    let moment = |power: i32| values.iter().map(|x| (x - mean).powi(power)).sum::<f64>() / n;
    let deviation = moment(2).sqrt();
    let products = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum::<f64>() / n;
    let relative = |x: f64, scale: f64| if scale > 0.0 { x / scale } else { 0.0 };
    let extreme = |from: f64, which: fn(f64, f64) -> f64| values.iter().copied().fold(from, which);
    let zeros = if integers { count(values.iter().filter(|x| **x == 0.0).count()) } else { atom_of_zeros(values) } / n;
    let list = [
        ("mean", mean),
        ("standard deviation", deviation),
        ("skewness", relative(moment(3), deviation.powi(3))),
        ("smallest", extreme(f64::INFINITY, f64::min)),
        ("largest", extreme(f64::NEG_INFINITY, f64::max)),
        (AUTOCORRELATION, relative(products, deviation * deviation)),
        ("share of zeros", zeros),
    ];
    let says_something = |what: &str| what != AUTOCORRELATION || !are_sorted(values);
    let list = list.into_iter().filter(|(what, _)| says_something(what));
    list.map(|(what, value)| (format!("{name}: {what}"), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_math::random::{Purpose, Stream, StreamKey};

    /// Columns of datasets of normal or other values; the first dataset has its own way to draw.
    fn columns(real: &[f64], replicates: impl Fn(&mut Stream) -> f64, seed: u64) -> Vec<Column> {
        let mut stream = StreamKey::new(seed, Purpose::TEST).stream();
        let integers = real.iter().all(|x| x.fract() == 0.0);
        let mut all = vec![describe("y", real, integers)];
        let mut draw = || -> Vec<f64> { (0..real.len()).map(|_| replicates(&mut stream)).collect() };
        all.extend((0..39).map(|_| describe("y", &draw(), integers)));
        let column = |(name, _): &(String, f64)| Column {
            name: name.clone(),
            side: Side::Both,
            values: all.iter().filter_map(|row| row.iter().find(|(n, _)| n == name).map(|(_, value)| *value)).collect(),
        };
        all[0].iter().map(column).collect()
    }

    fn normals(n: usize, seed: u64) -> Vec<f64> {
        let mut stream = StreamKey::new(seed, Purpose::DATA).stream();
        (0..n).map(|_| stream.standard_normal()).collect()
    }

    /// Exchangeable data alarm in 1 of 20 runs: binomial(400, 0.05) is at most 40 but with probability 1e-5.
    #[test]
    fn false_alarms_have_their_rate() {
        let alarms = (0..400)
            .filter(|&seed| {
                let columns = columns(&normals(50, seed), Stream::standard_normal, seed);
                compare(&columns, MISMATCH).expect("a comparison").alarm.is_some()
            })
            .count();
        assert!((6..=40).contains(&alarms), "{alarms} of 400");
    }

    #[test]
    fn misfits_are_named() {
        let alarm =
            |real: &[f64]| compare(&columns(real, Stream::standard_normal, 7), MISMATCH).expect("a comparison").alarm;
        assert_eq!(alarm(&normals(100, 3)), None);
        let mut outlier = normals(100, 3);
        outlier[17] = 40.0;
        let found = alarm(&outlier);
        assert!(matches!(found.as_deref(), Some("y: largest" | "y: skewness" | "y: standard deviation")), "{found:?}");
        let mut walk = normals(100, 3);
        (1..100).for_each(|i| walk[i] = 0.9 * walk[i - 1] + 0.44 * walk[i]);
        assert_eq!(alarm(&walk).as_deref(), Some("y: autocorrelation"));
    }

    /// Files that are sorted by the outcome are common, and the order of observations is nothing that a model states.
    #[test]
    fn sorted_values_are_no_misfit() {
        let alarm =
            |real: &[f64]| compare(&columns(real, Stream::standard_normal, 7), MISMATCH).expect("a comparison").alarm;
        let mut sorted = normals(100, 3);
        sorted.sort_by(f64::total_cmp);
        assert_eq!(alarm(&sorted), None);
        sorted.reverse();
        assert_eq!(alarm(&sorted), None);
        let mut groups = normals(100, 3);
        groups.chunks_mut(10).for_each(|group| group.sort_by(f64::total_cmp));
        assert_eq!(alarm(&groups), None);
    }

    /// The same for two values; a chain that changes its state rarely is a dependence all the same.
    #[test]
    fn sorted_answers_are_no_misfit() {
        let coin = |stream: &mut Stream| f64::from(u8::from(stream.uniform() < 0.5));
        let alarm = |real: &[f64]| compare(&columns(real, coin, 7), MISMATCH).expect("a comparison").alarm;
        let mut answers: Vec<f64> = normals(200, 3).iter().map(|x| f64::from(u8::from(*x < 0.0))).collect();
        assert_eq!(alarm(&answers), None);
        answers.chunks_mut(50).for_each(|group| group.sort_by(f64::total_cmp));
        assert_eq!(alarm(&answers), None);
        let mut stream = StreamKey::new(3, Purpose::DATA).stream();
        (1..200).for_each(|i| {
            answers[i] = if stream.uniform() < 0.2 { 1.0 - answers[i - 1] } else { answers[i - 1] };
        });
        assert_eq!(alarm(&answers).as_deref(), Some("y: autocorrelation"));
    }

    /// Rounding makes zeros, and so does a mass at 0; only the latter is worth a word.
    #[test]
    fn zeros_of_real_numbers_are_told_from_rounding() {
        let alarm =
            |real: &[f64]| compare(&columns(real, Stream::standard_normal, 9), MISMATCH).expect("a comparison").alarm;
        let rounded: Vec<f64> = normals(300, 4).iter().map(|x| (x * 5.0).round() / 5.0).collect();
        assert!(rounded.iter().filter(|x| **x == 0.0).count() > 10);
        assert_eq!(alarm(&rounded), None);
        let mut massive = normals(300, 4);
        massive[..12].fill(0.0);
        assert_eq!(alarm(&massive).as_deref(), Some("y: share of zeros"));
    }

    /// Counts with more zeros than a Poisson distribution has.
    #[test]
    fn too_many_zeros_are_named() {
        let poisson = |stream: &mut Stream| {
            let mut p = stream.uniform();
            let mut n = 0.0;
            while p > (-4.0_f64).exp() {
                p *= stream.uniform();
                n += 1.0;
            }
            n
        };
        let mut stream = StreamKey::new(5, Purpose::DATA).stream();
        let real: Vec<f64> =
            (0..100).map(|_| if stream.uniform() < 0.3 { 0.0 } else { poisson(&mut stream) }).collect();
        let found = compare(&columns(&real, poisson, 8), MISMATCH).expect("a comparison");
        assert_eq!(found.alarm.as_deref(), Some("y: share of zeros"), "{found:?}");
    }

    #[test]
    fn few_replicates_and_constant_numbers_are_no_alarm() {
        let same = Column { name: "same".to_owned(), side: Side::Both, values: vec![2.0; 20] };
        let found = compare(&[same], MISMATCH).expect("a comparison");
        assert_eq!((found.p_value, found.alarm, found.is_test), (1.0, None, true));
        let values: Vec<f64> = std::iter::once(1e9).chain((0..10).map(f64::from)).collect();
        let few =
            compare(&[Column { name: "few".to_owned(), side: Side::Both, values }], MISMATCH).expect("a comparison");
        assert_eq!((few.rank, few.alarm, few.is_test), (1, None, false));
    }

    #[test]
    fn one_side_may_count_alone() {
        let values: Vec<f64> = std::iter::once(-50.0).chain((0..40).map(|i| f64::from(i % 7))).collect();
        assert!(deviations(&values, Side::Both)[0] > 5.0 && deviations(&values, Side::Upper)[0] < -5.0);
    }
}
