//! Whether data simulated from the fitted model are of the size of the real ones.

use super::Fitted;

/// One outcome of a simulated dataset.
#[derive(Clone, Debug, PartialEq)]
pub struct Size {
    pub name: String,
    /// Its root mean square over that of the real data.
    pub ratio: f64,
}

/// Datasets that are looked at.
const DATASETS: u32 = 20;
/// A factor that no one would call similar.
const FAR: f64 = 30.0;

/// What to say if the first simulated dataset, or half of some, are of quite another size than the real data.
pub(super) fn notice<E: Fitted>(experiment: &mut E, first: u32) -> Result<Option<String>, E::Error> {
    let mut worst = vec![];
    for dataset in first..first + DATASETS {
        let sizes = experiment.sizes(dataset)?;
        let far = |size: &Size| size.ratio.ln().abs();
        worst.extend(sizes.into_iter().max_by(|a, b| far(a).total_cmp(&far(b))));
    }
    Ok(in_words(&worst, &experiment.not_fitted()))
}

fn in_words(worst: &[Size], not_fitted: &[String]) -> Option<String> {
    let is_far = |size: &&Size| !(1.0 / FAR..=FAR).contains(&size.ratio);
    let far = worst.iter().filter(is_far).count();
    let first = worst.first()?;
    if !is_far(&first) && 2 * far < worst.len() {
        return None;
    }
    let shown = worst.iter().find(is_far)?;
    let remedy = match not_fitted {
        [] => "A narrower prior would help.".to_owned(),
        names => format!(
            "Name parameters that should be fitted to the data instead of being drawn from the prior with `--hyper` (drawn now: {}).",
            names.join(", ")
        ),
    };
    Some(format!(
        "data simulated from the fitted model are not like yours: `{}` is {} in simulated data ({far} of {} simulated datasets are off by \
         more than a factor of {FAR}), so that the bound says little about your data: the prior alone does not predict data like them. {remedy}",
        shown.name,
        times(shown.ratio),
        worst.len()
    ))
}

/// A ratio for people.
fn times(ratio: f64) -> String {
    let (factor, word) = if ratio >= 1.0 { (ratio, "larger") } else { (1.0 / ratio, "smaller") };
    if factor < 1e4 {
        format!("{factor:.0} times {word}")
    } else if factor.is_finite() {
        format!("about 10^{:.0} times {word}", factor.log10())
    } else {
        format!("incomparably {word}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(ratios: &[f64]) -> Vec<Size> {
        ratios.iter().map(|&ratio| Size { name: "y".to_owned(), ratio }).collect()
    }

    #[test]
    fn only_another_size_is_worth_a_word() {
        assert_eq!(in_words(&[], &[]), None);
        assert_eq!(in_words(&sizes(&[1.2, 0.1, 29.0, 1e9]), &[]), None);
        // The first dataset is the one that is sandwiched.
        assert!(in_words(&sizes(&[1e9, 1.0, 1.0, 1.0]), &[]).is_some());
        let names = ["alpha".to_owned(), "beta".to_owned()];
        let text = in_words(&sizes(&[1.0, 2.5e7, 1e9, 40.0]), &names).expect("a notice");
        assert!(
            text.contains("10^7 times larger") && text.contains("3 of 4") && text.contains("alpha, beta"),
            "{text}"
        );
        let text = in_words(&sizes(&[0.01]), &[]).expect("a notice");
        assert!(text.contains("100 times smaller") && text.contains("narrower"), "{text}");
        assert!(in_words(&sizes(&[f64::INFINITY]), &[]).expect("a notice").contains("incomparably larger"));
    }
}
