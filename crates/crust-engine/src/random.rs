//! Random number generators of Stan's library by name.

macro_rules! generators {
    ($($variant:ident = $name:literal, $arity:literal;)*) => {
        /// A generator of one random number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Generator {
            $($variant,)*
        }

        impl Generator {
            /// The generator with this name, the suffix `_rng` included.
            pub fn named(name: &str) -> Option<Self> {
                Some(match name.strip_suffix("_rng")? {
                    $($name => Self::$variant,)*
                    _ => return None,
                })
            }

            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!($name, "_rng"),)*
                }
            }

            pub fn arity(self) -> usize {
                match self {
                    $(Self::$variant => $arity,)*
                }
            }
        }
    };
}

generators! {
    Normal = "normal", 2;
    StdNormal = "std_normal", 0;
    Uniform = "uniform", 2;
    Exponential = "exponential", 1;
    Cauchy = "cauchy", 2;
    Gamma = "gamma", 2;
    InvGamma = "inv_gamma", 2;
    Beta = "beta", 2;
    ChiSquare = "chi_square", 1;
    InvChiSquare = "inv_chi_square", 1;
    ScaledInvChiSquare = "scaled_inv_chi_square", 2;
    StudentT = "student_t", 3;
    VonMises = "von_mises", 2;
    Lognormal = "lognormal", 2;
    DoubleExponential = "double_exponential", 2;
    Logistic = "logistic", 2;
    Gumbel = "gumbel", 2;
    Weibull = "weibull", 2;
    Frechet = "frechet", 2;
    Rayleigh = "rayleigh", 1;
    Pareto = "pareto", 2;
    SkewNormal = "skew_normal", 3;
    ExpModNormal = "exp_mod_normal", 3;
    Bernoulli = "bernoulli", 1;
    BernoulliLogit = "bernoulli_logit", 1;
    Poisson = "poisson", 1;
    PoissonLog = "poisson_log", 1;
    Binomial = "binomial", 2;
    BinomialLogit = "binomial_logit", 2;
    BetaBinomial = "beta_binomial", 3;
    NegBinomial = "neg_binomial", 2;
    NegBinomial2 = "neg_binomial_2", 2;
    NegBinomial2Log = "neg_binomial_2_log", 2;
    Hypergeometric = "hypergeometric", 3;
}
