//! What all bounds say together, in a sentence.

use super::functional::Kind;
use super::sizes::Tolerances;
use super::{Judged, MOST_CORRELATION, MOST_MARGIN};
use serde::{Deserialize, Serialize};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// No error that matters was found, and the chains have moved.
    Good,
    /// An error that matters is certain, at the level of all bounds together.
    Bad,
    /// No error was found, but none could be: the chains have hardly moved, were still on their way, or are too few.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    pub level: Level,
    pub sentence: String,
}

/// What speaks against a verdict.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doubts {
    pub rho2_max: f64,
    pub still_moving: bool,
    pub margin_max: f64,
}

/// Based on the simultaneous bounds. Errors matter from half of what is worth noticing on, since bounds are below them:
/// with many chains every run of a Markov chain is wrong somewhere by a hundredth of a standard deviation.
pub(super) fn verdict(functionals: &[Judged], tolerances: &Tolerances, doubts: Doubts) -> Verdict {
    let Doubts { rho2_max, still_moving, margin_max } = doubts;
    let moved = rho2_max <= MOST_CORRELATION;
    let larger = |a: &&Judged, b: &&Judged| a.relative.total_cmp(&b.relative);
    let matters = |f: &&Judged| match f.kind {
        Kind::LogVariance | Kind::Deviation => f.relative > 0.25 * tolerances.log_variance,
        Kind::Mean | Kind::Quantile(_) | Kind::Covariance | Kind::Probability => f.relative > 0.5 * tolerances.mean,
    };
    if let Some(worst) = functionals.iter().filter(matters).max_by(larger) {
        let others = functionals.iter().filter(|f| f.simultaneous_lower_bound > 0.0).count() - 1;
        let more = match others {
            0 => String::new(),
            1 => "; 1 other functional is wrong as well".to_owned(),
            n => format!("; {n} other functionals are wrong as well"),
        };
        let caution = match (moved, still_moving) {
            (false, _) => ". The chains have hardly moved in some direction: errors may be larger",
            (true, true) => ". The chains were still on their way: errors may be larger, and small ones may go away",
            (true, false) => "",
        };
        return Verdict { level: Level::Bad, sentence: format!("{}{more}{caution}", worst.sentence()) };
    }
    let small = functionals.iter().filter(|f| f.simultaneous_lower_bound > 0.0).max_by(larger);
    let unknown = |sentence: String| Verdict { level: Level::Unknown, sentence };
    if functionals.is_empty() {
        unknown("nothing that was asked for varies, so that there was nothing to judge".to_owned())
    } else if !moved {
        unknown(format!(
            "no error that matters was found, but the chains have hardly moved (the correlation of their ends with their starts is \
             {:.2}): run them longer or with another kernel",
            rho2_max.sqrt()
        ))
    } else if still_moving {
        unknown("no error that matters was found, but the chains were still on their way: run them longer".to_owned())
    } else if margin_max > MOST_MARGIN {
        unknown(format!(
            "no error that matters was found, but an error of {margin_max:.1} standard deviations of a mean could not have been: \
             there are too few chains, or the draws are worth too few independent ones"
        ))
    } else {
        let n = functionals.len();
        let sentence = match small {
            None => format!("no error was found in {n} functionals"),
            Some(small) => {
                format!(
                    "no error that matters was found in {n} functionals; the largest that is certain: {}",
                    small.sentence()
                )
            }
        };
        Verdict { level: Level::Good, sentence }
    }
}

impl Verdict {
    /// Takes back that it is good: chains do not find modes that are far from where they start.
    pub fn doubt(&mut self, why: &str) {
        if self.level == Level::Good {
            self.level = Level::Unknown;
            self.sentence = format!("{}, but {why}", self.sentence);
        }
    }

    /// Counts KL(q‖p) in nats, which is at least so much, if that is more than is acceptable: what is wrong may be in no
    /// functional that was looked at, as a correlation is in none of the marginal ones.
    pub fn heed_divergence(&mut self, at_least: f64, acceptable: f64) {
        if at_least.is_nan() || at_least < acceptable {
            return;
        }
        let size = if at_least.is_finite() { format!("at least {at_least:.1} nats") } else { "infinite".to_owned() };
        self.sentence = match self.level {
            Level::Bad => format!("{}. KL(q‖p) is {size}", self.sentence),
            Level::Good => format!(
                "KL(q‖p) is {size}: correlations or other joint features are wrong, though no functional looked at is"
            ),
            Level::Unknown => format!("KL(q‖p) is {size}, though the chains did not tell what is wrong"),
        };
        self.level = Level::Bad;
    }
}

impl Judged {
    /// What is wrong, for people.
    pub fn sentence(&self) -> String {
        let low = self.improved > self.approximation;
        let bound = self.simultaneous_lower_bound;
        let of = self.name.split_once('(').map_or("", |(_, rest)| rest.strip_suffix(')').unwrap_or(rest));
        let percent = |share: f64| match share {
            ..0.01 => format!("{:.1} %", 100.0 * share),
            ..9.995 => format!("{:.0} %", 100.0 * share),
            _ => format!("a factor of {:.0}", 1.0 + share),
        };
        let (size, times) = (if low { "small" } else { "large" }, if low { "low" } else { "high" });
        match self.kind {
            Kind::LogVariance => {
                let share = if low { -(-0.5 * bound).exp_m1() } else { (0.5 * bound).exp_m1() };
                format!("the standard deviation of {of} is too {size} by at least {}", percent(share))
            }
            Kind::Deviation => {
                // Of the true one, which lies beyond the end of the interval that is closer to the approximation.
                let truth = self.approximation + if low { bound } else { -bound };
                let share = bound / truth.abs();
                format!("the standard deviation of {of} is too {size} by at least {}", percent(share))
            }
            Kind::Mean => {
                format!("the mean of {of} is too {times} by at least {:.2} standard deviations", self.relative)
            }
            Kind::Quantile(p) => {
                let of = of.rsplit_once(", ").map_or(of, |(of, _)| of);
                let percent = 100.0 * p;
                format!(
                    "the {percent} % quantile of {of} is too {times} by at least {:.2} standard deviations",
                    self.relative
                )
            }
            Kind::Covariance => format!("the covariance of {of} is too {times} by at least {bound:.3e}"),
            Kind::Probability => format!("the probability of {of} is too {times} by at least {bound:.3}"),
        }
    }
}
