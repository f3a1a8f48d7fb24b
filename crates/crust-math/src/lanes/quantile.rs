//! The quantile function of the standard normal distribution, by the rational functions of Wichura (1988, AS 241): one
//! in the middle, and two in the tails.

use super::logarithm::log;

const MIDDLE: [[f64; 8]; 2] = [
    [
        3.387_132_872_796_366_5,
        1.331_416_678_917_843_8e2,
        1.971_590_950_306_551_3e3,
        1.373_169_376_550_946e4,
        4.592_195_393_154_987e4,
        6.726_577_092_700_87e4,
        3.343_057_558_358_813e4,
        2.509_080_928_730_122_7e3,
    ],
    [
        1.0,
        4.231_333_070_160_091e1,
        6.871_870_074_920_579e2,
        5.394_196_021_424_751e3,
        2.121_379_430_158_659_7e4,
        3.930_789_580_009_271e4,
        2.872_908_573_572_194_3e4,
        5.226_495_278_852_854e3,
    ],
];

const TAIL: [[f64; 8]; 2] = [
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        2.417_807_251_774_506e-1,
        2.272_384_498_926_918_4e-2,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        6.897_673_349_851e-1,
        1.481_039_764_274_800_8e-1,
        1.519_866_656_361_645_7e-2,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
];

const FAR_TAIL: [[f64; 8]; 2] = [
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        2.965_605_718_285_048_7e-1,
        2.653_218_952_657_612_4e-2,
        1.242_660_947_388_078_4e-3,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        5.998_322_065_558_88e-1,
        1.369_298_809_227_358e-1,
        1.487_536_129_085_061_5e-2,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
];

/// One polynomial over another one.
#[inline(always)]
fn ratio([above, below]: &[[f64; 8]; 2], x: f64) -> f64 {
    let (mut p, mut q) = (above[7], below[7]);
    for k in (0..7).rev() {
        p = p.mul_add(x, above[k]);
        q = q.mul_add(x, below[k]);
    }
    p / q
}

/// The number below which a standard normal variate is with probability p.
#[inline(always)]
pub fn inv_phi(p: f64) -> f64 {
    let q = p - 0.5;
    let middle = q * ratio(&MIDDLE, q.mul_add(-q, 0.180_625));
    let tail = if q > 0.0 { 1.0 - p } else { p };
    let r = (-log(tail)).sqrt();
    let near = ratio(&TAIL, r - 1.6);
    let far = ratio(&FAR_TAIL, r - 5.0);
    let size = if r > 5.0 { far } else { near };
    let size = if tail == 0.0 { f64::INFINITY } else { size };
    let outside = if q > 0.0 { size } else { -size };
    if q.abs() <= 0.425 { middle } else { outside }
}

#[cfg(test)]
mod tests {
    use super::inv_phi;
    use crate::special::inv_Phi;

    #[test]
    #[allow(clippy::float_cmp, reason = "infinities are equal or not")]
    fn it_is_the_quantile_function_everywhere() {
        let mut p = 1e-300;
        while p < 0.5 {
            for p in [p, 1.0 - p] {
                let (found, expected) = (inv_phi(p), inv_Phi(p));
                let near = found == expected || (found - expected).abs() <= 4e-16 + 3e-15 * expected.abs();
                assert!(near, "{p:e}: {found} is not {expected}");
            }
            p *= 1.17;
        }
        for i in 1..2000 {
            let p = f64::from(i) / 2000.0;
            assert!((inv_phi(p) - inv_Phi(p)).abs() <= 2e-15, "{p}");
        }
        assert_eq!([inv_phi(0.0), inv_phi(1.0), inv_phi(0.5)], [f64::NEG_INFINITY, f64::INFINITY, 0.0]);
        assert!([-0.1, 1.1, f64::NAN].iter().all(|&p| inv_phi(p).is_nan()));
    }
}
