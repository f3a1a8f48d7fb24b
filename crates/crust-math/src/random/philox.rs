//! The Philox bijections: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
//!
//! For each key, Philox is a permutation of its counters. So a generator is a key, and its state is a number: any block
//! of any stream can be computed on its own, which makes results independent of threads, batches and resumed runs.

const ROUNDS: u32 = 10;

/// The Weyl steps of the key: the fractional parts of the golden ratio and of √3.
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

const MULTIPLIERS_4: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const MULTIPLIER_2: u32 = 0xD256_D193;

/// The high and the low half of a product.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "takes the product apart")]
fn multiply(a: u32, b: u32) -> (u32, u32) {
    let product = u64::from(a) * u64::from(b);
    ((product >> 32) as u32, product as u32)
}

/// Philox 4×32-10: a permutation of 128 bits for each 64-bit key.
#[inline]
pub fn philox4x32(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let (mut c, mut k) = (counter, key);
    for _ in 0..ROUNDS {
        let (high_0, low_0) = multiply(MULTIPLIERS_4[0], c[0]);
        let (high_1, low_1) = multiply(MULTIPLIERS_4[1], c[2]);
        c = [high_1 ^ c[1] ^ k[0], low_1, high_0 ^ c[3] ^ k[1], low_0];
        k = [k[0].wrapping_add(WEYL[0]), k[1].wrapping_add(WEYL[1])];
    }
    c
}

/// Philox 2×32-10: a permutation of 64 bits for each 32-bit key. Here it mixes keys, see [`super::StreamKey`].
#[inline]
pub fn philox2x32(counter: [u32; 2], key: u32) -> [u32; 2] {
    let (mut c, mut k) = (counter, key);
    for _ in 0..ROUNDS {
        let (high, low) = multiply(MULTIPLIER_2, c[0]);
        c = [high ^ k ^ c[1], low];
        k = k.wrapping_add(WEYL[0]);
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers that Random123 1.14 publishes (`kat_vectors`). The last input is the digits of π.
    #[test]
    fn philox4x32_gives_the_published_answers() {
        let pi = ([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]);
        let known = [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (pi.0, pi.1, [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]),
        ];
        for (counter, key, answer) in known {
            assert_eq!(philox4x32(counter, key), answer);
        }
    }

    #[test]
    fn philox2x32_gives_the_published_answers() {
        let known = [
            ([0; 2], 0, [0xff1d_ae59, 0x6cd1_0df2]),
            ([u32::MAX; 2], u32::MAX, [0x2c3f_628b, 0xab4f_d7ad]),
            ([0x243f_6a88, 0x85a3_08d3], 0x1319_8a2e, [0xdd7c_e038, 0xf62a_4c12]),
        ];
        for (counter, key, answer) in known {
            assert_eq!(philox2x32(counter, key), answer);
        }
    }
}
