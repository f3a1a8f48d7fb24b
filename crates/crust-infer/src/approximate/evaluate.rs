//! Log densities and gradients of many points at once, over threads.

use std::thread;
use std::time::Instant;

use crate::drive::{Control, Parallelism};
use crate::target::{Batch, Fatal, Target, tempered};

use super::Error;
use super::blocks::{Blocks, LANES};
use super::family::float;

/// Less work than this, in seconds, is not worth a thread: starting one takes some 5 % of it, and threads that share
/// caches and the units of a core need more time of the processor for the same work.
const LEAST_WORK: f64 = 1e-3;

/// After so many seconds nothing more is prepared.
const MOST_PREPARATION: f64 = 0.01;

/// A target that is asked for many points at once. Results do not depend on threads and batches.
pub struct Evaluations<'a, T> {
    /// One for each thread.
    targets: Vec<(T, Batch)>,
    width: usize,
    control: &'a Control,
    count: u64,
    /// Whether an end that the user wants is left to the caller.
    patient: bool,
    /// Only the number of threads depends on it.
    pace: Pace,
}

/// The least seconds that a batch took, by its lanes in powers of two. The least, because the first one, and one that had
/// to wait for the processor, say nothing of the next; by lanes, because one point takes nearly as long as eight.
#[derive(Clone, Debug)]
struct Pace {
    width: usize,
    /// `None` as long as there was no such batch.
    least: Vec<Option<f64>>,
}

impl Pace {
    fn new(width: usize) -> Self {
        Self { width, least: vec![None; width.ilog2() as usize + 1] }
    }

    fn class(&self, n: usize) -> usize {
        n.clamp(1, self.width).ilog2() as usize
    }

    fn batches(&self, n: usize) -> f64 {
        (float(n) / float(self.width)).max(1.0)
    }

    /// So many points took so long, as if by one thread.
    fn learn(&mut self, n: usize, seconds: f64) {
        let batch = seconds / self.batches(n);
        let class = self.class(n);
        self.least[class] = Some(self.least[class].map_or(batch, |least| least.min(batch)));
    }

    /// What so many points will take by one thread, at least: a batch takes no less than one of fewer lanes. 0 as long as
    /// there was none.
    fn seconds(&self, n: usize) -> f64 {
        let known = self.least[..=self.class(n)].iter().rev().find_map(|least| *least);
        known.unwrap_or(0.0) * self.batches(n)
    }
}

/// Points with their log densities and gradients, one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Points {
    pub dimension: usize,
    /// n × d.
    pub x: Vec<f64>,
    /// −∞ where the target rejects the point.
    pub log_density: Vec<f64>,
    /// n × d, zeros where the target rejects the point; empty if it was not wanted.
    pub gradient: Vec<f64>,
}

impl Points {
    /// Points that are not evaluated yet.
    pub fn new(dimension: usize, x: Vec<f64>) -> Self {
        Self { dimension, x, log_density: Vec::new(), gradient: Vec::new() }
    }

    pub fn len(&self) -> usize {
        self.x.len() / self.dimension
    }

    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    pub fn point(&self, i: usize) -> &[f64] {
        &self.x[i * self.dimension..][..self.dimension]
    }

    pub fn gradient(&self, i: usize) -> &[f64] {
        &self.gradient[i * self.dimension..][..self.dimension]
    }
}

impl<'a, T: Target + Clone + Send> Evaluations<'a, T> {
    pub fn new(target: &T, how: Parallelism, control: &'a Control) -> Self {
        let targets = (0..how.threads.get()).map(|_| (target.clone(), Batch::default())).collect();
        let width = how.width.get();
        Self { targets, width, control, count: 0, patient: false, pace: Pace::new(width) }
    }

    pub fn dimension(&self) -> usize {
        self.targets[0].0.dimension()
    }

    /// How many points were evaluated so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn control(&self) -> &'a Control {
        self.control
    }

    /// Whether the user wants an end.
    pub fn is_interrupted(&self) -> bool {
        self.control.is_interrupted()
    }

    /// From now on evaluations go on after the user has wanted an end (or not): for callers who look at
    /// [`Self::is_interrupted`] themselves and have something to finish.
    pub fn be_patient(&mut self, patient: bool) {
        self.patient = patient;
    }

    /// Fills in log densities, and gradients if they are wanted. Fails if the run is interrupted.
    pub fn evaluate(&mut self, points: &mut Points, with_gradient: bool) -> Result<(), Error> {
        let (n, d) = (points.len(), points.dimension);
        points.log_density.resize(n, 0.0);
        points.gradient.resize(if with_gradient { n * d } else { 0 }, 0.0);
        let all = (&points.x[..], &mut points.log_density[..], &mut points.gradient[..]);
        self.in_time(all, 1, run)
    }

    /// The same for points side by side, with gradients.
    pub fn evaluate_blocks(&mut self, blocks: &mut Blocks) -> Result<(), Error> {
        blocks.log_density.resize(blocks.len(), 0.0);
        blocks.gradient.resize(blocks.x.len(), 0.0);
        let all = (&blocks.x[..], &mut blocks.log_density[..], &mut blocks.gradient[..]);
        self.in_time(all, LANES, run_blocks)
    }

    /// Evaluates points that have room for results, so many of which must stay together.
    fn in_time(&mut self, all: Part<'_>, together: usize, run: Run<T>) -> Result<(), Error> {
        if self.control.is_interrupted() && !self.patient {
            return Err(Error::Interrupted);
        }
        let n = all.1.len();
        self.count += n as u64;
        if self.targets.len() == 1 {
            // Nothing depends on how long it takes.
            return self.spread(all, 1, together, run);
        }
        let threads = self.worthwhile(n);
        let begin = Instant::now();
        let done = self.spread(all, threads, together, run);
        if n > 0 {
            self.pace.learn(n, begin.elapsed().as_secs_f64() * float(threads));
        }
        done
    }

    /// How many threads are worth starting for so many points.
    fn worthwhile(&self, n: usize) -> usize {
        let mut threads = self.targets.len().min(n);
        while threads > 1 && self.pace.seconds(n) < float(threads) * LEAST_WORK {
            threads -= 1;
        }
        threads.max(1)
    }

    fn spread(&mut self, all: Part<'_>, threads: usize, together: usize, run: Run<T>) -> Result<(), Error> {
        let (x, values, gradients) = all;
        let d = self.dimension();
        let share = values.len().div_ceil(threads).next_multiple_of(together).max(1);
        let width = self.width;
        let parts = x.chunks(share * d).zip(values.chunks_mut(share));
        // Without gradients there are no chunks of them, but each part needs one.
        let mut gradients = gradients.chunks_mut(share * d);
        let parts = parts.map(|(x, value)| (x, value, gradients.next().unwrap_or_default()));
        let mut jobs = self.targets.iter_mut().zip(parts);
        if threads == 1 {
            return jobs.try_for_each(|((target, batch), part)| run(target, batch, width, part)).map_err(Into::into);
        }
        thread::scope(|scope| {
            let start = |(pair, part)| {
                let (target, batch): &mut (T, Batch) = pair;
                scope.spawn(move || run(target, batch, width, part))
            };
            let handles: Vec<_> = jobs.map(start).collect();
            let results =
                handles.into_iter().map(|h| h.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            results.fold(Ok(()), Result::and).map_err(Into::into)
        })
    }

    /// Evaluates a point and forgets it. Targets may be compiled by the first evaluations of one point and of many, which
    /// then say nothing of the others.
    pub fn prepare(&mut self) -> Result<(), Error> {
        let (d, before, begin) = (self.dimension(), self.count, Instant::now());
        for (n, with_gradient) in [(1, true), (1, false), (self.width, true), (self.width, false)] {
            self.evaluate(&mut Points::new(d, vec![0.0; n * d]), with_gradient)?;
            // What takes long by itself is not made much slower by being compiled.
            if begin.elapsed().as_secs_f64() > MOST_PREPARATION {
                break;
            }
        }
        (self.count, self.pace) = (before, Pace::new(self.width));
        Ok(())
    }

    /// The log density and the gradient at one point.
    pub fn at(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64, Error> {
        let mut points = Points::new(x.len(), x.to_vec());
        self.evaluate(&mut points, true)?;
        gradient.copy_from_slice(&points.gradient);
        Ok(points.log_density[0])
    }

    /// Why the target rejected the last point that was asked for alone, if it says.
    pub fn rejection(&self) -> Option<String> {
        self.targets[0].0.rejection(0)
    }
}

/// Points, with room for log densities and gradients.
type Part<'a> = (&'a [f64], &'a mut [f64], &'a mut [f64]);
/// Evaluates the points of one thread, in batches of so many lanes at most.
type Run<T> = fn(&mut T, &mut Batch, usize, Part<'_>) -> Result<(), Fatal>;

/// Evaluates the points of one thread, batch by batch.
fn run<T: Target>(
    target: &mut T,
    batch: &mut Batch,
    width: usize,
    (x, values, gradients): Part<'_>,
) -> Result<(), Fatal> {
    let d = target.dimension();
    let with_gradient = !gradients.is_empty();
    for (first, values) in values.chunks_mut(width).enumerate() {
        let lanes = values.len();
        batch.resize(d, lanes, with_gradient);
        batch.beta.fill(1.0);
        turn(&x[first * width * d..][..lanes * d], lanes, &mut batch.x);
        target.evaluate(batch)?;
        for (lane, value) in values.iter_mut().enumerate() {
            let found = tempered(batch.log_prior[lane], batch.log_likelihood[lane], 1.0);
            let mut fine = found.is_finite();
            if with_gradient {
                let to = &mut gradients[(first * width + lane) * d..][..d];
                to.iter_mut().zip(batch.gradient.iter().skip(lane).step_by(lanes)).for_each(|(to, g)| *to = *g);
                fine &= to.iter().all(|g| g.is_finite());
                if !fine {
                    to.fill(0.0);
                }
            }
            *value = if fine { found } else { f64::NEG_INFINITY };
        }
    }
    Ok(())
}

/// Points one after the other as points side by side.
fn turn(x: &[f64], lanes: usize, to: &mut [f64]) {
    let d = x.len() / lanes;
    if lanes == 1 {
        to.copy_from_slice(x);
        return;
    }
    for (i, row) in to.chunks_exact_mut(lanes).enumerate() {
        row.iter_mut().zip(x[i..].iter().step_by(d)).for_each(|(to, x)| *to = *x);
    }
}

/// The same for points side by side.
fn run_blocks<T: Target>(
    target: &mut T,
    batch: &mut Batch,
    width: usize,
    (x, values, gradients): Part<'_>,
) -> Result<(), Fatal> {
    let d = target.dimension();
    let all = x.chunks_exact(LANES * d).zip(values.chunks_exact_mut(LANES)).zip(gradients.chunks_exact_mut(LANES * d));
    for ((x, values), gradients) in all {
        for first in (0..LANES).step_by(width) {
            let lanes = width.min(LANES - first);
            batch.resize(d, lanes, true);
            batch.beta.fill(1.0);
            let rows = batch.x.chunks_exact_mut(lanes).zip(x.chunks_exact(LANES));
            rows.for_each(|(to, row)| to.copy_from_slice(&row[first..][..lanes]));
            target.evaluate(batch)?;
            let rows = batch.gradient.chunks_exact(lanes).zip(gradients.chunks_exact_mut(LANES));
            rows.for_each(|(row, to)| to[first..][..lanes].copy_from_slice(row));
            let found = batch.log_prior.iter().zip(&batch.log_likelihood).map(|(p, l)| tempered(*p, *l, 1.0));
            values[first..].iter_mut().zip(found).for_each(|(to, value)| *to = value);
        }
        // 0 times what is not finite is none.
        let mut bad = [0.0; LANES];
        gradients.chunks_exact(LANES).for_each(|row| bad.iter_mut().zip(row).for_each(|(bad, g)| *bad += 0.0 * g));
        for (lane, value) in values.iter_mut().enumerate() {
            if !value.is_finite() || bad[lane].is_nan() {
                *value = f64::NEG_INFINITY;
                gradients.iter_mut().skip(lane).step_by(LANES).for_each(|g| *g = 0.0);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZero;

    #[derive(Clone)]
    struct Normal;

    impl Target for Normal {
        fn dimension(&self) -> usize {
            2
        }

        fn evaluate(&mut self, batch: &mut Batch) -> Result<(), Fatal> {
            for lane in 0..batch.lanes {
                let x: Vec<f64> = batch.point(lane).collect();
                batch.log_prior[lane] = -0.5 * (x[0] * x[0] + x[1] * x[1]);
                batch.log_likelihood[lane] = 0.0;
                if batch.wants_gradient() {
                    (0..2).for_each(|i| batch.gradient[i * batch.lanes + lane] = -x[i]);
                }
            }
            Ok(())
        }
    }

    /// A batch that had to wait does not make others look slow, nor do few lanes many.
    #[test]
    fn the_least_time_counts() {
        let mut pace = Pace::new(8);
        assert_eq!(pace.seconds(1000).to_bits(), 0.0_f64.to_bits());
        pace.learn(1, 3.0);
        assert_eq!([1, 3, 8, 80].map(|n| pace.seconds(n).to_bits()), [3.0, 3.0, 3.0, 30.0].map(f64::to_bits));
        pace.learn(1, 0.5);
        pace.learn(1, 2.0);
        assert_eq!([1, 3, 8, 80].map(|n| pace.seconds(n).to_bits()), [0.5, 0.5, 0.5, 5.0].map(f64::to_bits));
        pace.learn(160, 20.0);
        assert_eq!([1, 3, 7, 8, 80].map(|n| pace.seconds(n).to_bits()), [0.5, 0.5, 0.5, 1.0, 10.0].map(f64::to_bits));
        pace.learn(4, 0.75);
        assert_eq!([3, 4, 7, 8].map(|n| pace.seconds(n).to_bits()), [0.5, 0.75, 0.75, 1.0].map(f64::to_bits));
    }

    /// Threads are for work that is worth them, and change nothing.
    #[test]
    fn threads_share_much_work_only() {
        let how = Parallelism { threads: NonZero::new(3).unwrap(), width: NonZero::new(8).unwrap() };
        let control = Control::default();
        let mut evaluations = Evaluations::new(&Normal, how, &control);
        assert_eq!(evaluations.worthwhile(1000), 1);
        // 1 µs for a point.
        evaluations.pace.learn(80, 8e-5);
        assert_eq!([100, 1990, 2010, 2990, 3010, 9000].map(|n| evaluations.worthwhile(n)), [1, 1, 2, 2, 3, 3]);
        let mut points = Points::new(2, (0..74).map(|i| 0.1 * f64::from(i)).collect());
        evaluations.pace.least.fill(Some(1.0));
        evaluations.evaluate(&mut points, true).unwrap();
        for i in 0..37 {
            let (x, g) = (points.point(i), points.gradient(i));
            assert_eq!(points.log_density[i].to_bits(), (-0.5 * (x[0] * x[0] + x[1] * x[1])).to_bits());
            assert_eq!(g, [-x[0], -x[1]]);
        }
    }
}
