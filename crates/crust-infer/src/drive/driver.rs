//! The driver of a run: its threads, and an evaluator for each of them, live as long as it does.
//!
//! The threads are a pool of rayon. Walkers borrow what their caller owns, so that threads which outlive a call cannot
//! be had from the standard library without unsafe code: its scoped threads end with their scope. Nothing is stolen,
//! though: each thread gets one contiguous share of the walkers, the same in each call, and the caller's thread works
//! on the first.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::{Answer, Control, Parallelism, Walker};
use crate::error::Error;
use crate::kernel::Densities;
use crate::path::{Course, Path};
use crate::target::{Batch, Fatal};

/// Threads and evaluators for one path. Evaluators get faster with use (they learn how a program runs), so a driver is
/// kept for as long as its path is. Results depend on neither.
pub struct Driver<P> {
    /// One for each thread that was needed so far. The first belongs to the thread of the caller.
    seats: Vec<Seat<P>>,
    course: Course,
    how: Parallelism,
    /// From the first call on that has work for more than one thread.
    pool: Option<ThreadPool>,
}

/// What a thread needs for itself.
struct Seat<P> {
    path: P,
    batch: Batch,
}

/// A point as [`Driver::evaluate_points`] finds it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluated {
    pub densities: Densities,
    /// ∇ log `f_β`; empty if it was not wanted.
    pub gradient: Vec<f64>,
    /// Why it has no density, if it has none and the target says.
    pub rejection: Option<String>,
}

impl<P: Path + Clone + Send> Driver<P> {
    pub fn new(path: P, how: Parallelism) -> Self {
        let course = path.course();
        Self { seats: vec![Seat { path, batch: Batch::default() }], course, how, pool: None }
    }

    pub fn path(&self) -> &P {
        &self.seats[0].path
    }

    /// How densities change along the path.
    pub fn course(&self) -> &Course {
        &self.course
    }

    pub fn dimension(&self) -> usize {
        self.path().dimension()
    }

    /// Runs all walkers until none wants an evaluation, or until the run is interrupted. After an error of one walker
    /// the others stop, too; after a panic of one the panic goes on here.
    pub fn drive<W: Walker>(&mut self, walkers: &mut [W], control: &Control) -> Result<(), W::Error> {
        let share = self.how.share(walkers.len());
        self.prepare(walkers.len().div_ceil(share));
        let failed = AtomicBool::new(false);
        let (course, width) = (&self.course, self.how.width.get());
        let run = |seat: &mut Seat<P>, walkers: &mut [W]| {
            let _bell = Bell(&failed);
            let result = Shift { seat, course, control, failed: &failed }.run(walkers, width);
            if result.is_err() {
                failed.store(true, Ordering::Relaxed);
            }
            result
        };
        let mut shares = walkers.chunks_mut(share).zip(&mut self.seats);
        let Some((mine, my_seat)) = shares.next() else { return Ok(()) };
        let mut others: Vec<_> = shares.map(|(walkers, seat)| (walkers, seat, Ok(()))).collect();
        let first = match &self.pool {
            Some(pool) if !others.is_empty() => pool.in_place_scope(|scope| {
                for (walkers, seat, result) in &mut others {
                    let run = &run;
                    scope.spawn(move |_| *result = run(seat, walkers));
                }
                run(my_seat, mine)
            }),
            _ => {
                let first = run(my_seat, mine);
                others.iter_mut().for_each(|(walkers, seat, result)| *result = run(seat, walkers));
                first
            }
        };
        others.into_iter().map(|(_, _, result)| result).fold(first, Result::and)
    }

    /// The densities of points at β, and the gradient there if it is wanted.
    pub fn evaluate_points(
        &mut self,
        points: &[Vec<f64>],
        beta: f64,
        with_gradient: bool,
        control: &Control,
    ) -> Result<Vec<Evaluated>, Error> {
        let gradient = vec![0.0; if with_gradient { self.dimension() } else { 0 }];
        let look = |point| Look {
            point,
            beta,
            found: Evaluated { gradient: gradient.clone(), ..Evaluated::default() },
            done: false,
        };
        let mut looks: Vec<Look<'_>> = points.iter().map(|point| look(point)).collect();
        self.drive(&mut looks, control)?;
        control.check()?;
        Ok(looks.into_iter().map(|look| look.found).collect())
    }

    /// Evaluators and threads for a number of shares. If the system refuses to give threads, the caller's does all the
    /// work.
    fn prepare(&mut self, shares: usize) {
        while self.seats.len() < shares {
            let path = self.path().clone();
            self.seats.push(Seat { path, batch: Batch::default() });
        }
        if shares > 1 && self.pool.is_none() {
            self.pool = ThreadPoolBuilder::new().num_threads(self.how.threads.get() - 1).build().ok();
        }
    }
}

/// Tells the other threads of a panic.
struct Bell<'a>(&'a AtomicBool);

impl Drop for Bell<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// How many evaluations are told others at once.
const EVALUATIONS_AT_ONCE: u64 = 256;

/// The work of one thread in one call.
struct Shift<'a, P> {
    seat: &'a mut Seat<P>,
    course: &'a Course,
    control: &'a Control,
    failed: &'a AtomicBool,
}

impl<P: Path> Shift<'_, P> {
    fn run<W: Walker>(&mut self, walkers: &mut [W], width: usize) -> Result<(), W::Error> {
        let mut active: Vec<usize> = (0..walkers.len()).filter(|&w| walkers[w].wants_evaluation()).collect();
        let mut evaluations = 0;
        let mut result = Ok(());
        while result.is_ok()
            && !active.is_empty()
            && !self.control.is_interrupted()
            && !self.failed.load(Ordering::Relaxed)
        {
            for group in active.chunks(width) {
                result = self.tick(walkers, group);
                if result.is_err() {
                    break;
                }
                evaluations += group.len() as u64;
            }
            // Not each time: other threads write there as well.
            if evaluations >= EVALUATIONS_AT_ONCE {
                self.control.evaluations.0.fetch_add(std::mem::take(&mut evaluations), Ordering::Relaxed);
            }
            active.retain(|&w| walkers[w].wants_evaluation());
        }
        self.control.evaluations.0.fetch_add(evaluations, Ordering::Relaxed);
        result
    }

    /// Evaluates for a group of walkers, and advances each of them.
    fn tick<W: Walker>(&mut self, walkers: &mut [W], group: &[usize]) -> Result<(), W::Error> {
        let Seat { path, batch } = &mut *self.seat;
        let lanes = group.len();
        let with_gradient = !walkers[group[0]].gradient_mut().is_empty();
        batch.resize(path.dimension(), lanes, with_gradient);
        for (lane, &w) in group.iter().enumerate() {
            batch.beta[lane] = walkers[w].beta();
            for (row, &x) in batch.x.chunks_exact_mut(lanes).zip(walkers[w].position()) {
                row[lane] = x;
            }
        }
        path.evaluate(batch).map_err(W::Error::from)?;
        for (lane, &w) in group.iter().enumerate() {
            for (to, row) in walkers[w].gradient_mut().iter_mut().zip(batch.gradient.chunks_exact(lanes)) {
                *to = row[lane];
            }
            let (log_prior, log_likelihood) = (batch.log_prior[lane], batch.log_likelihood[lane]);
            let tilt = self.course.tilt(log_likelihood, batch.beta[lane]);
            walkers[w].advance(&Answer { log_prior, log_likelihood, tilt, rejection: &|| path.rejection(lane) })?;
        }
        Ok(())
    }
}

/// Asks for the densities of one point.
struct Look<'a> {
    point: &'a [f64],
    beta: f64,
    found: Evaluated,
    done: bool,
}

impl Walker for Look<'_> {
    type Error = Fatal;

    fn wants_evaluation(&self) -> bool {
        !self.done
    }

    fn beta(&self) -> f64 {
        self.beta
    }

    fn position(&self) -> &[f64] {
        self.point
    }

    fn gradient_mut(&mut self) -> &mut [f64] {
        &mut self.found.gradient
    }

    fn advance(&mut self, answer: &Answer<'_>) -> Result<(), Fatal> {
        self.found.densities = answer.densities();
        if !self.found.densities.log_density().is_finite() {
            self.found.rejection = answer.rejection();
        }
        self.done = true;
        Ok(())
    }
}
