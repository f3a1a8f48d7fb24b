//! Comments in every place.

use super::{check, check_comments, corpus, has_errors, printed, read, read_right};
use crate::lexer::lex;
use crate::migrate::migrate;
use crate::parser::parse;
use crate::source::{IncludeProblem, Loader, Source};
use crate::token::TokenKind;
use std::path::{Path, PathBuf};

/// Kinds of comments and breaks to put between two words; `@` becomes a number.
const SORTS: [&str; 10] = [
    " // line @\n",
    "\n// own line @\n",
    "\n\n    // own line after an empty one @\n\n",
    " /* block @ */ ",
    "\n/* own block @ */\n",
    "\n  /* leading block @ */ ",
    " /* long @\n      block */ ",
    "\n\n\t/*\n\t * own long block @\n\t */\n",
    " # hash @\n",
    "\n\n",
];

/// Numbers without pattern, the same in each run (Knuth's generator).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).map_or(0, |x| x % n)
    }
}

/// The text with comments between its words, one per `every` gaps.
fn commented(text: &str, every: usize, numbers: &mut Numbers) -> String {
    let mut out = String::new();
    let mut copied = 0;
    let mut previous = None;
    for (i, token) in lex(text).tokens.iter().enumerate() {
        let start = token.span.range().start;
        out.push_str(&text[copied..start]);
        copied = start;
        let arrow = previous == Some(TokenKind::Less) && token.kind == TokenKind::Minus;
        if !arrow && numbers.below(every) == 0 {
            out.push_str(&SORTS[numbers.below(SORTS.len())].replace('@', &i.to_string()));
        }
        previous = Some(token.kind);
    }
    out.push_str(&text[copied..]);
    out
}

#[test]
fn no_comment_is_lost_wherever_it_stands() {
    let mut numbers = Numbers(1);
    let mut tried = 0;
    for (name, source, _) in corpus() {
        if source.text().len() > 20_000 {
            continue;
        }
        for every in [20, 4, 1] {
            let text = commented(source.text(), every, &mut numbers);
            let (source, parsed) = read(&text);
            if !has_errors(&parsed) {
                tried += 1;
                check(&parsed.program, &parsed.comments, &source, &format!("{name} with comments:\n{text}"));
            }
        }
    }
    assert!(tried > 0);
}

/// What a migration makes has the places of what it replaces, in any order.
#[test]
fn no_comment_is_lost_when_the_tree_is_changed() {
    let mut numbers = Numbers(2);
    for (name, source, _) in corpus().iter().filter(|(name, ..)| name.contains("legacy")) {
        for every in [1000, 20, 4, 1] {
            let text = commented(source.text(), every, &mut numbers);
            let (source, mut parsed) = read(&text);
            if !has_errors(&parsed) {
                migrate(&mut parsed.program);
                let name = format!("{name} with comments:\n{text}");
                let once = check_comments(&parsed.program, &parsed.comments, &source, &name);
                let modern = read_right(&once).1.program;
                let mut again = modern.clone();
                migrate(&mut again);
                assert_eq!(modern, again, "{name}: retired again");
            }
        }
    }
}

/// Prints a program, checks it, and compares with what it should be.
fn assert_printed(text: &str, expected: &str) {
    let (source, parsed) = read_right(text);
    let out = check(&parsed.program, &parsed.comments, &source, text);
    assert_eq!(out, expected, "\n{out}");
}

#[test]
fn comments_around_blocks_and_statements() {
    assert_printed(
        "# head\n\n\n/* and\n   more */\ndata{ // in data\n\n int N; // N\n int M; /* M */ int K;\n // last\n}\n\
         // between\n\nmodel { /* nothing */ }\n\n// end\n# final",
        "// head\n\n/* and\n   more */\ndata { // in data\n  int N; // N\n  int M; /* M */\n  int K;\n  // last\n}\n\
         // between\n\nmodel { /* nothing */\n}\n\n// end\n// final\n",
    );
}

#[test]
fn comments_around_else() {
    assert_printed(
        "model {\n if (a) // why\n {\n x = 1; } // yes\n // no\n else if (b) { } /* c */ else // d\n {y = 2;}\n \
         if (a)\n  // before\n  x = 1; // x\n // before else\n else\n /* lead */ y = 1; }",
        "model {\n  if (a) { // why\n    x = 1;\n  } // yes\n  // no\n  else if (b) {\n  } /* c */ else { // d\n    \
         y = 2;\n  }\n  if (a)\n    // before\n    x = 1; // x\n  // before else\n  else\n    /* lead */ y = 1;\n}\n",
    );
}

#[test]
fn comments_in_lists_stay_with_their_items() {
    assert_printed(
        "functions {\n real f(real a, // first\n   // about b\n   real b /* second */, int c // third\n ) { return a; }\n}\n\
         model {\n target += f(a /* 1 */, /* 2 */ b, c)\n // why\n + 1;\n}",
        "functions {\n  real f(real a, // first\n         // about b\n         real b /* second */, int c // third\n         ) {\n    \
         return a;\n  }\n}\nmodel {\n  target += f(a /* 1 */, /* 2 */ b, c)\n            // why\n            + 1;\n}\n",
    );
}

#[test]
fn blocks_of_lines_are_moved_as_a_whole() {
    assert_printed(
        "model {\n      /* one\n       * two\n\n         three\n */\n x = 1;\n}",
        "model {\n  /* one\n   * two\n\n     three\n  */\n  x = 1;\n}\n",
    );
}

#[test]
fn several_comments_that_run_to_the_end_of_a_line_get_lines() {
    let out = printed("model {\n x[ // a\n 1 // b\n ] = // c\n -  // d\n 3 // e\n; // f\n}");
    let lines: Vec<_> = out.lines().filter(|l| l.contains("//")).collect();
    assert_eq!(lines.len(), 6, "{out}");
}

/// Every include gives a statement with a comment.
struct Statement;

impl Loader for Statement {
    fn load(&self, _: Option<&Path>, name: &str) -> Result<(PathBuf, String), IncludeProblem> {
        Ok((PathBuf::from(name), format!("{name} = 1; // {name}\n")))
    }
}

#[test]
fn includes_bring_their_comments_but_no_empty_lines() {
    let text = "model {\n#include a\n#include b\n\n#include c // behind\nd = 1;\n\n// own\n#include e\n\nf = 1;\n}";
    let (source, problems) = Source::expand("test", None, text, &Statement);
    assert!(problems.is_empty());
    let parsed = parse(&source);
    let out = check(&parsed.program, &parsed.comments, &source, text);
    assert_eq!(
        out,
        "model {\n  a = 1; // a\n  b = 1; // b\n\n  c = 1; // c\n  // behind\n  d = 1;\n\n  // own\n  e = 1; // e\n\n  f = 1;\n}\n"
    );
}
