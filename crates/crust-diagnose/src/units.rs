//! Units of work as values, and their names: minted and read here and nowhere else.
//!
//! A unit says everything that is needed to do it, wherever that is: a process with the same experiment (and the same
//! fitted hyperparameters, if there are any) gives the same result. The journal keeps results under the units' names.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// The number of the real data; simulated datasets are counted from 1.
pub const REAL: u32 = 0;
/// The real data in the place of simulated ones: what they are compared with is given the real data *and* others.
pub const TWIN: u32 = u32::MAX;

/// The name of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct UnitName {
    /// Which entry of a comparison it belongs to, from 1 on; none if there is only one.
    pub way: Option<u32>,
    pub dataset: u32,
    pub part: Part,
}

/// What a unit is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Fit,
    Pilot,
    /// Starts of reverse chains; their number, if there are more than the plan has.
    Starts {
        more: Option<usize>,
    },
    /// Starts after fewer steps.
    StartsFewer,
    Rank,
    /// Chains at T, from a number on.
    Anneal {
        t: usize,
        chains: Annealed,
        first: u32,
    },
}

/// Which chains are annealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Annealed {
    Forward,
    Reverse,
    /// Reverse chains from starts after fewer steps.
    ReverseFewer,
}

impl Annealed {
    const ALL: [Self; 3] = [Self::Forward, Self::Reverse, Self::ReverseFewer];

    fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Reverse => "reverse",
            Self::ReverseFewer => "reverse-fewer",
        }
    }
}

/// A text that is no unit's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the name of a unit of work")]
pub struct BadName(pub String);

impl fmt::Display for UnitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { way, dataset, part } = self;
        if let Some(way) = way {
            write!(f, "way-{way}/")?;
        }
        match part {
            Part::Fit => write!(f, "fit/{dataset}"),
            Part::Pilot => write!(f, "pilot/{dataset}"),
            Part::Starts { more: None } => write!(f, "starts/{dataset}"),
            Part::Starts { more: Some(chains) } => write!(f, "starts/{dataset}/{chains}"),
            Part::StartsFewer => write!(f, "starts-fewer/{dataset}"),
            Part::Rank => write!(f, "rank/{dataset}"),
            Part::Anneal { t, chains, first } => write!(f, "anneal/{dataset}/{t}/{}/{first}", chains.name()),
        }
    }
}

impl FromStr for UnitName {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        let bad = || BadName(text.to_owned());
        let mut words = text.split('/').peekable();
        let way =
            words.peek().and_then(|word| word.strip_prefix("way-")).map(number).transpose().map_err(|()| bad())?;
        if way.is_some() {
            words.next();
        }
        let words: Vec<&str> = words.collect();
        let (part, dataset) = match words[..] {
            ["fit", dataset] => (Part::Fit, dataset),
            ["pilot", dataset] => (Part::Pilot, dataset),
            ["starts", dataset] => (Part::Starts { more: None }, dataset),
            ["starts", dataset, chains] => (Part::Starts { more: Some(number(chains).map_err(|()| bad())?) }, dataset),
            ["starts-fewer", dataset] => (Part::StartsFewer, dataset),
            ["rank", dataset] => (Part::Rank, dataset),
            ["anneal", dataset, t, chains, first] => {
                let chains = Annealed::ALL.into_iter().find(|c| c.name() == chains).ok_or_else(bad)?;
                let (t, first) = (number(t).map_err(|()| bad())?, number(first).map_err(|()| bad())?);
                (Part::Anneal { t, chains, first }, dataset)
            }
            _ => return Err(bad()),
        };
        Ok(Self { way, dataset: number(dataset).map_err(|()| bad())?, part })
    }
}

/// A number as this module writes it: no sign and no zero in front, so that a name is read in one way only.
fn number<N: FromStr + ToString>(word: &str) -> Result<N, ()> {
    let number: N = word.parse().map_err(|_| ())?;
    if number.to_string() == word { Ok(number) } else { Err(()) }
}

impl TryFrom<String> for UnitName {
    type Error = BadName;

    fn try_from(text: String) -> Result<Self, BadName> {
        text.parse()
    }
}

impl From<UnitName> for String {
    fn from(name: UnitName) -> Self {
        name.to_string()
    }
}

/// A unit of work, over kernels K and states S.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(deserialize = "K: serde::de::DeserializeOwned, S: serde::de::DeserializeOwned"))]
pub struct Unit<'a, K: Clone, S: Clone> {
    pub way: Option<u32>,
    pub dataset: u32,
    pub task: Task<'a, K, S>,
}

/// What is to be done with a dataset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
#[serde(bound(deserialize = "K: serde::de::DeserializeOwned, S: serde::de::DeserializeOwned"))]
pub enum Task<'a, K: Clone, S: Clone> {
    /// The fit of the real data.
    Fit,
    /// The pilot run.
    Pilot,
    /// Starts of reverse chains: transitions at β = 1 from the generating values.
    Starts {
        kernels: Cow<'a, K>,
        truth: Cow<'a, S>,
        chains: usize,
        steps: usize,
        /// For the check that their number does not matter.
        fewer: bool,
        /// More chains than the plan has: their number is in the name.
        more: bool,
    },
    /// The ranks of the generating values.
    Rank { kernels: Cow<'a, K> },
    /// Forward chains, from draws of the prior.
    Forward { kernels: Cow<'a, K>, t: usize, first: u32, chains: usize },
    /// Reverse chains, one from each start.
    Reverse { kernels: Cow<'a, K>, t: usize, first: u32, starts: Cow<'a, [S]>, fewer: bool },
}

impl<K: Clone, S: Clone> Unit<'_, K, S> {
    pub fn name(&self) -> UnitName {
        let part = match &self.task {
            Task::Fit => Part::Fit,
            Task::Pilot => Part::Pilot,
            Task::Starts { fewer: true, .. } => Part::StartsFewer,
            Task::Starts { chains, more, .. } => Part::Starts { more: more.then_some(*chains) },
            Task::Rank { .. } => Part::Rank,
            &Task::Forward { t, first, .. } => Part::Anneal { t, chains: Annealed::Forward, first },
            &Task::Reverse { t, first, fewer: false, .. } => Part::Anneal { t, chains: Annealed::Reverse, first },
            &Task::Reverse { t, first, .. } => Part::Anneal { t, chains: Annealed::ReverseFewer, first },
        };
        UnitName { way: self.way, dataset: self.dataset, part }
    }

    /// How many transitions it takes; 0 if that is not known beforehand.
    pub fn transitions(&self) -> usize {
        match &self.task {
            Task::Fit | Task::Pilot => 0,
            Task::Starts { chains, steps, .. } => chains * steps,
            Task::Rank { .. } => crate::bdmc::RANK_TRANSITIONS,
            Task::Forward { t, chains, .. } => t * chains,
            Task::Reverse { t, starts, .. } => t * starts.len(),
        }
    }

    /// What is done, in words for a progress bar.
    pub fn title(&self) -> String {
        let data = if matches!(self.dataset, REAL | TWIN) {
            "the data".to_owned()
        } else {
            format!("simulated data {}", self.dataset)
        };
        match (&self.task, self.name().part) {
            (Task::Fit, _) => "fitting the data with NUTS".to_owned(),
            (Task::Pilot, _) => "pilot run".to_owned(),
            (Task::Starts { steps, .. }, _) => format!("{steps} transitions before the reverse chains"),
            (Task::Rank { .. }, _) => "checking simulator and kernels".to_owned(),
            (_, Part::Anneal { t, chains, .. }) => format!("{}, T = {t}, {data}", chains.name()),
            (_, _) => data,
        }
    }
}

/// Transitions of a unit at most: what a killed run has to do again.
const MOST_TRANSITIONS: usize = 100_000;
/// Units of some of the chains have multiples of this: two threads have full vector registers then.
const FEWEST_CHAINS: usize = 16;

/// Divides the chains of a rung into units. The division depends on nothing that may change between a run and its
/// resumption.
pub(crate) fn divide(t: usize, chains: Range<usize>) -> impl Iterator<Item = (u32, Range<usize>)> {
    let most = (MOST_TRANSITIONS / t.max(1)).clamp(FEWEST_CHAINS, chains.len().max(FEWEST_CHAINS));
    let each = if most < chains.len() { most / FEWEST_CHAINS * FEWEST_CHAINS } else { most };
    let end = chains.end;
    chains
        .step_by(each)
        .filter_map(move |first| Some((u32::try_from(first).ok()?, first..first + each.min(end - first))))
}
