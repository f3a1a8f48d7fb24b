//! Which estimators the testbed runs, and how their knobs are turned.

use crate::estimators::{
    Ais, Bic, BothDirections, ChibMurraySalakhutdinov, Estimator, HarmonicMean, LikelihoodWeighting, NestedSampling,
    PathMethod, PathSampling, Resampling, ReverseAis, Shme, Shrinkage, Smc, TemperedSmc, VariationalBayes,
};
use crate::model::{Constrained, Fit, Proposal, Sequential, Transition, Variational};

/// A model that every estimator can be run on.
pub trait Complete: Sequential + Transition + Variational + Constrained + Fit {}

impl<M: Sequential + Transition + Variational + Constrained + Fit> Complete for M {}

/// An estimator with its knob left open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    Bic,
    LikelihoodWeighting,
    HarmonicMean,
    Ais,
    ReverseAis,
    Smc,
    SmcParticles,
    Shme,
    VariationalBayes,
    VariationalBayesWithSymmetry,
    ChibMurraySalakhutdinov,
    NestedSampling,
    NestedParticles,
    BothDirections,
    Bridge,
    SteppingStone,
    Thermodynamic,
    TemperedSmc,
}

/// How much work there is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effort {
    /// Small data and short runs, to see that everything works.
    Quick,
    /// The sizes of the paper.
    Full,
}

/// Draws at each distribution of a path.
const SWEEPS: usize = 10;
/// Chains in each direction that Bennett's ratio is taken of.
const CHAINS: u32 = 10;
/// Particles of tempered SMC.
const PARTICLES: usize = 32;
/// Transitions at each step of nested sampling and after each case of particle learning, with many particles. Of
/// particle learning's time they are better spent on these than on more particles: on binary attributes 64 particles
/// with 10 transitions are more accurate than 1024 with one, at a third of the cost.
const MOVES: usize = 10;
/// Length of the annealed chain whose end is x\* of the CMS estimator.
const PILOT: usize = 100;

impl Family {
    /// In the order of the paper, then what it does not have.
    pub const ALL: [Self; 18] = [
        Self::Bic,
        Self::LikelihoodWeighting,
        Self::HarmonicMean,
        Self::Ais,
        Self::ReverseAis,
        Self::Smc,
        Self::SmcParticles,
        Self::Shme,
        Self::VariationalBayes,
        Self::VariationalBayesWithSymmetry,
        Self::ChibMurraySalakhutdinov,
        Self::NestedSampling,
        Self::NestedParticles,
        Self::BothDirections,
        Self::Bridge,
        Self::SteppingStone,
        Self::Thermodynamic,
        Self::TemperedSmc,
    ];

    /// What it is called on the command line.
    pub fn id(self) -> &'static str {
        match self {
            Self::Bic => "bic",
            Self::LikelihoodWeighting => "lw",
            Self::HarmonicMean => "hme",
            Self::Ais => "ais",
            Self::ReverseAis => "reverse-ais",
            Self::Smc => "smc",
            Self::SmcParticles => "smc-particles",
            Self::Shme => "shme",
            Self::VariationalBayes => "vb",
            Self::VariationalBayesWithSymmetry => "vb-sym",
            Self::ChibMurraySalakhutdinov => "cms",
            Self::NestedSampling => "ns",
            Self::NestedParticles => "ns-particles",
            Self::BothDirections => "bar",
            Self::Bridge => "bridge",
            Self::SteppingStone => "stepping-stone",
            Self::Thermodynamic => "ti",
            Self::TemperedSmc => "tempered-smc",
        }
    }

    /// Its estimator at one setting of the knob.
    pub fn at<M: Complete>(self, knob: usize) -> Box<dyn Estimator<M>> {
        let path = |method| PathSampling { method, distributions: knob, sweeps: SWEEPS };
        let (proposal, resampling, threshold) = (Proposal::Posterior, Resampling::Systematic, 0.5);
        match self {
            Self::Bic => Box::new(Bic { restarts: knob }),
            Self::LikelihoodWeighting => Box::new(LikelihoodWeighting { proposals: knob }),
            Self::HarmonicMean => Box::new(HarmonicMean { draws: knob }),
            Self::Ais => Box::new(Ais { distributions: knob, chains: 1 }),
            Self::ReverseAis => Box::new(ReverseAis { distributions: knob, chains: 1 }),
            Self::Smc => Box::new(Smc::single(knob)),
            Self::SmcParticles => {
                Box::new(Smc { particles: knob, transitions: MOVES, proposal, threshold, resampling })
            }
            Self::Shme => Box::new(Shme::single(knob)),
            Self::VariationalBayes => Box::new(VariationalBayes { restarts: knob, symmetry_correction: false }),
            Self::VariationalBayesWithSymmetry => {
                Box::new(VariationalBayes { restarts: knob, symmetry_correction: true })
            }
            Self::ChibMurraySalakhutdinov => Box::new(ChibMurraySalakhutdinov { transitions: knob, pilot: PILOT }),
            Self::NestedSampling => {
                Box::new(NestedSampling { particles: 2, transitions: knob, shrinkage: Shrinkage::Geometric })
            }
            // The error of nested sampling with perfect moves is √(H / particles), where H is the information in the
            // data.
            Self::NestedParticles => {
                Box::new(NestedSampling { particles: knob, transitions: MOVES, shrinkage: Shrinkage::Geometric })
            }
            Self::BothDirections => Box::new(BothDirections { distributions: knob, chains: CHAINS }),
            Self::Bridge => Box::new(path(PathMethod::Bridge)),
            Self::SteppingStone => Box::new(path(PathMethod::SteppingStone)),
            Self::Thermodynamic => Box::new(path(PathMethod::Thermodynamic)),
            Self::TemperedSmc => Box::new(TemperedSmc { particles: PARTICLES, sweeps: knob, efficiency: 0.5 }),
        }
    }

    /// Settings of the knob, from quick and rough to slow and fine.
    pub fn ladder(self, effort: Effort) -> &'static [usize] {
        let (quick, full): (&[usize], &[usize]) = match self {
            Self::LikelihoodWeighting | Self::HarmonicMean => (&[10, 100], &[10, 100, 1000, 10_000]),
            Self::ChibMurraySalakhutdinov => (&[10, 100], &[10, 100, 1000, 3000]),
            Self::Ais | Self::ReverseAis => (&[10, 30, 100, 300], &[10, 30, 100, 300, 600, 1000, 3000, 10_000]),
            Self::Smc | Self::Shme | Self::NestedSampling => (&[1, 3, 10], &[1, 3, 10, 30, 100]),
            Self::SmcParticles => (&[4, 16], &[4, 16, 64, 256]),
            Self::NestedParticles => (&[4], &[4, 8]),
            Self::Bic | Self::VariationalBayes | Self::VariationalBayesWithSymmetry => (&[1], &[1, 3, 10]),
            Self::BothDirections => (&[10, 30], &[30, 100, 300, 1000]),
            Self::Bridge | Self::SteppingStone | Self::Thermodynamic => (&[10, 30], &[10, 30, 100, 300, 1000]),
            Self::TemperedSmc => (&[1, 3], &[1, 3, 10]),
        };
        if effort == Effort::Quick { quick } else { full }
    }
}

/// The estimators of some families, each with its ladder up to the greatest setting that the model allows.
pub fn roster<M: Complete>(
    families: &[Family],
    effort: Effort,
    greatest: impl Fn(Family) -> usize,
) -> Vec<Box<dyn Estimator<M>>> {
    let mut roster = vec![];
    for &family in families {
        let most = greatest(family);
        roster.extend(family.ladder(effort).iter().filter(|knob| **knob <= most).map(|&knob| family.at(knob)));
    }
    roster
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimators::urn::Urn;

    #[test]
    fn every_family_is_listed_once_and_turns_its_knob() {
        let mut ids: Vec<&str> = Family::ALL.iter().map(|f| f.id()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), Family::ALL.len());
        for family in Family::ALL {
            for effort in [Effort::Quick, Effort::Full] {
                for &knob in family.ladder(effort) {
                    assert_eq!(family.at::<Urn>(knob).knob().value, knob as u64, "{family:?}");
                }
            }
        }
        let all = roster::<Urn>(&Family::ALL, Effort::Full, |_| usize::MAX);
        let mut names: Vec<_> = all.iter().map(|e| (e.name(), e.knob())).collect();
        names.dedup();
        assert_eq!(names.len(), all.len(), "rows can be told apart");
        let some = roster::<Urn>(&[Family::Ais, Family::Bic], Effort::Full, |f| if f == Family::Ais { 30 } else { 99 });
        assert_eq!(some.iter().map(|e| e.knob().value).collect::<Vec<_>>(), [10, 30, 1, 3, 10]);
    }
}
