//! Random arguments for each distribution, and what quadrature and differences need to know of them.

use std::f64::consts::PI;

/// Random numbers with a fixed seed for each name (Steele, Lea, Flood 2014: splitmix).
pub(super) struct Stream(u64);

impl Stream {
    pub fn new(name: &str) -> Self {
        Self(name.bytes().fold(0x5eed, |hash: u64, byte| hash.wrapping_mul(0x100_0000_01b3) ^ u64::from(byte)))
    }

    #[expect(clippy::cast_precision_loss, reason = "53 bits")]
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Uniform in the logarithm.
    fn positive(&mut self, low: f64, high: f64) -> f64 {
        self.between(low.ln(), high.ln()).exp()
    }

    /// Within ±size, but not near 0, where some densities have a kink.
    fn offset(&mut self, size: f64) -> f64 {
        let distance = self.between(0.1, size);
        if self.uniform() < 0.5 { distance } else { -distance }
    }
}

/// Arguments as they occur in models.
pub(super) fn typical(name: &str, stream: &mut Stream) -> Vec<f64> {
    draw(name, stream, 1.0)
}

/// Arguments far out in the tails, with more extreme shapes.
pub(super) fn wide(name: &str, stream: &mut Stream) -> Vec<f64> {
    draw(name, stream, 4.0)
}

fn draw(name: &str, s: &mut Stream, wide: f64) -> Vec<f64> {
    let location = s.between(-3.0, 3.0);
    let scale = s.positive(0.3, 3.0);
    let real = location + scale * s.offset(5.0 * wide);
    let shape = s.positive(0.7 / wide, 5.0 * wide * wide);
    let second = s.positive(0.7 / wide, 5.0 * wide * wide);
    let positive = s.positive(0.1 / wide, 4.0 * wide);
    let unit = s.between(0.05 / wide, 1.0 - 0.05 / wide);
    match name {
        "std_normal" => vec![s.offset(5.0 * wide)],
        "normal" | "cauchy" | "double_exponential" | "logistic" => vec![real, location, scale],
        "gumbel" => vec![location + scale * s.between(-2.5, 5.0 * wide), location, scale],
        "student_t" => vec![real, shape, location, scale],
        "skew_normal" => vec![real, location, scale, s.offset(2.0 * wide)],
        "skew_double_exponential" => vec![real, location, scale, unit],
        "exp_mod_normal" => vec![real, location, scale, s.positive(0.2 / wide, 3.0)],
        "lognormal" => vec![(0.4 * real).exp(), 0.4 * location, scale],
        "exponential" | "rayleigh" => vec![positive, scale],
        "chi_square" => vec![positive * 2.0, shape * 2.0],
        "inv_chi_square" => vec![positive, shape * 2.0],
        "scaled_inv_chi_square" => vec![positive, shape * 2.0, scale],
        "gamma" | "inv_gamma" | "weibull" | "frechet" => {
            let power = if matches!(name, "weibull" | "frechet") { shape.min(4.0) } else { shape };
            vec![positive, power, scale]
        }
        "loglogistic" => vec![positive, scale, shape],
        "pareto" => vec![scale * (1.0 + positive), scale, shape],
        "pareto_type_2" => vec![location.abs() + positive, location.abs(), scale, shape],
        "beta" => vec![unit, shape, second],
        "beta_proportion" => vec![unit, s.between(0.25, 0.75), 4.0 * shape],
        "von_mises" => vec![s.between(-3.1, 3.1), location, s.positive(0.3, 4.0 * wide * wide)],
        "uniform" => vec![location + scale * unit, location, location + scale],
        _ => panic!("no arguments for {name}"),
    }
}

/// The support's ends, and a point inside with a scale, where the density has no singularity but perhaps a kink.
pub(super) fn support(name: &str, point: &[f64]) -> (f64, f64, f64, f64) {
    let infinity = f64::INFINITY;
    match name {
        "std_normal" => (-infinity, infinity, 0.0, 1.0),
        "normal"
        | "cauchy"
        | "double_exponential"
        | "logistic"
        | "gumbel"
        | "skew_normal"
        | "skew_double_exponential"
        | "exp_mod_normal" => (-infinity, infinity, point[1], point[2]),
        "student_t" => (-infinity, infinity, point[2], point[3]),
        "pareto" => (point[1], infinity, 2.0 * point[1], point[1]),
        "pareto_type_2" => (point[1], infinity, point[1] + 1.0, 1.0),
        "beta" | "beta_proportion" => (0.0, 1.0, 0.5, 0.3),
        "von_mises" => (-PI, PI, 0.0, 1.0),
        "uniform" => (point[1], point[2], 0.5 * (point[1] + point[2]), 0.2),
        _ => (0.0, infinity, 1.0, 1.0),
    }
}

/// First steps for differences: short against the distance to the edge of the domain and to any kink.
pub(super) fn steps(name: &str, point: &[f64]) -> Vec<f64> {
    let room = |i: usize| match (name, i) {
        ("beta" | "beta_proportion", 0) | ("beta_proportion", 1) | ("skew_double_exponential", 3) => {
            point[i].min(1.0 - point[i])
        }
        ("uniform", _) => (point[0] - point[1]).min(point[2] - point[0]),
        ("pareto", 0 | 1) => (point[0] - point[1]).min(point[1]),
        ("pareto_type_2", 0 | 1) => point[0] - point[1],
        ("von_mises", 0) => PI - point[0].abs(),
        ("von_mises", 1) | ("std_normal", 0) | ("skew_normal", 3) => 0.5,
        ("student_t", 0 | 2) => point[3],
        ("normal" | "logistic" | "gumbel" | "skew_normal" | "exp_mod_normal" | "cauchy", 0 | 1) | ("lognormal", 1) => {
            point[2]
        }
        ("double_exponential" | "skew_double_exponential", 0 | 1) => (point[0] - point[1]).abs(),
        _ => point[i],
    };
    (0..point.len()).map(|i| 0.1 * room(i)).collect()
}
