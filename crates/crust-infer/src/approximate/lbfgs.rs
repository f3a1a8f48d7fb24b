//! The limited-memory BFGS method with a line search for the strong Wolfe conditions (Nocedal & Wright 2006, "NW"
//! below).

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

/// H g for the estimate H of the inverse Hessian (NW algorithm 7.4), starting from γ I with γ = sᵀy/yᵀy of the last
/// pair.
fn inverse_hessian_times(pairs: &[Pair], g: &[f64]) -> Vec<f64> {
    let mut q = g.to_vec();
    let mut along = Vec::with_capacity(pairs.len());
    for pair in pairs.iter().rev() {
        let a = dot(&pair.s, &q) / pair.product;
        add_scaled(&mut q, -a, &pair.y);
        along.push(a);
    }
    if let Some(last) = pairs.last() {
        let scale = last.product / dot(&last.y, &last.y);
        q.iter_mut().for_each(|q| *q *= scale);
    }
    for (pair, a) in pairs.iter().zip(along.iter().rev()) {
        let b = dot(&pair.y, &q) / pair.product;
        add_scaled(&mut q, a - b, &pair.s);
    }
    q
}

/// Values that fall below this are taken as a sign that there is no minimum.
const BOTTOMLESS: f64 = -1e250;

/// Minimises a function that returns its value and writes its gradient; +∞ and NaN are values like others, to be
/// avoided. The observer sees each new point with the pairs that are known there, and may end the search by returning
/// false.
pub fn minimise<E>(
    start: Vec<f64>,
    options: &Options,
    mut function: impl FnMut(&[f64], &mut [f64]) -> Result<f64, E>,
    mut observer: impl FnMut(&Place, &[Pair]) -> Result<bool, E>,
) -> Result<Optimum, E> {
    let mut gradient = vec![0.0; start.len()];
    let value = function(&start, &mut gradient)?;
    let mut here = Place { x: start, value, gradient };
    let mut search = LineSearch { evaluations: 1, function: &mut function };
    let mut pairs: Vec<Pair> = Vec::new();
    let mut iterations = 0;
    let end = loop {
        if iterations >= options.iterations {
            break End::Iterations;
        }
        let mut direction = inverse_hessian_times(&pairs, &here.gradient);
        direction.iter_mut().for_each(|p| *p = -*p);
        let mut slope = dot(&direction, &here.gradient);
        let downhill = slope.is_finite() && slope < 0.0;
        if !downhill && !pairs.is_empty() {
            pairs.clear();
            direction = here.gradient.iter().map(|g| -g).collect();
            slope = dot(&direction, &here.gradient);
        }
        if -0.5 * slope <= options.decrement || !slope.is_finite() {
            break if slope.is_finite() { End::Converged } else { End::NoBetterPoint };
        }
        // Without knowledge of the curvature, a step of length 1 at most.
        let first = if pairs.is_empty() { (1.0 / (-slope).sqrt()).min(1.0) } else { 1.0 };
        match search.run(&here, &direction, slope, first)? {
            Some(next) => {
                if let Some(pair) = Pair::new(&here, &next) {
                    if pairs.len() == options.history {
                        pairs.remove(0);
                    }
                    pairs.push(pair);
                }
                here = next;
            }
            // Old curvature may mislead: once more along the gradient.
            None if pairs.len() > 1 => {
                pairs.clear();
                continue;
            }
            None => break End::NoBetterPoint,
        }
        iterations += 1;
        if here.value < BOTTOMLESS {
            break End::Unbounded;
        }
        if !observer(&here, &pairs)? {
            break End::Stopped;
        }
    };
    Ok(Optimum { best: here, iterations, evaluations: search.evaluations, end })
}

/// The constants of the Wolfe conditions, as NW recommend them for quasi-Newton methods.
const ENOUGH_DECREASE: f64 = 1e-4;
const FLAT_ENOUGH: f64 = 0.9;
const MOST_TRIALS: usize = 40;

struct LineSearch<'a, F> {
    evaluations: usize,
    function: &'a mut F,
}

/// A trial step: its length, the value there, and the slope along the direction.
#[derive(Clone, Copy, Debug)]
struct Trial {
    step: f64,
    value: f64,
    slope: f64,
}

impl<E, F: FnMut(&[f64], &mut [f64]) -> Result<f64, E>> LineSearch<'_, F> {
    /// A point along the direction that fulfils the strong Wolfe conditions (NW algorithms 3.5 and 3.6); the best one
    /// with enough decrease if there is none within the trials.
    fn run(&mut self, from: &Place, direction: &[f64], slope: f64, first: f64) -> Result<Option<Place>, E> {
        let start = Trial { step: 0.0, value: from.value, slope };
        // Rounding errors of the value must not hide that a step is good where it is about flat.
        let slack = 4.0 * f64::EPSILON * from.value.abs();
        let (mut low, mut high): (Trial, Option<Trial>) = (start, None);
        let mut best: Option<Place> = None;
        let mut step = first;
        for _ in 0..MOST_TRIALS {
            let (place, trial) = self.evaluate(from, direction, step)?;
            let decreased = trial.value <= start.value + ENOUGH_DECREASE * step * start.slope + slack;
            if decreased && trial.value <= low.value + slack && trial.slope.is_finite() {
                if best.as_ref().is_none_or(|best| place.value <= best.value) {
                    best = Some(place);
                }
                if trial.slope.abs() <= -FLAT_ENOUGH * start.slope {
                    return Ok(best);
                }
                let turned = high.is_some_and(|high| high.step < low.step);
                let uphill = if turned { trial.slope < 0.0 } else { trial.slope > 0.0 };
                if uphill {
                    high = Some(low);
                }
                low = trial;
            } else {
                high = Some(trial);
            }
            step = match high {
                Some(high) => between(low, high),
                None => step * 4.0,
            };
            if (step - low.step).abs() <= f64::EPSILON * low.step.max(1e-300) {
                break;
            }
        }
        Ok(best)
    }

    fn evaluate(&mut self, from: &Place, direction: &[f64], step: f64) -> Result<(Place, Trial), E> {
        let mut x = from.x.clone();
        add_scaled(&mut x, step, direction);
        let mut gradient = vec![0.0; x.len()];
        let value = (self.function)(&x, &mut gradient)?;
        self.evaluations += 1;
        let value = if value.is_nan() { f64::INFINITY } else { value };
        let slope = dot(&gradient, direction);
        Ok((Place { x, value, gradient }, Trial { step, value, slope }))
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
    fn ignore(_: &Place, _: &[Pair]) -> Result<bool, ()> {
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
        let found = minimise(vec![-1.2, 1.0], &options, rosenbrock, ignore).unwrap();
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
        let found = minimise(vec![0.0; 20], &options, quadratic, ignore).unwrap();
        assert_eq!(found.end, End::Converged);
        assert!(found.best.x.iter().all(|x| (x - 1.0).abs() < 1e-6));
    }

    #[test]
    fn the_edge_of_the_domain_and_missing_minima_are_survived() {
        // x − log x, which is not defined at or below 0, from far away.
        let barrier = |x: &[f64], g: &mut [f64]| {
            g[0] = 1.0 - 1.0 / x[0];
            Ok::<f64, ()>(if x[0] > 0.0 { x[0] - x[0].ln() } else { f64::INFINITY })
        };
        let found = minimise(vec![300.0], &Options::default(), barrier, ignore).unwrap();
        assert!((found.best.x[0] - 1.0).abs() < 1e-4, "{found:?}");
        let slope = |x: &[f64], g: &mut [f64]| {
            g[0] = -x[0].exp();
            Ok::<f64, ()>(-x[0].exp())
        };
        let found = minimise(vec![0.0], &Options::default(), slope, ignore).unwrap();
        assert_ne!(found.end, End::Converged);
    }
}
