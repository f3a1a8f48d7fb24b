//! The limited-memory BFGS method with a line search for the strong Wolfe conditions (Nocedal & Wright 2006, "NW"
//! below).

use std::rc::Rc;

use crate::vector::{add_scaled, dot};

/// When to end, and how far to remember.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// How many pairs of steps and changes of the gradient are kept.
    pub history: usize,
    pub iterations: usize,
    /// Ends when ½ gᵀ H g, what a Newton step would gain, is below this. H is the estimate of the inverse Hessian.
    pub decrement: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { history: 10, iterations: 1000, decrement: 1e-9 }
    }
}

/// Why the search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// A further step would gain next to nothing.
    Converged,
    /// No step along the direction is better: the digits are used up, or the gradient is wrong.
    NoBetterPoint,
    /// The number of iterations was reached.
    Iterations,
    /// The function falls without end.
    Unbounded,
    /// The observer wanted no more.
    Stopped,
}

/// A point with its value and gradient.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    pub x: Vec<f64>,
    pub value: f64,
    pub gradient: Vec<f64>,
}

/// Where the search ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimum {
    pub best: Place,
    pub iterations: usize,
    pub evaluations: usize,
    pub end: End,
}

/// A step s and the change y of the gradient along it, with sᵀy > 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    pub s: Vec<f64>,
    pub y: Vec<f64>,
    /// sᵀ y.
    pub product: f64,
}

impl Pair {
    /// `None` if the function does not curve upwards along the step.
    pub fn new(before: &Place, after: &Place) -> Option<Self> {
        let minus = |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a - b).collect() };
        let (s, y) = (minus(&after.x, &before.x), minus(&after.gradient, &before.gradient));
        let product = dot(&s, &y);
        (product > f64::EPSILON * dot(&y, &y).sqrt() * dot(&s, &s).sqrt()).then_some(Self { s, y, product })
    }
}

/// What is known of the inverse Hessian from the start: g ← H₀ g, symmetric and positive definite.
pub type Metric<'a> = &'a dyn Fn(&mut [f64]);

/// H g for the estimate H of the inverse Hessian (NW algorithm 7.4). It starts from H₀ where that is known, otherwise
/// from γ I with γ = sᵀy/yᵀy of the last pair.
fn inverse_hessian_times(pairs: &[Rc<Pair>], metric: Option<Metric<'_>>, g: &[f64]) -> Vec<f64> {
    let mut q = g.to_vec();
    let mut along = Vec::with_capacity(pairs.len());
    for pair in pairs.iter().rev() {
        let a = dot(&pair.s, &q) / pair.product;
        add_scaled(&mut q, -a, &pair.y);
        along.push(a);
    }
    match (metric, pairs.last()) {
        (Some(metric), _) => metric(&mut q),
        (None, Some(last)) => {
            let scale = last.product / dot(&last.y, &last.y);
            q.iter_mut().for_each(|q| *q *= scale);
        }
        (None, None) => {}
    }
    for (pair, a) in pairs.iter().zip(along.iter().rev()) {
        let b = dot(&pair.y, &q) / pair.product;
        add_scaled(&mut q, a - b, &pair.s);
    }
    q
}

/// Values that fall below this are taken as a sign that there is no minimum.
const BOTTOMLESS: f64 = -1e250;

/// What became of a value that the search was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Another point is wanted before there is a step.
    Trial,
    /// A step was made, and it may be the last: [`Search::here`] is new.
    Step,
    /// Nothing more is wanted.
    Done,
}

/// A search that asks for values instead of computing them, so that several can go side by side.
pub struct Search<'a> {
    options: Options,
    metric: Option<Metric<'a>>,
    pairs: Vec<Rc<Pair>>,
    here: Place,
    line: Option<Line>,
    /// Where the value is wanted.
    asked: Vec<f64>,
    iterations: usize,
    evaluations: usize,
    end: Option<End>,
}

impl<'a> Search<'a> {
    pub fn new(start: Vec<f64>, options: Options, metric: Option<Metric<'a>>) -> Self {
        let here = Place { x: Vec::new(), value: f64::INFINITY, gradient: Vec::new() };
        Self {
            options,
            metric,
            pairs: Vec::new(),
            here,
            line: None,
            asked: start,
            iterations: 0,
            evaluations: 0,
            end: None,
        }
    }

    /// The point whose value and gradient are wanted; `None` at the end.
    pub fn asks(&self) -> Option<&[f64]> {
        self.end.is_none().then_some(&self.asked[..])
    }

    /// The best point so far, with the pairs that are known there.
    pub fn here(&self) -> (&Place, &[Rc<Pair>]) {
        (&self.here, &self.pairs)
    }

    /// Ends the search where it is.
    pub fn stop(&mut self) {
        self.end.get_or_insert(End::Stopped);
    }

    /// +∞ and NaN are values like others, to be avoided.
    pub fn tell(&mut self, value: f64, gradient: &[f64]) -> Told {
        self.evaluations += 1;
        let Some(line) = &mut self.line else {
            self.here = Place { x: self.asked.clone(), value, gradient: gradient.to_vec() };
            self.turn();
            return if self.end.is_some() { Told::Done } else { Told::Trial };
        };
        let value = if value.is_nan() { f64::INFINITY } else { value };
        if let Some(step) = line.tell(&self.asked, value, gradient) {
            self.ask(step);
            return Told::Trial;
        }
        let Some(next) = line.best.take() else {
            // Old curvature may mislead: once more without it.
            if self.pairs.len() > 1 {
                self.pairs.clear();
                self.turn();
            } else {
                self.end = Some(End::NoBetterPoint);
            }
            return if self.end.is_some() { Told::Done } else { Told::Trial };
        };
        if let Some(pair) = Pair::new(&self.here, &next) {
            if self.pairs.len() == self.options.history {
                self.pairs.remove(0);
            }
            self.pairs.push(Rc::new(pair));
        }
        self.here = next;
        self.iterations += 1;
        if self.here.value < BOTTOMLESS {
            self.end = Some(End::Unbounded);
            return Told::Done;
        }
        self.turn();
        Told::Step
    }

    /// A new direction from here, or the end.
    fn turn(&mut self) {
        if self.iterations >= self.options.iterations {
            self.end = Some(End::Iterations);
            return;
        }
        let toward = |pairs: &[Rc<Pair>], metric, gradient: &[f64]| {
            let mut direction = inverse_hessian_times(pairs, metric, gradient);
            direction.iter_mut().for_each(|p| *p = -*p);
            let slope = dot(&direction, gradient);
            (direction, slope)
        };
        let (mut direction, mut slope) = toward(&self.pairs, self.metric, &self.here.gradient);
        let downhill = slope.is_finite() && slope < 0.0;
        if !downhill && !self.pairs.is_empty() {
            self.pairs.clear();
            (direction, slope) = toward(&[], self.metric, &self.here.gradient);
        }
        if -0.5 * slope <= self.options.decrement || !slope.is_finite() {
            self.end = Some(if slope.is_finite() { End::Converged } else { End::NoBetterPoint });
            return;
        }
        // Without knowledge of the curvature, a step of length 1 at most.
        let blind = self.pairs.is_empty() && self.metric.is_none();
        let first = if blind { (1.0 / (-slope).sqrt()).min(1.0) } else { 1.0 };
        self.line = Some(Line::new(self.here.value, direction, slope));
        self.ask(first);
    }

    fn ask(&mut self, step: f64) {
        let Some(line) = &mut self.line else { return };
        line.step = step;
        self.asked.copy_from_slice(&self.here.x);
        add_scaled(&mut self.asked, step, &line.direction);
    }

    /// Ends the search where it is, since it gets no further.
    pub fn settle(&mut self) {
        self.end.get_or_insert(End::Converged);
    }

    /// What was found.
    pub fn finish(self) -> Optimum {
        let end = self.end.unwrap_or(End::Stopped);
        Optimum { best: self.here, iterations: self.iterations, evaluations: self.evaluations, end }
    }
}

/// Minimises a function that returns its value and writes its gradient. The observer sees each new point with the pairs
/// that are known there, and may end the search by returning false.
pub fn minimise<E>(
    start: Vec<f64>,
    options: &Options,
    metric: Option<Metric<'_>>,
    mut function: impl FnMut(&[f64], &mut [f64]) -> Result<f64, E>,
    mut observer: impl FnMut(&Place) -> Result<bool, E>,
) -> Result<Optimum, E> {
    let mut gradient = vec![0.0; start.len()];
    let mut search = Search::new(start, *options, metric);
    while let Some(x) = search.asks() {
        let value = function(x, &mut gradient)?;
        if search.tell(value, &gradient) == Told::Step && !observer(search.here().0)? {
            search.stop();
        }
    }
    Ok(search.finish())
}

/// The constants of the Wolfe conditions, as NW recommend them for quasi-Newton methods.
const ENOUGH_DECREASE: f64 = 1e-4;
const FLAT_ENOUGH: f64 = 0.9;
const MOST_TRIALS: usize = 40;

/// A trial step: its length, the value there, and the slope along the direction.
#[derive(Clone, Copy, Debug)]
struct Trial {
    step: f64,
    value: f64,
    slope: f64,
}

/// A search along a direction for a point that fulfils the strong Wolfe conditions (NW algorithms 3.5 and 3.6); the best
/// one with enough decrease if there is none within the trials.
struct Line {
    direction: Vec<f64>,
    start: Trial,
    low: Trial,
    high: Option<Trial>,
    /// The step that is tried.
    step: f64,
    trials: usize,
    best: Option<Place>,
}

impl Line {
    fn new(value: f64, direction: Vec<f64>, slope: f64) -> Self {
        let start = Trial { step: 0.0, value, slope };
        Self { direction, start, low: start, high: None, step: 0.0, trials: 0, best: None }
    }

    /// Takes note of the value at a trial step; returns the next one, or `None` at the end.
    fn tell(&mut self, x: &[f64], value: f64, gradient: &[f64]) -> Option<f64> {
        self.trials += 1;
        let (start, low, step) = (self.start, self.low, self.step);
        // Rounding errors of the value must not hide that a step is good where it is about flat.
        let slack = 4.0 * f64::EPSILON * start.value.abs();
        let trial = Trial { step, value, slope: dot(gradient, &self.direction) };
        let decreased = value <= start.value + ENOUGH_DECREASE * step * start.slope + slack;
        if decreased && value <= low.value + slack && trial.slope.is_finite() {
            if self.best.as_ref().is_none_or(|best| value <= best.value) {
                self.best = Some(Place { x: x.to_vec(), value, gradient: gradient.to_vec() });
            }
            if trial.slope.abs() <= -FLAT_ENOUGH * start.slope {
                return None;
            }
            let turned = self.high.is_some_and(|high| high.step < low.step);
            let uphill = if turned { trial.slope < 0.0 } else { trial.slope > 0.0 };
            if uphill {
                self.high = Some(low);
            }
            self.low = trial;
        } else {
            self.high = Some(trial);
        }
        let next = match self.high {
            Some(high) => between(self.low, high),
            None => step * 4.0,
        };
        let stuck = (next - self.low.step).abs() <= f64::EPSILON * self.low.step.max(1e-300);
        (!stuck && self.trials < MOST_TRIALS).then_some(next)
    }
}

/// The minimum of the cubic through both ends (NW equation 3.59), kept away from them; the middle where there is none.
fn between(low: Trial, high: Trial) -> f64 {
    let width = high.step - low.step;
    let middle = low.step + 0.5 * width;
    if !(high.value.is_finite() && high.slope.is_finite()) {
        // Beyond the domain: much closer to where it was fine.
        return low.step + 0.2 * width;
    }
    let d1 = low.slope + high.slope - 3.0 * (low.value - high.value) / (low.step - high.step);
    let square = d1 * d1 - low.slope * high.slope;
    if square < 0.0 {
        return middle;
    }
    let d2 = square.sqrt() * width.signum();
    let step = high.step - width * (high.slope + d2 - d1) / (high.slope - low.slope + 2.0 * d2);
    let share = (step - low.step) / width;
    if share.is_finite() { low.step + share.clamp(0.1, 0.9) * width } else { middle }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::unnecessary_wraps, reason = "the form of an observer")]
    fn ignore(_: &Place) -> Result<bool, ()> {
        Ok(true)
    }

    #[test]
    fn finds_the_minimum_of_rosenbrock_and_of_an_ill_conditioned_quadratic() {
        let rosenbrock = |x: &[f64], g: &mut [f64]| {
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            g.copy_from_slice(&[-2.0 * a - 400.0 * x[0] * b, 200.0 * b]);
            Ok::<f64, ()>(a * a + 100.0 * b * b)
        };
        let options = Options { decrement: 1e-20, ..Options::default() };
        let found = minimise(vec![-1.2, 1.0], &options, None, rosenbrock, ignore).unwrap();
        assert!(found.best.x.iter().all(|x| (x - 1.0).abs() < 1e-8), "{found:?}");
        assert!(found.iterations < 60);
        let quadratic = |x: &[f64], g: &mut [f64]| {
            let weights = (0..x.len()).map(|i| 10.0_f64.powi(i32::try_from(i % 7).unwrap()));
            let mut value = 0.0;
            for ((x, g), w) in x.iter().zip(g).zip(weights) {
                value += 0.5 * w * (x - 1.0).powi(2);
                *g = w * (x - 1.0);
            }
            Ok::<f64, ()>(value)
        };
        let found = minimise(vec![0.0; 20], &options, None, quadratic, ignore).unwrap();
        assert_eq!(found.end, End::Converged);
        assert!(found.best.x.iter().all(|x| (x - 1.0).abs() < 1e-6));
        // Newton's step, where the Hessian is known.
        let inverse = |g: &mut [f64]| {
            g.iter_mut().enumerate().for_each(|(i, g)| *g /= 10.0_f64.powi(i32::try_from(i % 7).unwrap()));
        };
        let known = minimise(vec![0.0; 20], &options, Some(&inverse), quadratic, ignore).unwrap();
        assert_eq!((known.end, known.iterations), (End::Converged, 1));
        assert!(known.best.x.iter().all(|x| (x - 1.0).abs() < 1e-12) && found.iterations > 5);
    }

    #[test]
    fn the_edge_of_the_domain_and_missing_minima_are_survived() {
        // x − log x, which is not defined at or below 0, from far away.
        let barrier = |x: &[f64], g: &mut [f64]| {
            g[0] = 1.0 - 1.0 / x[0];
            Ok::<f64, ()>(if x[0] > 0.0 { x[0] - x[0].ln() } else { f64::INFINITY })
        };
        let found = minimise(vec![300.0], &Options::default(), None, barrier, ignore).unwrap();
        assert!((found.best.x[0] - 1.0).abs() < 1e-4, "{found:?}");
        let slope = |x: &[f64], g: &mut [f64]| {
            g[0] = -x[0].exp();
            Ok::<f64, ()>(-x[0].exp())
        };
        let found = minimise(vec![0.0], &Options::default(), None, slope, ignore).unwrap();
        assert_ne!(found.end, End::Converged);
    }
}
