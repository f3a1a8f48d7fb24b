//! What the end of a function's name promises.

/// The endings of function names that have a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Suffix {
    Lpdf,
    Lpmf,
    /// Unnormalised density: constant terms may be dropped.
    Lupdf,
    Lupmf,
    Cdf,
    Lcdf,
    Lccdf,
    /// May read and change the target density.
    Lp,
    /// Draws random numbers.
    Rng,
    /// May change the Jacobian adjustment.
    Jacobian,
    /// An ordinary function.
    None,
}

const SUFFIXES: [(&str, Suffix); 10] = [
    ("_lpdf", Suffix::Lpdf),
    ("_lpmf", Suffix::Lpmf),
    ("_lupdf", Suffix::Lupdf),
    ("_lupmf", Suffix::Lupmf),
    ("_lcdf", Suffix::Lcdf),
    ("_lccdf", Suffix::Lccdf),
    ("_cdf", Suffix::Cdf),
    ("_lp", Suffix::Lp),
    ("_rng", Suffix::Rng),
    ("_jacobian", Suffix::Jacobian),
];

impl Suffix {
    pub fn of(name: &str) -> Self {
        Self::split(name).1
    }

    /// The name without its ending, and the ending.
    pub fn split(name: &str) -> (&str, Self) {
        for (ending, suffix) in SUFFIXES {
            if let Some(stem) = name.strip_suffix(ending) {
                return (stem, suffix);
            }
        }
        (name, Self::None)
    }

    /// Whether the first argument is set apart by `|`.
    pub fn is_conditional(self) -> bool {
        !matches!(self, Self::Lp | Self::Rng | Self::Jacobian | Self::None)
    }

    pub fn is_density(self) -> bool {
        matches!(self, Self::Lpdf | Self::Lpmf | Self::Lupdf | Self::Lupmf)
    }

    pub fn is_unnormalised(self) -> bool {
        matches!(self, Self::Lupdf | Self::Lupmf)
    }
}

/// `foo_lupdf` → `foo_lpdf`; other names stay as they are.
pub fn normalised(name: &str) -> String {
    match Suffix::split(name) {
        (stem, Suffix::Lupdf) => format!("{stem}_lpdf"),
        (stem, Suffix::Lupmf) => format!("{stem}_lpmf"),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_ending_counts() {
        assert_eq!(Suffix::split("normal_lccdf"), ("normal", Suffix::Lccdf));
        assert_eq!(Suffix::split("normal_cdf"), ("normal", Suffix::Cdf));
        assert_eq!(Suffix::split("poisson_log_lpmf"), ("poisson_log", Suffix::Lpmf));
        assert_eq!(Suffix::of("help"), Suffix::None);
        assert_eq!(normalised("foo_lupmf"), "foo_lpmf");
    }
}
