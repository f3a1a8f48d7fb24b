//! A deterministic slice of the fuzzing in `fuzz/`: programs of the corpus, damaged in the ways in which people and
//! disks damage them.

use crust_stan::fuzzing;
use std::path::{Path, PathBuf};

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

fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).expect("the corpus").map(|e| e.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|e| e == "stan") {
            found.push(path);
        }
    }
}

fn corpus() -> Vec<String> {
    let mut paths = Vec::new();
    programs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus"), &mut paths);
    let read = |p: &PathBuf| String::from_utf8_lossy(&std::fs::read(p).expect("a program")).into_owned();
    paths.iter().map(read).filter(|t| t.len() < 4000).collect()
}

/// Words that matter to the grammar, to be put where they do not belong.
const WORDS: [&str; 40] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ";",
    ",",
    "|",
    "~",
    "=",
    "+=",
    "'",
    ".1",
    ":",
    "?",
    "\"",
    "/*",
    "*/",
    "//",
    "#",
    "#include x\n",
    "real",
    "int",
    "array[2]",
    "tuple(",
    "model",
    "data",
    "functions",
    "for (i in 1:2)",
    "if (1)",
    "else",
    "return",
    "target +=",
    "T[,]",
    "1e999",
    "2147483648",
    "é",
];

fn damage(text: &str, other: &str, random: &mut Random) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=random.below(3) {
        let (a, b) = (random.below(chars.len() + 1), random.below(chars.len() + 1));
        let (a, b) = (a.min(b), a.max(b));
        match random.below(6) {
            0 => drop(chars.drain(a..b.min(a + 8))),
            1 => drop(chars.splice(a..a, WORDS[random.below(WORDS.len())].chars())),
            2 => {
                let piece: Vec<char> = chars[a..b.min(a + 60)].to_vec();
                let at = random.below(chars.len() + 1);
                chars.splice(at..at, piece);
            }
            3 => {
                let piece: Vec<char> = other.chars().skip(random.below(other.len())).take(40).collect();
                chars.splice(a..a, piece);
            }
            4 => chars.truncate(b),
            _ => drop(chars.splice(a..b.min(a + 3), WORDS[random.below(WORDS.len())].chars())),
        }
    }
    chars.into_iter().collect()
}

#[test]
fn damaged_programs_never_crash_or_hang() {
    let corpus = corpus();
    assert!(corpus.len() > 900, "only {} programs", corpus.len());
    let mut random = Random(20_261_115);
    corpus.iter().for_each(|text| fuzzing::front_end(text));
    for i in 0..6000 {
        let (text, other) = (&corpus[i % corpus.len()], &corpus[random.below(corpus.len())]);
        let damaged = damage(text, other, &mut random);
        fuzzing::front_end(&damaged);
    }
}

/// Nesting of every kind ends in a message, not in a full stack; so do long chains, and what is just short enough
/// works.
#[test]
fn deep_nesting_is_a_message() {
    let nested =
        |open: &str, middle: &str, close: &str, n: usize| format!("{}{middle}{}", open.repeat(n), close.repeat(n));
    let value = |e: &str| format!("transformed data {{ real x = {e}; }}");
    let statement = |s: &str| format!("model {{ {s} }}");
    for n in [50, 190, 1000, 3_990, 100_000] {
        fuzzing::front_end(&value(&nested("(", "1", ")", n)));
        fuzzing::front_end(&value(&nested("-", "1", "", n)));
        fuzzing::front_end(&value(&nested("{", "1", "}", n)));
        fuzzing::front_end(&value(&nested("[", "1", "]", n)));
        fuzzing::front_end(&value(&nested("sin(", "1", ")", n)));
        fuzzing::front_end(&value(&nested("1 ? 1 : ", "1", "", n)));
        fuzzing::front_end(&value(&nested("1 ? ", "1", " : 1", n)));
        fuzzing::front_end(&value(&nested("2 ^ ", "1", "", n)));
        fuzzing::front_end(&value(&nested("", "x", "[1]", n)));
        fuzzing::front_end(&value(&nested("", "x", "'", n)));
        fuzzing::front_end(&value(&nested("", "x", ".1", n)));
        fuzzing::front_end(&value(&nested("x[", "1", "]", n)));
        fuzzing::front_end(&value(&nested("", "1", " + 1", n)));
        fuzzing::front_end(&value(&nested("", "1", " < 1 * 2", n)));
        fuzzing::front_end(&statement(&nested("{", ";", "}", n)));
        fuzzing::front_end(&statement(&nested("if (1) ", ";", "", n)));
        fuzzing::front_end(&statement(&nested("if (1) ; else ", ";", "", n)));
        fuzzing::front_end(&statement(&nested("for (i in 1:2) ", ";", "", n)));
        fuzzing::front_end(&statement(&nested("profile(\"a\") {", ";", "}", n)));
        fuzzing::front_end(&nested("functions { real f(", "tuple(real, int) x", ") {", n));
        fuzzing::front_end(&format!("functions {{ real f({} x); }}", nested("tuple(int, ", "int", ")", n)));
        fuzzing::front_end(&format!("data {{ {} x; }}", nested("tuple(int, ", "int", ")", n)));
        fuzzing::front_end(&format!("data {{ {} x; }}", nested("array[2] ", "int", "", n)));
    }
}

/// Found by fuzzing.
#[test]
fn former_crashes() {
    for text in ["model { real x = 1 é; }", "model { {éé", "data { int xé\né }", "functions { é", "model { lseۄ"]
    {
        fuzzing::front_end(text);
    }
}
