//! Are the factors that variational updates return local maxima of the bound? (BDMC, appendix B, item 1.)

/// A change of the factors that raised the bound, which a local maximum does not allow.
#[derive(Clone, Debug, PartialEq)]
pub struct Rise {
    pub size: f64,
    pub bound: f64,
    pub raised: f64,
}

/// Looks for a small change that raises the bound. `changed(factors, size)` makes a random change of about that size to
/// the one factor that was updated last; at a maximum the bound falls by about size², so sizes must not be so small
/// that rounding decides.
pub fn find_rise<F, E>(
    factors: &F,
    sizes: &[f64],
    mut bound: impl FnMut(&F) -> Result<f64, E>,
    mut changed: impl FnMut(&F, f64) -> F,
) -> Result<Option<Rise>, E> {
    let here = bound(factors)?;
    let rounding = 1e-12 * (1.0 + here.abs());
    for &size in sizes {
        let raised = bound(&changed(factors, size))?;
        if raised > here + rounding {
            return Ok(Some(Rise { size, bound: here, raised }));
        }
    }
    Ok(None)
}
