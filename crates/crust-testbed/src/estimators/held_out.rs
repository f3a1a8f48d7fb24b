//! The likelihood of cases that were held out: parameters fixed, the latent variables of each case integrated out.

use crust_infer::drive::Control;
use crust_math::random::StreamKey;

use super::{Error, Estimator, Problem};
use crate::model::HeldOut;

/// An estimate of log p(y | θ) of each case. Only the latent variables of one case are unknown, so estimators that are
/// hopeless for the whole model, such as likelihood weighting, may do (section 3.1).
pub fn held_out<M: HeldOut, E: Estimator<M::Case>>(
    model: &M,
    parameters: &M::Parameters,
    cases: &[Vec<f64>],
    estimator: &E,
    key: StreamKey,
    control: &Control,
) -> Result<Vec<f64>, Error> {
    let log_likelihood = |(y, dataset): (&Vec<f64>, u32)| {
        let case = model.case(parameters, y);
        estimator.estimate(&Problem { model: &case, exact: None, control }, key.dataset(dataset))
    };
    cases.iter().zip(key.dataset..).map(log_likelihood).collect()
}
