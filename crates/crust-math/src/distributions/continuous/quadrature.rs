//! Integrals of positive functions that fall off, for distribution functions without a closed form in the tails.

/// Nodes and weights of Gauss–Legendre quadrature with 16 points on [−1, 1], the positive half.
const NODES: [(f64, f64); 8] = [
    (0.095_012_509_837_637_44, 0.189_450_610_455_068_5),
    (0.281_603_550_779_258_9, 0.182_603_415_044_923_6),
    (0.458_016_777_657_227_4, 0.169_156_519_395_002_54),
    (0.617_876_244_402_643_7, 0.149_595_988_816_576_73),
    (0.755_404_408_355_003, 0.124_628_971_255_533_87),
    (0.865_631_202_387_831_7, 0.095_158_511_682_492_78),
    (0.944_575_023_073_232_6, 0.062_253_523_938_647_89),
    (0.989_400_934_991_649_9, 0.027_152_459_411_754_095),
];
const PANELS: u32 = 10;
/// Where an integrand has fallen by this much in the log, the rest does not matter.
const DROP: f64 = 42.0;

/// ∫₀^L exp(g(s)) ds for a g with g(0) = 0 that falls with s, and the same integral with the weight w(s), as a pair.
///
/// The interval is cut where g has fallen by 42; what remains is one smooth descent, for which ten panels are plenty.
pub(super) fn falling(length: f64, g: impl Fn(f64) -> f64, w: impl Fn(f64) -> f64) -> (f64, f64) {
    let length = reach(length, &g);
    let half = 0.5 * length / f64::from(PANELS);
    let (mut sum, mut weighted) = (0.0, 0.0);
    for panel in (0..PANELS).rev() {
        let centre = (2.0 * f64::from(panel) + 1.0) * half;
        for (node, weight) in NODES {
            for s in [centre - half * node, centre + half * node] {
                let mass = weight * g(s).exp();
                sum += mass;
                weighted += mass * w(s);
            }
        }
    }
    (sum * half, weighted * half)
}

/// The s ≤ length up to which g falls by [`DROP`], to within a factor of about 1.1.
fn reach(length: f64, g: &impl Fn(f64) -> f64) -> f64 {
    let mut high = length.min(1.0);
    while high < length && g(high) > -DROP {
        high = (2.0 * high).min(length);
    }
    let mut low = 0.5 * high;
    while low > 0.0 && g(low) < -DROP {
        high = low;
        low *= 0.5;
    }
    for _ in 0..4 {
        let middle = 0.5 * (low + high);
        if g(middle) < -DROP {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}
