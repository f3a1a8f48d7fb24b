//! Whether two log densities differ by a constant.

use std::collections::BTreeMap;

use super::Misreading;
use super::program::{Accuracy, ProgramValue};
use crate::simulate::{Place, Score, SimulateError};
use crust_stan::span::Span;

/// The two densities at a point.
#[derive(Clone, Debug)]
pub struct Observation {
    pub program: f64,
    /// Of the reading, with what depends on data alone; of outcomes without the Jacobian of images.
    pub reading: f64,
    pub jacobian: f64,
    /// What of it depends on data alone.
    loose: f64,
    /// How much rounding may change the difference.
    pub tolerance: f64,
    /// The numbers of the point and of the data set.
    pub at: (usize, usize),
    /// Whether it is a draw of the reading itself.
    pub own: bool,
    /// Whether the program refused the point in a way that says nothing.
    pub refused: bool,
    /// A point at which rounding may change more than this says nothing.
    blunt: f64,
    /// Whether some statement is drawn by a function of the program's own.
    pub supplied: bool,
    pub assumed: Vec<(Place, Vec<f64>)>,
}

impl Observation {
    pub fn new(
        value: &ProgramValue,
        score: &Result<Score, SimulateError>,
        at: (usize, usize),
        own: bool,
        accuracy: Accuracy,
    ) -> Self {
        let program = value.log_density;
        let blank = Self {
            program,
            reading: f64::NAN,
            jacobian: 0.0,
            loose: 0.0,
            tolerance: 0.0,
            at,
            own,
            // A solver may fail at one of two evaluations.
            refused: value.rejection.is_some() && accuracy.solves,
            blunt: accuracy.blunt,
            supplied: false,
            assumed: Vec::new(),
        };
        let Ok(score) = score else { return blank };
        let total = score.total();
        Self {
            reading: total.density + score.loose,
            jacobian: total.jacobian,
            loose: score.loose,
            tolerance: accuracy.relative * (1.0 + total.magnitude + total.jacobian.abs()) + total.noise + value.noise,
            supplied: !score.supplied.is_empty(),
            assumed: score.assumed.clone(),
            ..blank
        }
    }

    /// A prior is a density of parameters: the Jacobian of images is a part of it, and of the program where it does not
    /// only change by a constant. (Of outcomes it depends on data alone, which no posterior sees.)
    pub fn of_prior(self) -> Self {
        Self { reading: self.reading + self.jacobian, jacobian: 0.0, ..self }
    }

    fn difference(&self) -> f64 {
        self.program - self.reading
    }

    pub fn is_sharp(&self) -> bool {
        self.program.is_finite() && self.reading.is_finite() && self.tolerance < self.blunt
    }
}

/// Two observations that do not differ by the same constant: a typical one and one that does not go with it.
#[derive(Clone, Debug)]
pub struct Pair {
    pub typical: Observation,
    pub other: Observation,
}

/// By what two densities differ everywhere.
#[derive(Clone, Copy, Debug)]
pub struct Constant {
    /// The largest deviation from it, relative to the tolerance.
    pub worst: f64,
    /// Its value, unless the reading leaves out constants that it does not know.
    pub known: Option<f64>,
}

/// By what the densities differ; or two observations that contradict that it is a constant.
pub fn constant(all: &[Observation], accuracy: Accuracy) -> Result<Result<Constant, Box<Pair>>, Misreading> {
    normalisers(all)?;
    let mut sharp: Vec<&Observation> = all.iter().filter(|o| o.is_sharp()).collect();
    sharp.sort_by(|a, b| a.difference().total_cmp(&b.difference()));
    let typical = sharp.get(sharp.len() / 2).copied();
    let pair = |other: &Observation| {
        let typical = typical.unwrap_or(other).clone();
        Ok(Err(Box::new(Pair { typical, other: other.clone() })))
    };
    // The reading vanishes where the program does not, or draws what has no density in the program.
    let vanishes = |o: &&Observation| o.program.is_finite() && !o.reading.is_finite() && o.reading < f64::INFINITY;
    let has_none = |o: &&Observation| o.own && !o.refused && o.reading.is_finite() && o.program == f64::NEG_INFINITY;
    if let Some(other) = all.iter().find(vanishes).or_else(|| all.iter().find(has_none)) {
        return pair(other);
    }
    let Some(typical) = typical else { return Ok(Ok(Constant { worst: 0.0, known: None })) };
    let tolerance = |o: &Observation| o.tolerance + typical.tolerance + accuracy.slack;
    let ratio = |o: &Observation| (o.difference() - typical.difference()).abs() / tolerance(o);
    let worst = sharp.iter().copied().max_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let beyond = sharp.iter().filter(|o| ratio(o) > 1.0).count();
    #[allow(clippy::cast_precision_loss, reason = "points are few")]
    let too_many = beyond as f64 > accuracy.strays * sharp.len() as f64;
    if let Some(other) = worst.filter(|_| too_many) {
        return pair(other);
    }
    if let Some(other) = uneven_jacobian(&sharp) {
        return pair(other);
    }
    let whole = |o: &&Observation| o.assumed.is_empty() && o.jacobian == 0.0 && o.loose == 0.0;
    let known = sharp.iter().all(whole).then(|| typical.difference());
    Ok(Ok(Constant { worst: worst.map_or(0.0, ratio), known }))
}

/// The Jacobian of images may depend on data, not on parameters: one for each data set.
fn uneven_jacobian<'a>(sharp: &[&'a Observation]) -> Option<&'a Observation> {
    let mut first: BTreeMap<usize, &Observation> = BTreeMap::new();
    for o in sharp {
        let reference = first.entry(o.at.1).or_insert(o);
        if (o.jacobian - reference.jacobian).abs() > 1e-9 * (1.0 + o.jacobian.abs()) + o.tolerance + reference.tolerance
        {
            return Some(o);
        }
    }
    None
}

/// What is assumed to be a constant must be one.
fn normalisers(all: &[Observation]) -> Result<(), Misreading> {
    let mut known: BTreeMap<(Place, usize), &Vec<f64>> = BTreeMap::new();
    for o in all.iter().filter(|o| o.is_sharp()) {
        let mut times: BTreeMap<Place, usize> = BTreeMap::new();
        for (place, arguments) in &o.assumed {
            let turn = times.entry(*place).or_default();
            *turn += 1;
            let first = known.entry((*place, *turn)).or_insert(arguments);
            let close = |a: &f64, b: &f64| a.total_cmp(b).is_eq() || (a - b).abs() <= 1e-12 * a.abs().max(b.abs());
            if first.len() != arguments.len() || !first.iter().zip(arguments).all(|(a, b)| close(a, b)) {
                return Err(Misreading::Normaliser { span: span(*place) });
            }
        }
    }
    Ok(())
}

pub fn span((start, end): Place) -> Span {
    Span { start, end }
}

/// Draws have the density, at the moment they are made, that the same numbers have afterwards.
pub fn drawn(drawn: &Score, given: &Score) -> Result<(), Misreading> {
    let places = drawn.statements.keys().chain(given.statements.keys());
    for place in places.filter(|p| !given.supplied.contains(p) && !given.mixtures.contains(p)) {
        let a = drawn.statements.get(place).copied().unwrap_or_default();
        let b = given.statements.get(place).copied().unwrap_or_default();
        let (x, y) = (a.density, b.density);
        let alike = x == f64::INFINITY || y == f64::INFINITY || x.total_cmp(&y).is_eq();
        // What is computed back loses digits.
        let close = (x - y).abs() <= 1e-6 * (1.0 + a.magnitude + b.magnitude);
        if !alike && !close {
            return Err(Misreading::Draws { span: span(*place), drawn: x, given: y });
        }
    }
    Ok(())
}

/// Data that were drawn and cannot be: the statement that says so, or else the first one.
pub fn impossible(draws: &[Score]) -> Misreading {
    let all = || draws.iter().flat_map(|drawn| &drawn.statements);
    let worst = all().find(|(_, sums)| sums.density == f64::NEG_INFINITY).or_else(|| all().next());
    let (place, drawn) = worst.map_or(((0, 0), f64::NAN), |(place, sums)| (*place, sums.density));
    Misreading::Draws { span: span(place), drawn, given: f64::NEG_INFINITY }
}
