//! What is asked of the posterior, before and after the chains.

use super::start::Start;
use crate::error::{Error, SubjectError};
use crate::problem::Problem;
use crust_diagnose::result::Drift;
use crust_diagnose::taddaa::functional::{Kind, Request, weighted_estimate};
use crust_diagnose::taddaa::intervals::Known;
use crust_diagnose::taddaa::sizes::Tolerances;
use crust_diagnose::taddaa::{ALPHA, Item, Settings, Taddaa, efficiency, judge, squared_correlation};
use crust_engine::{Include, Model};
use crust_infer::approximate::evaluate::Points;
use crust_infer::improve::Chains;
use crust_math::random::{Purpose, StreamKey};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::sync::Arc;

const ALL: Include = Include { transformed: true, generated: true };

/// Functionals of quantities of a program.
pub(super) struct Functionals<'a> {
    pub problem: &'a Problem,
    pub model: &'a Arc<Model>,
    pub seed: u64,
    /// All quantities of the program.
    pub names: Vec<String>,
    requests: Vec<Asked>,
}

/// A functional with the places of its quantities.
struct Asked {
    request: Request,
    at: usize,
    other: Option<usize>,
}

impl<'a> Functionals<'a> {
    /// By default five functionals of every parameter.
    pub fn new(texts: &[String], problem: &'a Problem, model: &'a Arc<Model>, seed: u64) -> Result<Self, Error> {
        let names = model.output_names(ALL);
        let requests = if texts.is_empty() {
            let kinds =
                [Kind::Mean, Kind::LogVariance, Kind::Quantile(0.05), Kind::Quantile(0.5), Kind::Quantile(0.95)];
            let parameters = model.output_names(Include { transformed: false, generated: false });
            parameters.iter().flat_map(|name| kinds.map(|kind| Request::new(kind, name))).collect()
        } else {
            let parsed: Result<Vec<Request>, _> = texts.iter().map(|text| text.parse()).collect();
            parsed.map_err(|error| Error::subject(SubjectError::Functional(error)))?
        };
        let place = |request: &Request, quantity: &String| {
            let functional = request.functional.to_string();
            let unknown = || Error::subject(SubjectError::Quantity { functional, quantity: quantity.clone() });
            names.iter().position(|name| name == quantity).ok_or_else(unknown)
        };
        let ask = |request: Request| {
            let at = place(&request, &request.quantity)?;
            let other = request.other.as_ref().map(|other| place(&request, other)).transpose()?;
            Ok(Asked { request, at, other })
        };
        let requests = requests.into_iter().map(ask).collect::<Result<Vec<Asked>, Error>>()?;
        Ok(Self { problem, model, seed, names, requests })
    }

    /// All quantities of points, by quantity. Random draws of the program come from streams of `purpose`.
    pub fn quantities(&self, points: &Points, purpose: Purpose) -> Result<Vec<Vec<f64>>, Error> {
        let mut evaluator = self.model.evaluator();
        let mut columns = vec![Vec::with_capacity(points.len()); self.names.len()];
        for i in 0..points.len() {
            let key = StreamKey::new(self.seed, purpose).step(i as u64);
            let found = evaluator.quantities(points.point(i), key, ALL);
            let numbers = found.map_err(|error| self.problem.program().engine(error))?.numbers;
            columns.iter_mut().zip(numbers).for_each(|(column, x)| column.push(x));
        }
        Ok(columns)
    }

    /// Compares the last states of the chains, those at the given of the times that were kept, with what they started
    /// from.
    pub fn judge(
        &self,
        start: &Start,
        (chains, times): (&Chains, RangeInclusive<usize>),
        tolerances: Tolerances,
    ) -> Result<Taddaa, Error> {
        let (last, states) = (chains.last(), times.end() + 1 - times.start());
        let after = self.quantities(&chains.states(times), Purpose::DATA)?;
        let moved = |i| squared_correlation(&chains.coordinate(0, i), &chains.coordinate(last, i));
        let rho2: Vec<f64> = (0..self.model.dimension()).map(moved).collect();
        let [drawn, started] = &start.lengths;
        let (varying, constant): (Vec<&Asked>, Vec<&Asked>) =
            self.requests.iter().partition(|asked| !asked.is_constant(&start.before, &after));
        let mut ends = Vec::with_capacity(varying.len());
        let mut weighted = Vec::with_capacity(varying.len());
        for asked in &varying {
            let functional = &asked.request.functional;
            let before = asked.values(&start.before, |i| start.place(i))?;
            let others = asked.other.map(|j| start.before[j].as_slice());
            let efficiency = efficiency(&asked.item(&before, 1, others), drawn);
            let known = Known::of_draws(functional, &before, others, efficiency);
            let weights = start.weights.as_ref().filter(|weights| weights.len() == before.len());
            weighted.push(weights.map(|weights| weighted_estimate(functional.kind, &before, others, weights)));
            let end = asked.values(&after, |_| "at the end of a chain".to_owned())?;
            ends.push((end, asked.other.map(|j| after[j].as_slice()), known));
        }
        let both = varying.iter().zip(&ends);
        let items: Vec<Item<'_>> = both
            .map(|(asked, (end, other, before))| {
                let item = asked.item(end, states, *other);
                Item { before: *before, efficiency: efficiency(&item, started), ..item }
            })
            .collect();
        let settings = Settings { iterations: chains.acceptance.len(), tolerances, seed: self.seed };
        let mut found = judge(&items, &rho2, &settings);
        found.functionals.iter_mut().zip(weighted).for_each(|(judged, psis)| judged.psis = psis);
        found.constant = constant.iter().map(|asked| asked.request.functional.to_string()).collect();
        found.chains = chains.positions[last].len();
        Ok(found)
    }
}

/// Functionals whose way is told.
const WAYS: usize = 12;

impl Functionals<'_> {
    /// The way of the functionals that are most wrong, relative to what they measure.
    pub fn drift(&self, found: &Taddaa, chains: &Chains) -> Result<Vec<Drift>, Error> {
        let mut order: Vec<usize> = (0..found.functionals.len()).collect();
        order.sort_by(|&a, &b| found.functionals[b].relative.total_cmp(&found.functionals[a].relative));
        order.truncate(WAYS);
        let mut ways: Vec<Drift> =
            order.iter().map(|&i| Drift { name: found.functionals[i].name.clone(), ..Drift::default() }).collect();
        for (time, positions) in chains.times.iter().zip(&chains.positions) {
            let columns = self.quantities(positions, Purpose::DATA)?;
            for (way, &i) in ways.iter_mut().zip(&order) {
                // Not all that was asked was judged.
                let named = |asked: &&Asked| asked.request.functional.to_string() == way.name;
                let Some(asked) = self.requests.iter().find(named) else { continue };
                let before = Known::exactly(found.functionals[i].approximation);
                let end = asked.values(&columns, |_| "on the way of a chain".to_owned())?;
                let other = asked.other.map(|j| columns[j].as_slice());
                let item = Item { before, ..asked.item(&end, 1, other) };
                let interval = item.interval(ALPHA);
                way.times.push(*time);
                way.values.push(item.estimate());
                way.low.push(before.value + interval.low);
                way.high.push(before.value + interval.high);
            }
        }
        Ok(ways)
    }
}

impl Asked {
    /// Of values that are compared with nothing yet.
    fn item<'b>(&self, end: &'b [f64], states: usize, other: Option<&'b [f64]>) -> Item<'b> {
        let functional = self.request.functional.clone();
        Item { functional, end, states, other, before: Known::exactly(0.0), efficiency: 1.0 }
    }

    /// Whether a quantity of it is the same number before and after, but for rounding: diagonals of correlation
    /// matrices, zeros above that of a Cholesky factor. It has no error, and no scale to measure one with.
    fn is_constant(&self, before: &[Vec<f64>], after: &[Vec<f64>]) -> bool {
        let all = [Some(self.at), self.other];
        all.into_iter().flatten().any(|i| are_one_number(&before[i], &after[i]))
    }

    /// The values of its quantity; of an event, 1 where it happens and 0 where it does not. A value that is no number
    /// would widen intervals until they say nothing, which looks as if there were no error.
    fn values<'b>(&self, columns: &'b [Vec<f64>], place: impl Fn(usize) -> String) -> Result<Cow<'b, [f64]>, Error> {
        let functional = || self.request.functional.to_string();
        let all = [Some(self.at), self.other];
        for column in all.into_iter().flatten().map(|i| &columns[i]) {
            if column.is_empty() {
                return Err(Error::subject(SubjectError::NotThere { functional: functional() }));
            }
            let fine = |x: &f64| x.is_finite() || (self.request.event.is_some() && !x.is_nan());
            if let Some(i) = column.iter().position(|x| !fine(x)) {
                let (place, value) = (place(i), column[i]);
                return Err(Error::subject(SubjectError::NoNumber { functional: functional(), place, value }));
            }
        }
        let values = &columns[self.at];
        Ok(match self.request.event {
            None => Cow::Borrowed(values),
            Some((above, bound)) => {
                let happens = |x: f64| if above { x > bound } else { x < bound };
                Cow::Owned(values.iter().map(|&x| f64::from(u8::from(happens(x)))).collect())
            }
        })
    }
}

/// Whether neither list varies, and both are the same number as far as it was written down.
fn are_one_number(before: &[f64], after: &[f64]) -> bool {
    /// Relative: what rounding in a computation, and in a file, may do.
    const COMPUTED: f64 = 1e-12;
    const WRITTEN: f64 = 1e-5;
    let (Some(&a), Some(&b)) = (before.first(), after.first()) else { return false };
    let all_near = |values: &[f64], x: f64| values.iter().all(|v| (v - x).abs() <= COMPUTED * x.abs());
    all_near(before, a) && all_near(after, b) && (a - b).abs() <= WRITTEN * a.abs().max(b.abs())
}
