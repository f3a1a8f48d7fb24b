//! What is judged, in a form that chains can start from.

use super::draws::Given;
use super::functionals::Functionals;
use super::{Subject, TaddaaOptions};
use crate::approximate::{ApproximationChoice, Failure, Wanted, fit, k_hat};
use crate::error::{Error, SubjectError};
use crate::problem::Source;
use crate::target::StanTarget;
use crust_diagnose::draws::Draws;
use crust_diagnose::psis::{Psis, psis};
use crust_engine::Model;
use crust_infer::approximate::elbo::{self, Estimate};
use crust_infer::approximate::evaluate::{Evaluations, Points};
use crust_infer::approximate::family::{Approximation, Document, Elliptical};
use crust_infer::approximate::scale::Scale;
use crust_math::random::{Purpose, StreamKey};
use std::path::PathBuf;
use std::sync::Arc;

/// Draws of an approximation from which its functionals are computed: so many that their error hardly matters.
const REFERENCE: usize = 20_000;
/// Draws for the ELBO of an approximation in a file.
const DRAWS: usize = 4096;

/// Where chains start, and what was said there.
pub(super) struct Start {
    /// Unconstrained starting points.
    pub points: Points,
    /// The mean and covariance that precondition the chains.
    pub frame: Elliptical,
    /// Values of all quantities under the approximation, by quantity; empty where a file has none.
    pub before: Vec<Vec<f64>>,
    /// Of the Markov chains that these draws, and those that chains start at, come from; empty if they are independent.
    pub lengths: [Vec<usize>; 2],
    pub k_hat: Option<f64>,
    /// Importance weights of the draws in `before`, where they can be relied on.
    pub weights: Option<Vec<f64>>,
    /// Of an approximation with a density.
    pub elbo: Option<Estimate>,
    pub notes: Vec<String>,
    /// Why no verdict can be good.
    pub doubt: Option<String>,
    /// The draws of `before`, where they are from files.
    given: Option<Given>,
}

impl Start {
    pub fn of(
        options: &TaddaaOptions,
        chains: usize,
        functionals: &Functionals<'_>,
        evaluations: &mut Evaluations<'_, StanTarget<'_>>,
    ) -> Result<Self, Failure> {
        match &options.subject {
            Subject::Draws(files) => Ok(Self::of_files(files, chains, functionals)?),
            Subject::Approximation(source) => {
                let q = read(source, functionals.model)?;
                let key = StreamKey::new(functionals.seed, Purpose::FIT);
                let elbo = elbo::estimate(evaluations, &q, DRAWS, key)?;
                let start = Self::of_approximation(&q, q.clone(), chains, (functionals, evaluations))?;
                Ok(Self { k_hat: k_hat(&elbo.log_ratios), elbo: Some(elbo), ..start })
            }
            Subject::Fit(method) => {
                let wanted = Wanted { method: *method, radius: options.radius, seed: functionals.seed };
                let fitted = fit(evaluations, wanted)?;
                let (k_hat, q) = (fitted.k_hat(), fitted.approximation.as_ref());
                let names = functionals.model.unconstrained_names();
                let (doubt, caution) = (fitted.doubt(&names), fitted.caution(&names));
                let mut start = Self::of_approximation(q, fitted.normal, chains, (functionals, evaluations))?;
                start.notes.extend(caution);
                if !fitted.converged {
                    start.notes.push(format!("the fit: {}", fitted.words));
                }
                Ok(Self { k_hat, elbo: Some(fitted.elbo), doubt, ..start })
            }
        }
    }

    fn of_approximation(
        q: &dyn Approximation,
        frame: Elliptical,
        chains: usize,
        (functionals, evaluations): (&Functionals<'_>, &mut Evaluations<'_, StanTarget<'_>>),
    ) -> Result<Self, Failure> {
        let key = StreamKey::new(functionals.seed, Purpose::INITIAL);
        let draw = |n: usize, key: StreamKey| {
            let mut stream = key.stream();
            Points::new(q.dimension(), (0..n).flat_map(|_| q.draw(&mut stream)).collect())
        };
        // Not the starts themselves: their luck would count twice.
        let mut drawn = draw(REFERENCE, key.step(1));
        let before = functionals.quantities(&drawn, Purpose::GENERATED)?;
        evaluations.evaluate(&mut drawn, false)?;
        let ratio = |(i, log_p): (usize, &f64)| log_p - q.log_density(drawn.point(i));
        let weights = weights(&drawn.log_density.iter().enumerate().map(ratio).collect::<Vec<_>>());
        let lengths = [Vec::new(), Vec::new()];
        let points = draw(chains, key);
        Ok(Self {
            points,
            frame,
            before,
            lengths,
            k_hat: None,
            weights,
            elbo: None,
            notes: Vec::new(),
            doubt: None,
            given: None,
        })
    }

    /// Draws of other programs: those of parameters are needed, others are judged if they are there.
    fn of_files(files: &[PathBuf], chains: usize, functionals: &Functionals<'_>) -> Result<Self, Error> {
        let given = Given::read(files)?;
        let draws = &given.draws;
        let total = given.total();
        if total < 2 {
            return Err(Error::subject(SubjectError::FewDraws { found: total, needed: 2 }));
        }
        let n = chains.min(total);
        let mut notes = Vec::new();
        if n < chains {
            let wider = (ratio(chains) / ratio(n)).sqrt();
            notes.push(format!(
                "there are {total} draws, and the tolerances want {chains} chains: intervals are {wider:.1} times as wide"
            ));
        }
        let rows: Vec<usize> = (0..n).map(|k| k * total / n).collect();
        // All of them, so that draws of another program are found wherever they are.
        let all = Points::new(functionals.model.dimension(), given.unconstrain(functionals.model)?);
        let points = Points::new(all.dimension, rows.iter().flat_map(|&row| all.point(row)).copied().collect());
        let frame = moments(&points, functionals.model)?;
        let column = |name: &String| draws.named(name).map_or_else(Vec::new, |parts| parts.concat());
        let before = functionals.names.iter().map(column).collect();
        let lengths: Vec<usize> = draws.chains.iter().map(|chain| chain.sampling.len()).collect();
        let mut end = 0;
        let starts = lengths.iter().map(|length| {
            let begin = end;
            end += length;
            rows.iter().filter(|row| (begin..end).contains(*row)).count()
        });
        let starts = starts.collect();
        let lengths = [lengths, starts];
        let ratios = log_ratios(draws);
        let k_hat = ratios.as_ref().and_then(|ratios| k_hat(ratios));
        let weights = ratios.as_ref().and_then(|ratios| weights(ratios));
        Ok(Self { points, frame, before, lengths, k_hat, weights, elbo: None, notes, doubt: None, given: Some(given) })
    }

    /// Where the values of row `i` of `before` come from.
    pub fn place(&self, i: usize) -> String {
        self.given.as_ref().map_or_else(|| "before the chains".to_owned(), |given| format!("in {}", given.place(i)))
    }
}

/// Smoothed weights that sum to 1, if k-hat says that they can be relied on.
fn weights(log_ratios: &[f64]) -> Option<Vec<f64>> {
    let smoothed = psis(log_ratios, 1.0).ok().filter(Psis::is_reliable)?;
    Some(smoothed.log_weights.iter().map(|log| log.exp()).collect())
}

/// log p − log q of draws that come with both, as ADVI and Laplace write them. Draws of Pathfinder may have been
/// resampled, so that their weights say nothing.
fn log_ratios(draws: &Draws) -> Option<Vec<f64>> {
    let p = draws.sampler("log_p__")?.concat();
    let q = draws.sampler("log_g__").or_else(|| draws.sampler("log_q__"))?.concat();
    Some(p.iter().zip(&q).map(|(p, q)| p - q).collect())
}

/// How an approximation that was written down came about, if it says so.
#[derive(serde::Deserialize)]
struct Written {
    method: Option<String>,
}

/// An approximation that was written down.
fn read(source: &Source, model: &Arc<Model>) -> Result<Elliptical, Error> {
    let file = || source.name().to_owned();
    let text = source.read("read the approximation")?;
    let document: Document = match serde_json::from_str(&text) {
        Ok(document) => document,
        Err(error) => return Err(Error::subject(SubjectError::NotJson { file: file(), error })),
    };
    // Of a mixture only the moments are there, and one normal distribution with these is another approximation.
    let method = serde_json::from_str::<Written>(&text).ok().and_then(|written| written.method);
    if method.as_deref() == Some(ApproximationChoice::MultiPathfinder.name()) {
        return Err(Error::subject(SubjectError::Mixture { file: file() }));
    }
    let names = model.unconstrained_names();
    let (found, wanted) = (document.mean.len(), names.len());
    if found != wanted {
        return Err(Error::subject(SubjectError::Coordinates { file: file(), found, wanted }));
    }
    if !document.names.is_empty() && document.names.len() != wanted {
        return Err(Error::subject(SubjectError::Names { file: file(), found: document.names.len(), wanted }));
    }
    if let Some((i, (found, wanted))) = document.names.iter().zip(&names).enumerate().find(|(_, (a, b))| a != b) {
        let (found, wanted) = (found.clone(), wanted.clone());
        return Err(Error::subject(SubjectError::Name { number: i + 1, file: file(), found, wanted }));
    }
    document.read().map_err(|error| Error::subject(SubjectError::Document { file: file(), error }))
}

#[expect(clippy::cast_precision_loss, reason = "numbers of draws")]
fn ratio(n: usize) -> f64 {
    n as f64
}

/// The normal distribution with the moments of points; without correlations if there are few points for them.
fn moments(points: &Points, model: &Arc<Model>) -> Result<Elliptical, Error> {
    let (n, d) = (points.len(), points.dimension);
    let mean: Vec<f64> = (0..d).map(|i| points.x.iter().skip(i).step_by(d).sum::<f64>() / ratio(n)).collect();
    let mut covariance = vec![0.0; d * d];
    for x in points.x.chunks_exact(d) {
        for i in 0..d {
            let from_mean = (x[i] - mean[i]) / ratio(n - 1);
            covariance[i * d..][..d].iter_mut().zip(x).zip(&mean).for_each(|((c, x), m)| *c += from_mean * (x - m));
        }
    }
    let deviations: Vec<f64> = covariance.iter().step_by(d + 1).map(|v| v.sqrt()).collect();
    if let Some(i) = deviations.iter().position(|s| !(s.is_finite() && *s > 0.0)) {
        return Err(Error::subject(SubjectError::Constant { name: model.unconstrained_names().swap_remove(i) }));
    }
    let full = if n >= 4 * d { Scale::of_covariance(d, &covariance).ok() } else { None };
    Ok(Elliptical::normal(mean, full.unwrap_or(Scale::Diagonal(deviations))))
}
