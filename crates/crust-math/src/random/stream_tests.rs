use super::super::check::{Probabilities, Sample, count, stream};
use super::*;

/// Numbers of the same key must never change: results that people have published depend on them.
#[test]
fn numbers_are_pinned() {
    let key = StreamKey { seed: 20_261_115, purpose: Purpose::FORWARD, dataset: 2, chain: 3, step: 1 << 40 };
    let mut stream = key.stream();
    assert_eq!(
        [stream.next_u64(), stream.next_u64(), stream.next_u64()],
        [13_970_238_559_839_986_202, 690_581_058_582_125_445, 4_351_663_471_940_624_189]
    );
}

#[test]
fn sequences_are_blocks_of_philox() {
    let key = StreamKey::new(1, Purpose::PRIOR).chain(9).step(0x1234_5678_9ABC_DEF0);
    let mut stream = key.stream();
    let philox_key = stream.key;
    for block in 0..3 {
        let expected = philox4x32([block, 0x9ABC_DEF0, 0x1234_5678, 9], philox_key);
        assert_eq!(expected, std::array::from_fn(|_| stream.next_u32()));
    }
}

/// Every part of the key reaches the numbers: a change of one bit anywhere gives a stream that differs in about half
/// its bits.
#[test]
fn each_bit_of_the_key_counts() {
    let key = StreamKey { seed: 5, purpose: Purpose::DATA, dataset: 7, chain: 1, step: 100 };
    let mut near = vec![];
    for bit in 0..64 {
        near.push(StreamKey { seed: key.seed ^ 1 << bit, ..key });
        near.push(key.step(key.step ^ 1 << bit));
    }
    for bit in 0..32 {
        near.push(key.purpose(Purpose(key.purpose.0 ^ 1 << bit)));
        near.push(key.dataset(key.dataset ^ 1 << bit));
        near.push(key.chain(key.chain ^ 1 << bit));
    }
    for other in near {
        let (mut a, mut b) = (key.stream(), other.stream());
        let differing: u32 = (0..16).map(|_| (a.next_u64() ^ b.next_u64()).count_ones()).sum();
        // 512 of 1024 bits are expected, with standard deviation 16; 224 keys are tried.
        assert!((412..612).contains(&differing), "{other:?}: {differing}");
    }
}

/// Equal 64-bit words among 5 million are expected 7·10⁻⁷ times, but a million times if two streams overlap.
#[test]
fn streams_do_not_overlap() {
    let key = StreamKey::new(0, Purpose::FORWARD);
    let keys = [key, key.purpose(Purpose::REVERSE), key.step(1), key.chain(1), key.dataset(1)];
    let mut words = vec![0; 5_000_000];
    for (key, part) in keys.iter().zip(words.chunks_mut(1_000_000)) {
        key.stream().fill_u64(part);
    }
    words.sort_unstable();
    assert!(words.windows(2).all(|pair| pair[0] != pair[1]));
}

/// Annealing takes only the first few numbers of very many streams.
#[test]
fn first_numbers_of_neighbours_are_uniform_and_uncorrelated() {
    let key = StreamKey::new(3, Purpose::FORWARD);
    let along: [fn(StreamKey, u32) -> StreamKey; 5] = [
        |key, i| key.step(u64::from(i)),
        StreamKey::chain,
        StreamKey::dataset,
        |key, i| key.purpose(Purpose(i)),
        |key, i| StreamKey { seed: u64::from(i), ..key },
    ];
    for (axis, go) in along.iter().enumerate() {
        let first: Vec<f64> = (0..50_000).map(|i| go(key, i).stream().uniform()).collect();
        for lag in [1, 2, 3] {
            let products = first.windows(lag + 1).map(|w| 12.0 * (w[0] - 0.5) * (w[lag] - 0.5)).collect();
            Sample(products).has_moments(&format!("axis {axis}, lag {lag}"), 0.0, 1.0);
        }
        Sample(first).follows(&format!("axis {axis}"), |u| u);
    }
}

/// A stream that is used up goes on elsewhere, not from its start nor in its neighbour.
#[test]
fn long_streams_go_on_under_another_key() {
    let mut stream = stream(8);
    let old = stream.clone();
    stream.counter[0] = u32::MAX;
    stream.refill();
    assert_ne!(stream.key, old.key);
    assert_eq!(stream.counter, old.counter);
    let next: Vec<u32> = (0..8).map(|_| stream.next_u32()).collect();
    let mut start = old;
    assert!((0..8).map(|_| start.next_u32()).all(|word| !next.contains(&word)));
}

#[test]
fn uniforms_are_uniform_and_open() {
    let sample = Sample::draw(500_000, &mut stream(9), Stream::uniform);
    sample.follows("uniform", |u| u);
    sample.has_moments("uniform", 0.5, 1.0 / 12.0);
    assert!(sample.0.iter().all(|&u| u > 0.0 && u < 1.0));
    assert!(unit(u64::MAX) < 1.0);
    assert!(unit(1 << 11) > 0.0 && unit((1 << 11) - 1) == 0.0);
    // The low bits of the 53 are as good as the high ones.
    let low = sample.map(|u| u * f64::from(1 << 26)).map(f64::fract);
    low.follows("low bits", |u| u);
}

#[test]
fn uniform_range_stays_inside() {
    let mut stream = stream(10);
    for (low, high) in [(-1.0, 3.0), (1e300, 1.5e300), (-f64::MAX, f64::MAX), (1.0, 1.0 + f64::EPSILON)] {
        let sample = Sample::draw(20_000, &mut stream, |s| s.uniform_range(low, high).unwrap());
        assert!(sample.0.iter().all(|&x| x >= low && x <= high));
        if high - low > 1e-10 {
            sample.follows("uniform", |x| (x / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0));
        }
    }
    assert!(stream.uniform_range(1.0, 1.0).is_err());
    assert!(stream.uniform_range(f64::NAN, 1.0).is_err());
}

#[test]
fn bounded_integers_have_no_bias() {
    let mut stream = stream(11);
    for n in [1, 2, 3, 10, 1000] {
        let draws: Vec<i64> = (0..100_000).map(|_| i64::try_from(stream.below(n)).unwrap()).collect();
        let p = vec![1.0 / count(usize::try_from(n).unwrap()); usize::try_from(n).unwrap()];
        Probabilities { first: 0, p }.describe("below", &draws);
    }
    // With n = 3·2⁶², a product without rejection would hit multiples of 3 twice as often.
    let n = 3 << 62;
    let draws: Vec<i64> = (0..100_000).map(|_| i64::try_from(stream.below(n) % 3).unwrap()).collect();
    Probabilities { first: 0, p: vec![1.0 / 3.0; 3] }.describe("large", &draws);
}

#[test]
fn integers_between_bounds() {
    let mut stream = stream(12);
    let draws: Vec<i64> = (0..50_000).map(|_| stream.uniform_integer(-3, 4).unwrap()).collect();
    Probabilities { first: -3, p: vec![0.125; 8] }.describe("range", &draws);
    assert_eq!(stream.uniform_integer(5, 5), Ok(5));
    assert!(stream.uniform_integer(5, 4).is_err());
    let signs: Vec<i64> =
        (0..50_000).map(|_| stream.uniform_integer(i64::MIN, i64::MAX).unwrap().signum().max(0)).collect();
    Probabilities { first: 0, p: vec![0.5; 2] }.describe("all", &signs);
}

#[test]
fn coins() {
    let mut stream = stream(13);
    for p in [0.0, 1e-3, 0.5, 1.0] {
        let draws: Vec<i64> = (0..50_000).map(|_| i64::from(stream.bernoulli(p).unwrap())).collect();
        Probabilities { first: 0, p: vec![1.0 - p, p] }.describe("coin", &draws);
        let impossible = i64::from(p <= 0.0);
        assert!(p > 0.0 && p < 1.0 || !draws.contains(&impossible));
    }
    assert!(stream.bernoulli(1.0 + 1e-15).is_err());
    assert!(stream.bernoulli(f64::NAN).is_err());
}

#[test]
fn filling_is_drawing_one_by_one() {
    let (mut a, mut b) = (stream(14), stream(14));
    // From an odd word on.
    assert_eq!(a.next_u32(), b.next_u32());
    let mut out = [0.0; 7];
    a.fill_uniform(&mut out);
    assert!(out.iter().all(|x| x.to_bits() == b.uniform().to_bits()));
    a.fill_normal(&mut out);
    assert!(out.iter().all(|x| x.to_bits() == b.standard_normal().to_bits()));
    assert_eq!(a, b);
}
