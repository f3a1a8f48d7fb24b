//! The families of distributions, with their parameters.

/// What a parameter may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Any,
    /// A number between two bounds, which are included or not.
    Real {
        low: f64,
        high: f64,
        closed: [bool; 2],
    },
    /// An integer of at least this.
    Int(i64),
    /// A vector, with the bounds of its elements.
    Vector {
        low: f64,
        high: f64,
    },
    /// A vector or an array of numbers that are not negative.
    Weights,
    Matrix,
    Tensor {
        low: f64,
        high: f64,
    },
    /// An array of numbers that sum to 1.
    Probabilities,
    Array,
    /// An array of positive integers.
    Dims,
}

const INF: f64 = f64::INFINITY;
pub const REAL: Kind = Kind::Real { low: -INF, high: INF, closed: [false; 2] };
pub const POSITIVE: Kind = Kind::Real { low: 0.0, high: INF, closed: [false; 2] };
const UNIT: Kind = Kind::Real { low: 0.0, high: 1.0, closed: [true; 2] };

impl Kind {
    /// WebPPL's words for it.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Real { high: 1.0, .. } => "real [0, 1]",
            Self::Real { low: 0.0, .. } => "real (0, Infinity)",
            Self::Real { .. } => "real",
            Self::Int(1) => "int (>=1)",
            Self::Int(_) => "int (>=0)",
            Self::Vector { high: 1.0, .. } => "vector [0, 1]",
            Self::Vector { low: 0.0, .. } => "vector (0, Infinity)",
            Self::Vector { .. } => "vector",
            Self::Weights => "vector or real array [0, Infinity)",
            Self::Matrix => "positive definite matrix",
            Self::Tensor { low: 0.0, .. } => "tensor (0, Infinity)",
            Self::Tensor { .. } => "tensor",
            Self::Probabilities => "real array with elements that sum to one",
            Self::Array => "any array",
            Self::Dims => "int (>=1) array",
        }
    }
}

/// A parameter of a family.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub kind: Kind,
    pub optional: bool,
}

const fn p(name: &'static str, kind: Kind) -> Parameter {
    Parameter { name, kind, optional: false }
}

const VECTOR: Kind = Kind::Vector { low: -INF, high: INF };
const POSITIVE_VECTOR: Kind = Kind::Vector { low: 0.0, high: INF };

macro_rules! families {
    ($($name:ident $shown:literal $helper:literal [$($parameter:expr),*],)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Family { $($name),* }

        impl Family {
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $shown),*
                }
            }

            /// The function that draws from the family, if there is one.
            pub fn helper(self) -> &'static str {
                match self { $(Self::$name => $helper),* }
            }

            pub fn parameters(self) -> &'static [Parameter] {
                match self { $(Self::$name => {
                    const LIST: &[Parameter] = &[$($parameter),*];
                    LIST
                }),* }
            }
        }
    };
}

families! {
    Bernoulli "Bernoulli" "bernoulli" [p("p", UNIT)],
    Beta "Beta" "beta" [p("a", POSITIVE), p("b", POSITIVE)],
    Binomial "Binomial" "binomial" [p("p", UNIT), p("n", Kind::Int(1))],
    Categorical "Categorical" "categorical" [Parameter { name: "ps", kind: Kind::Weights, optional: true }, p("vs", Kind::Array)],
    Cauchy "Cauchy" "cauchy" [p("location", REAL), p("scale", POSITIVE)],
    Delta "Delta" "delta" [p("v", Kind::Any)],
    DiagCovGaussian "DiagCovGaussian" "diagCovGaussian" [p("mu", Kind::Tensor { low: -INF, high: INF }), p("sigma", Kind::Tensor { low: 0.0, high: INF })],
    Dirichlet "Dirichlet" "dirichlet" [p("alpha", POSITIVE_VECTOR)],
    Discrete "Discrete" "discrete" [p("ps", Kind::Weights)],
    Exponential "Exponential" "exponential" [p("a", POSITIVE)],
    Gamma "Gamma" "gamma" [p("shape", POSITIVE), p("scale", POSITIVE)],
    Gaussian "Gaussian" "gaussian" [p("mu", REAL), p("sigma", POSITIVE)],
    ImproperUniform "ImproperUniform" "" [],
    IspNormal "IspNormal" "ispNormal" [p("mu", REAL), p("sigma", POSITIVE)],
    Kde "KDE" "" [p("data", Kind::Any), Parameter { name: "width", kind: Kind::Any, optional: true }],
    Laplace "Laplace" "laplace" [p("location", REAL), p("scale", POSITIVE)],
    LogisticNormal "LogisticNormal" "logisticNormal" [p("mu", VECTOR), p("sigma", POSITIVE_VECTOR)],
    LogitNormal "LogitNormal" "logitNormal" [p("mu", REAL), p("sigma", POSITIVE), p("a", REAL), p("b", REAL)],
    LogNormal "LogNormal" "logNormal" [p("mu", REAL), p("sigma", POSITIVE)],
    Marginal "Marginal" "" [p("dist", Kind::Any)],
    Mixture "Mixture" "mixture" [p("dists", Kind::Any), p("ps", Kind::Weights)],
    Multinomial "Multinomial" "multinomial" [p("ps", Kind::Probabilities), p("n", Kind::Int(1))],
    MultivariateBernoulli "MultivariateBernoulli" "multivariateBernoulli" [p("ps", Kind::Vector { low: 0.0, high: 1.0 })],
    MultivariateGaussian "MultivariateGaussian" "multivariateGaussian" [p("mu", VECTOR), p("cov", Kind::Matrix)],
    Poisson "Poisson" "poisson" [p("mu", POSITIVE)],
    RandomInteger "RandomInteger" "randomInteger" [p("n", Kind::Int(1))],
    SampleBasedMarginal "SampleBasedMarginal" "" [p("samples", Kind::Any)],
    TensorGaussian "TensorGaussian" "tensorGaussian" [p("mu", REAL), p("sigma", POSITIVE), p("dims", Kind::Dims)],
    TensorLaplace "TensorLaplace" "tensorLaplace" [p("location", REAL), p("scale", POSITIVE), p("dims", Kind::Dims)],
    Uniform "Uniform" "uniform" [p("a", REAL), p("b", REAL)],
}

impl Family {
    /// Whether one or two numbers are all its parameters.
    pub fn is_of_numbers(self) -> bool {
        let parameters = self.parameters();
        (1..=2).contains(&parameters.len())
            && parameters.iter().all(|p| matches!(p.kind, Kind::Real { .. } | Kind::Int(_)))
    }

    pub fn is_continuous(self) -> bool {
        !matches!(
            self,
            Self::Bernoulli
                | Self::Binomial
                | Self::Categorical
                | Self::Delta
                | Self::Discrete
                | Self::Marginal
                | Self::Multinomial
                | Self::MultivariateBernoulli
                | Self::Poisson
                | Self::RandomInteger
                | Self::SampleBasedMarginal
                | Self::Mixture
        )
    }
}
