//! A deterministic slice of the fuzzing in `fuzz/`: programs of the corpus with words taken out, moved, doubled and
//! exchanged with those of other programs. Whatever comes of it is a value or a message.

use crust_math::random::{Purpose, Stream, StreamKey};
use crust_webppl::{Limits, Options, Program, run};
use std::path::Path;

/// Words that matter to the grammar and the library, to be put where they do not belong.
const WORDS: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    ".",
    "?",
    ":",
    "=",
    "===",
    "=>",
    "!",
    "-",
    "+",
    "'",
    "\"",
    "/",
    "//",
    "/*",
    "var",
    "function",
    "return",
    "if",
    "else",
    "null",
    "undefined",
    "NaN",
    "Infinity",
    "1e999",
    "-1",
    "0",
    "1e9",
    "é",
    "flip",
    "sample",
    "factor",
    "observe",
    "condition",
    "Infer",
    "mem",
    "map",
    "Vector",
    "T",
    "globalStore",
    "this",
    "arguments",
    "length",
    "gaussian",
    "Categorical",
    "repeat",
    "param",
    "query",
    "_",
    "Math",
    "\u{1F600}",
];

fn corpus() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut paths: Vec<_> = std::fs::read_dir(folder).expect("programs").flatten().map(|e| e.path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).expect("a program")).collect()
}

/// Names and numbers as wholes, everything else character by character.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let whole = |c: char| c.is_alphanumeric() || c == '_';
        let end = if whole(first) { rest.find(|c| !whole(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        words.push(&rest[..end]);
        rest = &rest[end..];
    }
    words
}

fn damage(text: &str, other: &str, stream: &mut Stream) -> String {
    let (mut words, others) = (words(text), words(other));
    for _ in 0..=stream.index_below(3) {
        let (at, to) = (stream.index_below(words.len()), stream.index_below(words.len()));
        match stream.index_below(7) {
            0 => {
                words.remove(at);
            }
            1 => words.insert(at, WORDS[stream.index_below(WORDS.len())]),
            2 => words[at] = WORDS[stream.index_below(WORDS.len())],
            3 => words.swap(at, to),
            4 => words[at] = others[stream.index_below(others.len())],
            5 => {
                let from = stream.index_below(others.len());
                let piece = others[from..others.len().min(from + 12)].to_vec();
                words.splice(at..at, piece);
            }
            _ => words.truncate(words.len().max(2) - stream.index_below(words.len() / 2 + 1)),
        }
        if words.len() < 2 {
            break;
        }
    }
    words.concat()
}

/// Compiles a text, and runs it for a while.
fn attempt(text: &str) {
    if let Ok(program) = Program::compile("fuzz.wppl", text) {
        let limits = Limits { depth: 2_000, steps: Some(5_000) };
        drop(run(&program, &Options { limits, ..Options::default() }));
    }
}

#[test]
fn damaged_programs_are_values_or_messages() {
    let corpus = corpus();
    let mut stream = StreamKey::new(20_261_117, Purpose::TEST).stream();
    for i in 0..1500 {
        let (text, other) = (&corpus[i % corpus.len()], &corpus[stream.index_below(corpus.len())]);
        attempt(&damage(text, other, &mut stream));
    }
}

/// Nesting of every kind ends in a message, not in a full stack.
#[test]
fn deep_nesting_is_a_message() {
    let nested =
        |open: &str, middle: &str, close: &str, n: usize| format!("{}{middle}{}", open.repeat(n), close.repeat(n));
    for n in [100, 1_000, 20_000] {
        for (open, middle, close) in [
            ("(", "1", ")"),
            ("[", "1", "]"),
            ("-", "1", ""),
            ("!", "1", ""),
            ("({a: ", "1", "})"),
            ("1 + ", "1", ""),
            ("", "1", " + 1"),
            ("1 ? 1 : ", "1", ""),
            ("1 ? ", "1", " : 1"),
            ("1 && ", "1", ""),
            ("", "x", ".a"),
            ("", "x", "[0]"),
            ("", "x", "()"),
            ("flip(", "1", ")"),
            ("function() { return ", "1", "}"),
            ("if (1) {", "1", "}"),
            ("if (1) ; else ", ";", ""),
            ("{", "1", "}"),
            ("var x = ", "1", ""),
        ] {
            attempt(&nested(open, middle, close, n));
        }
    }
}
