//! What log p(y) is about, where a program leaves that open: a likelihood that is no density of the outcome, and a prior
//! of which declarations leave a part that nobody has told.

use super::prior::PriorReading;
use crate::error::Error;
use crate::generative::{Generation, Generative, NOTICED, Outcomes};
use crate::problem::Problem;
use crate::session::Session;
use crate::target::{Evaluation, StanTarget};
use crust_infer::target::{Batch, Target};
use crust_math::random::{Purpose, StreamKey};
use std::time::{Duration, Instant};

/// How long the likelihood is looked at, where its values have to be added up.
const PATIENCE: Duration = Duration::from_secs(3);

/// So many draws of the prior tell how many of them fit.
const ATTEMPTS: u32 = 4000;

/// What the reader must know of the number, for people.
pub(super) fn remarks(prior: &PriorReading<'_>, session: &Session<'_>) -> Vec<String> {
    let of_likelihood = nothing_observed(prior, session.seed).or_else(|| likelihood(prior, session.seed));
    [of_likelihood, share(prior, session.seed)].into_iter().flatten().collect()
}

/// Stan has no word for what is observed. A term that looks at no variable of the data block is prior, also where its
/// author has written the observations into the program: what is printed is then the integral of a prior.
fn nothing_observed(prior: &PriorReading<'_>, seed: u64) -> Option<String> {
    const DRAWS: u32 = 4;
    let (mut simulator, key) = (prior.simulator.clone(), StreamKey::new(seed, Purpose::PRIOR).dataset(u32::MAX));
    let draws: Vec<Vec<f64>> = (0..DRAWS).filter_map(|i| simulator.draw_parameters(None, key.chain(i)).ok()).collect();
    let mut target = StanTarget::path(&prior.model, prior.problem.program().text(), Evaluation::of_many(&prior.model));
    let mut batch = Batch::default();
    batch.resize(target.dimension(), draws.len(), false);
    batch.beta.fill(1.0);
    for (lane, draw) in draws.iter().enumerate() {
        let row = batch.x.iter_mut().skip(lane).step_by(draws.len());
        row.zip(draw).for_each(|(to, x)| *to = *x);
    }
    target.evaluate(&mut batch).ok()?;
    if draws.is_empty() || batch.log_likelihood.iter().any(|l| *l != 0.0) {
        return None;
    }
    let whole = prior
        .log_prior_integral
        .map_or_else(String::new, |log| format!("; the density of the program as it stands integrates to e^{log:.4}"));
    Some(format!(
        "no term of the program looks at a variable of its data block, so that all of it was taken for the prior, whose \
         integral is 1, and nothing for the likelihood: the numbers above say nothing{whole}"
    ))
}

/// What the likelihood integrates to over the outcomes.
enum Integral {
    /// The same for all parameters, on the log scale; 0 for a density.
    Constant(f64),
    DependsOnParameters,
    Unknown,
}

fn integral(problem: &Problem, seed: u64) -> Integral {
    let how = Generation { likelihood_only: true, until: Some(Instant::now() + PATIENCE), ..Generation::default() };
    let session = Session { seed, ..Session::default() };
    match Generative::read(problem, &how, Outcomes::Given, &session) {
        Ok(read) => read.log_likelihood_integral.map_or(Integral::Unknown, Integral::Constant),
        Err(Error::Reading { problems, .. }) if problems.iter().any(|p| p.code == "not-a-density") => {
            Integral::DependsOnParameters
        }
        Err(_) => Integral::Unknown,
    }
}

/// ∫ p(y | θ) dy = c for all θ gives log p(y) + log c in the place of log p(y); if it depends on θ there is no such thing
/// as p(y). A censored observation counts with the probability that it is censored: that is no density of when it was,
/// but a likelihood of what was seen all the same, if the others have a density. Where nothing can be found out, nothing
/// is said.
fn likelihood(prior: &PriorReading<'_>, seed: u64) -> Option<String> {
    let found = match integral(prior.problem, seed) {
        Integral::DependsOnParameters => match prior.problem.with_censored_weights() {
            Some(others) => integral(&others, seed),
            None => Integral::DependsOnParameters,
        },
        found => found,
    };
    match found {
        Integral::Constant(log) if log.abs() > NOTICED => Some(format!(
            "the likelihood integrates to e^{log:.3} over the outcomes, as far as was found, whatever the parameters are, and \
             not to 1: the numbers above are those of the program as it stands; if a constant is missing in it, subtract \
             {log:.3} from them for a density of the outcomes"
        )),
        Integral::DependsOnParameters => Some(
            "the likelihood is no density of the outcomes: what it integrates to depends on the parameters, so that this \
             is the integral of prior times likelihood, and not to be compared with the log p(y) of other models \
             (`crust check` has the numbers)"
                .to_owned(),
        ),
        _ => None,
    }
}

/// Bounds that depend on what is drawn cut the prior as a whole. Estimators divide by what is left, P: p(y) is that of
/// the prior given that all bounds hold. Where bounds stand for data (censored values as parameters), p(y and the
/// bounds) = P p(y) is meant.
fn share(prior: &PriorReading<'_>, seed: u64) -> Option<String> {
    let key = StreamKey::new(seed, Purpose::PRIOR).dataset(u32::MAX);
    let kept = prior.simulator.share_kept(ATTEMPTS, key)?;
    let share = f64::from(kept) / f64::from(ATTEMPTS);
    if kept == 0 {
        return Some(format!(
            "the prior is taken given that its parameters fit all their constraints, which none of {ATTEMPTS} draws do; \
             where constraints stand for data, such as the bounds of censored values, the logarithm of how probable that \
             is has to be added"
        ));
    }
    let error = ((1.0 - share) / f64::from(kept)).sqrt();
    Some(format!(
        "the prior is taken given that its parameters fit all their constraints, which {:.3} % of the draws do; where \
         constraints stand for data, such as the bounds of censored values, add the logarithm of that, {:.3} ± {:.3}",
        100.0 * share,
        share.ln(),
        error
    ))
}
