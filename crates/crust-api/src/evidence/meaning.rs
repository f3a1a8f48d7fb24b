//! What log p(y) is about, where a program leaves that open: a likelihood that is no density of the outcome, and a prior
//! of which declarations leave a part that nobody has told.

use super::prior::PriorReading;
use crate::error::Error;
use crate::generative::{Generation, Generative, NOTICED, Outcomes};
use crate::session::Session;
use crust_math::random::{Purpose, StreamKey};
use std::time::{Duration, Instant};

/// How long the likelihood is looked at, where its values have to be added up.
const PATIENCE: Duration = Duration::from_secs(3);

/// So many draws of the prior tell how many of them fit.
const ATTEMPTS: u32 = 4000;

/// What the reader must know of the number, for people.
pub(super) fn remarks(prior: &PriorReading<'_>, session: &Session<'_>) -> Vec<String> {
    [likelihood(prior, session.seed), share(prior, session.seed)].into_iter().flatten().collect()
}

/// ∫ p(y | θ) dy = c for all θ gives log p(y) + log c in the place of log p(y); if it depends on θ there is no such thing
/// as p(y). Where nothing can be found out, nothing is said.
fn likelihood(prior: &PriorReading<'_>, seed: u64) -> Option<String> {
    let how = Generation { likelihood_only: true, until: Some(Instant::now() + PATIENCE), ..Generation::default() };
    let session = Session { seed, ..Session::default() };
    match Generative::read(prior.problem, &how, Outcomes::Given, &session) {
        Ok(read) => {
            let log = read.log_likelihood_integral.filter(|log| log.abs() > NOTICED)?;
            Some(format!(
                "the likelihood integrates to e^{log:.3} over the outcomes, whatever the parameters are, and not to 1: \
                 the numbers above are those of the program as it stands; subtract {log:.3} from them for a density of \
                 the outcomes"
            ))
        }
        Err(Error::Reading { problems, .. }) if problems.iter().any(|p| p.code == "not-a-density") => Some(
            "the likelihood is no density of the outcomes: what it integrates to depends on the parameters, so that this \
             is the integral of prior times likelihood, and not to be compared with the log p(y) of other models \
             (`crust check` has the numbers)"
                .to_owned(),
        ),
        Err(_) => None,
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
