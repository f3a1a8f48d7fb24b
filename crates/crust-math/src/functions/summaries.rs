//! Functions that summarise or rearrange a container.

mod exponentials;
mod hypergeometric;
mod mixture;
mod order;
mod pairs;
mod reductions;
pub(super) mod sums;
mod vectors;

#[cfg(test)]
pub(super) mod tests;

use super::VectorFunction;

pub const ALL: &[&dyn VectorFunction] = &[
    &reductions::SUM,
    &reductions::PROD,
    &reductions::MEAN,
    &reductions::VARIANCE,
    &reductions::SD,
    &reductions::MIN,
    &reductions::MAX,
    &reductions::NORM1,
    &reductions::NORM2,
    &reductions::DOT_SELF,
    &reductions::LOG_SUM_EXP,
    &pairs::DOT_PRODUCT,
    &pairs::DISTANCE,
    &pairs::SQUARED_DISTANCE,
    &vectors::CUMULATIVE_SUM,
    &vectors::SOFTMAX,
    &vectors::LOG_SOFTMAX,
    &order::SORT_ASC,
    &order::SORT_DESC,
    &order::SORT_INDICES_ASC,
    &order::SORT_INDICES_DESC,
    &order::Rank,
    &order::Quantile,
    &mixture::LogMix,
    &hypergeometric::GAUSS,
    &hypergeometric::CLAUSEN,
    &hypergeometric::GENERALISED,
];
