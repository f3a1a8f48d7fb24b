//! Draws of another run as the fit: `--draws`.

use super::fit::{Chain, Fitted, summarise};
use crate::bread::JudgedDraws;
use crate::error::{Error, SubjectError};
use crate::taddaa::Given;
use crust_engine::Model;
use std::path::PathBuf;
use std::sync::Arc;

/// The fewest draws of a chain that a fit is made of.
const FEWEST: usize = 50;

/// Reads the chains of a run, in any form that draws are read in, as unconstrained draws.
pub(crate) fn read(files: &[PathBuf], model: &Arc<Model>) -> Result<Vec<Chain>, Error> {
    let given = Given::read(files)?;
    let draws = &given.draws;
    let (least, _) = draws.lengths();
    if least < FEWEST {
        return Err(Error::subject(SubjectError::FewDraws { found: least, needed: FEWEST }));
    }
    let column = |name: &str| -> Vec<Vec<f64>> {
        draws.sampler(name).map(|parts| parts.into_iter().map(<[f64]>::to_vec).collect()).unwrap_or_default()
    };
    let (energies, divergent, densities) = (column("energy__"), column("divergent__"), column("lp__"));
    let all = given.unconstrain(model)?;
    let mut points = all.chunks(model.dimension().max(1)).map(<[f64]>::to_vec);
    let mut chains = Vec::new();
    for (k, chain) in draws.chains.iter().enumerate() {
        let of = |columns: &[Vec<f64>]| columns.get(k).cloned().unwrap_or_default();
        chains.push(Chain {
            points: points.by_ref().take(chain.sampling.len()).collect(),
            divergences: of(&divergent).iter().filter(|x| **x > 0.5).count(),
            energies: of(&energies),
            log_densities: of(&densities),
            ..Chain::default()
        });
    }
    chains.iter_mut().for_each(|chain| chain.cut(least));
    Ok(chains)
}

/// What the draws say as a fit.
pub(super) fn fit(chains: &[Chain], judged: &JudgedDraws, names: &[String]) -> Fitted {
    let mut fitted = summarise(chains.to_vec(), names.len(), names);
    fitted.fit.given = true;
    fitted.fit.wrong = judged.wrong.clone().unwrap_or_default();
    fitted.fit.warnings.extend(judged.open.clone());
    fitted
}

/// A number that differs for other draws, for the identity of a run (FNV-1a).
pub(crate) fn fingerprint(chains: &[Chain]) -> u64 {
    let numbers = chains.iter().flat_map(|chain| chain.points.iter().flatten());
    let bytes = numbers.flat_map(|x| x.to_bits().to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
