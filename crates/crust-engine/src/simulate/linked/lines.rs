//! Numbers that the terms of a group weigh each by itself, drawn one by one from the density along its line.
//!
//! Around 0, log f(u) = log f(0) + Σᵢ (log f(uᵢ eᵢ) − log f(0)) just if f is a product of functions of one coordinate each.
//! Then each is drawn by inverting its integral, and log ∫ f = Σᵢ log ∫ f(t eᵢ) dt − (n − 1) log f(0). Whether f is such a
//! product is tried at draws; a line that does not come to an end has no integral.

use crust_math::random::{Purpose, Stream, StreamKey};

use super::super::SimulateError;
use super::super::by_density::Domain;
use super::super::by_density::line::{Along, Landmarks, Line, NEGLIGIBLE, Search, lines};
use super::terms::Terms;

/// A product of densities of one number each.
pub struct Lines {
    axes: Vec<Line>,
    pub log_integral: f64,
    /// How far that may be from the truth.
    pub noise: f64,
}

/// How well the integral of one line is known.
const NOISE: f64 = 1e-7;

/// At how many draws the product is tried, and how well it must hold relative to the sizes of its parts.
const TRIALS: usize = 8;
const CLOSE: f64 = 1e-9;

/// How far unconstrained numbers of parameters with bounds go: e³⁰⁰ can still be squared. A density that has not come to an
/// end there may have none.
const FARTHEST: f64 = 300.0;

/// Evaluations that a line takes, about: they decide whether there is time for it.
pub const EVALUATIONS: usize = 500;

impl Lines {
    /// Nothing where the terms are no such product.
    pub fn find(terms: &mut Terms<'_>) -> Result<Option<Self>, SimulateError> {
        let n = terms.coordinates.len();
        let middle = terms.values(&[vec![0.0; n]])?[0];
        if n > 1 && !middle.is_finite() {
            return Ok(None);
        }
        let farthest = if terms.is_bounded() { FARTHEST } else { f64::INFINITY };
        let domain = Domain { integer: false, lower: -farthest, upper: farthest };
        let searches = (0..n).map(|i| Search::new(i, domain, 0.0, middle)).collect();
        let lines = lines(&mut Axes { terms }, searches, &Landmarks::of(vec![-1.0, 1.0]))?;
        if farthest.is_finite() {
            let ends: Vec<Vec<f64>> = (0..2 * n).map(|i| on_axis(n, i / 2, [-farthest, farthest][i % 2])).collect();
            let at_ends = terms.values(&ends)?;
            let ends_early = |(i, x): (usize, &f64)| *x < lines[i / 2].log_top() - NEGLIGIBLE;
            if !at_ends.iter().enumerate().all(ends_early) {
                return Err(SimulateError::Endless);
            }
        }
        #[allow(clippy::cast_precision_loss, reason = "numbers are few")]
        let number = n as f64;
        let rest = if n > 1 { (number - 1.0) * middle } else { 0.0 };
        let log_integral = lines.iter().map(Line::log_integral).sum::<f64>() - rest;
        let found = Self { axes: lines, log_integral, noise: NOISE * number };
        let product = log_integral.is_finite() && (n == 1 || found.is_product(terms, middle)?);
        Ok(product.then_some(found))
    }

    fn is_product(&self, terms: &mut Terms<'_>, middle: f64) -> Result<bool, SimulateError> {
        let n = self.axes.len();
        let mut stream = StreamKey::new(11, Purpose::GENERATED).stream();
        for _ in 0..TRIALS {
            let point = self.draw(&mut stream);
            let mut points = vec![point.clone()];
            points.extend((0..n).map(|i| on_axis(n, i, point[i])));
            let found = terms.values(&points)?;
            let parts: Vec<f64> = found[1..].iter().map(|x| x - middle).collect();
            let size: f64 = parts.iter().map(|x| x.abs()).sum();
            let off = (found[0] - middle - parts.iter().sum::<f64>()).abs();
            if off.is_nan() || off > CLOSE * (1.0 + size + middle.abs()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub fn draw(&self, stream: &mut Stream) -> Vec<f64> {
        self.axes.iter().map(|line| line.draw(stream)).collect()
    }
}

fn on_axis(n: usize, axis: usize, x: f64) -> Vec<f64> {
    let mut point = vec![0.0; n];
    point[axis] = x;
    point
}

/// The density along the axes.
struct Axes<'a, 'b> {
    terms: &'a mut Terms<'b>,
}

impl Along for Axes<'_, '_> {
    fn log_densities(&mut self, requests: &[(usize, f64)]) -> Result<Vec<f64>, SimulateError> {
        let n = self.terms.coordinates.len();
        let points: Vec<Vec<f64>> = requests.iter().map(|(axis, x)| on_axis(n, *axis, *x)).collect();
        self.terms.values(&points)
    }
}
