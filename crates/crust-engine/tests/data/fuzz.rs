//! A deterministic slice of the fuzzing of data in `fuzz/`: data that fit, damaged.

use crust_engine::fuzzing;

/// `SplitMix64`: enough for picking places.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n.max(1) as u64).expect("small")
    }
}

/// Data that fit the programs in [`fuzzing::DATA_PROGRAMS`], to be damaged.
const DATA: [&str; 4] = [
    r#"{"n": 2, "k": [0, 3], "x": [1.5, "NaN"], "m": [[1, 2], [3, 4]]}"#,
    r#"{"n": 1, "m": 2, "y": [[1, "-Inf"]], "v": [[0.5, 2]], "z": [1, 2], "w": [[[1, 2], [3, 4]]]}"#,
    r#"{"t": {"1": 3, "2": [1, 2]}, "u": [{"1": 1, "2": [1, 2]}, {"1": 2, "2": [3, 4]}], "p": [0.25, 0.75], "o": [1, 2]}"#,
    r#"{"n": 2, "y": [1, 2, 3, 4], "c": [[1, 0.5], [0.5, 1]], "l": [[1, 0], [2, 3], [4, 5]], "q": [1, -3, 2]}"#,
];

#[test]
fn damaged_data_never_crash_or_hang() {
    let mut random = Random(7);
    for i in 0..8000 {
        let which = i % DATA.len();
        let damaged = damage_data(DATA[which], &mut random);
        let mut input = vec![u8::try_from(which).expect("small")];
        input.extend(damaged.as_bytes());
        fuzzing::data(&input);
    }
    for (which, text) in DATA.iter().enumerate() {
        let mut input = vec![u8::try_from(which).expect("small")];
        input.extend(text.as_bytes());
        fuzzing::data(&input);
    }
    for n in [100, 1000, 1_000_000] {
        fuzzing::data(format!("\0{{\"n\": {}", "[".repeat(n)).as_bytes());
        fuzzing::data(format!("\0{{\"n\": 2, \"k\": {}1{}}}", "[".repeat(n), "]".repeat(n)).as_bytes());
    }
}

const JSON_WORDS: [&str; 20] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\u0000",
    "1e999",
    "-",
    "null",
    "true",
    "2147483648",
    "3.0",
    "\"Inf\"",
    "NaN",
    "[]",
    "{}",
    "\"n\": 3,",
    "é",
];

fn damage_data(text: &str, random: &mut Random) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=random.below(3) {
        let a = random.below(chars.len() + 1);
        let b = (a + random.below(5)).min(chars.len());
        match random.below(3) {
            0 => drop(chars.drain(a..b)),
            1 => drop(chars.splice(a..b, JSON_WORDS[random.below(JSON_WORDS.len())].chars())),
            _ => drop(chars.splice(a..b, random.below(12).to_string().chars())),
        }
    }
    chars.into_iter().collect()
}
