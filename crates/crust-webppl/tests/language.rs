//! Mistakes and limits: messages with places and remedies, deep recursion, reproducibility, no panic on broken
//! programs.

use crust_webppl::{Failure, Limits, Options, Program, run};

fn json(text: &str) -> String {
    let program = Program::compile("test.wppl", text).expect("compiles");
    run(&program, &Options::default()).expect("runs").json
}

fn mistake(text: &str) -> String {
    match Program::compile("test.wppl", text) {
        Ok(_) => panic!("no mistake in {text}"),
        Err(errors) => errors.to_string(),
    }
}

fn failure(text: &str) -> String {
    let program = Program::compile("test.wppl", text).expect("compiles");
    run(&program, &Options::default()).expect_err("fails").to_string()
}

#[test]
fn what_webppl_leaves_out_is_refused_with_the_remedy() {
    for (text, message, remedy) in [
        ("for (var i = 0; i < 3; i++) {}", "loops are not part of WebPPL", "recursion"),
        ("while (true) {}", "loops are not part of WebPPL", "recursion"),
        ("var x = 1; x = 2;", "assignment is allowed only to fields of globalStore", "new name"),
        ("var x = 1; x += 2;", "'+=' assigns", "new name"),
        ("var fs = require('fs');", "packages are not supported", "json.read"),
        ("var d = new Date();", "classes and 'new'", "plain objects"),
        ("var f = function() { return this.x; };", "'this' is not part", "argument"),
        ("function f() { return 1; }", "function declarations", "var name = function"),
        ("var f = x => x;", "arrow functions", "function(x)"),
        ("var f = (x) => x;", "arrow functions", "function(x)"),
        ("var {a} = {a: 1};", "destructuring", "name the whole value"),
        ("let x = 1;", "'let' and 'const'", "var"),
        ("try { f(); } catch (e) {}", "exceptions", "error(message)"),
        ("switch (1) {}", "'switch'", "if"),
        ("var x;", "needs a value", "var x ="),
        ("var s = `a`;", "template strings", "+"),
        ("var f = function(...xs) {};", "rest parameters", "arguments"),
        ("Gausian({mu: 0, sigma: 1})", "'Gausian' is not defined", ""),
        ("gaussiandrift({})", "'gaussiandrift' is not defined", "gaussianDrift"),
    ] {
        let found = mistake(text);
        assert!(found.contains(message) && found.contains(remedy), "{text}\n{found}");
        assert!(found.contains("test.wppl:1:"), "{found}");
    }
}

#[test]
fn a_mistake_shows_its_line() {
    let found = mistake("var a = 1;\nvar b = [1, 2;\n");
    assert!(found.contains("--> test.wppl:2:14\n2 | var b = [1, 2;\n  |              ^"), "{found}");
}

#[test]
fn failures_have_the_place_of_the_program() {
    let found = failure("var f = function(x) {\n  return x.y.z;\n};\nmap(f, [{}]);");
    assert!(found.contains("cannot read the property 'z' of undefined") && found.contains("test.wppl:2:"), "{found}");
    let found = failure("var d = Gaussian({mu: 0, sigma: -1});");
    assert!(found.contains("parameter \"sigma\" should be of type \"real (0, Infinity)\""), "{found}");
    assert!(failure("factor(1)").contains("only inside of inference"));
    assert!(failure("Infer({method: 'magic', model: flip})").contains("is not a valid method"));
    assert!(failure("error('mine')").contains("mine"));
}

#[test]
fn recursion_can_be_deep() {
    assert_eq!(json("var f = function(n) { return n === 0 ? 0 : 1 + f(n - 1); }; f(300000)"), "300000");
    // calls in tail position need no stack at all
    assert_eq!(json("var f = function(n) { return n === 0 ? 'done' : f(n - 1); }; f(3000000)"), "\"done\"");
    assert_eq!(
        json("var nest = function(n, x) { return n === 0 ? x : nest(n - 1, [x]); }; nest(100000, 1).length"),
        "1"
    );
    // inside of inference, where frames are captured
    let text = "var f = function(n) { return n === 0 ? flip(0.5) : f(n - 1) ? true : false; };
        Infer({method: 'MCMC', samples: 3, model() { return f(100000); }}).support().length > 0";
    assert_eq!(json(text), "true");
}

#[test]
fn recursion_that_never_ends_is_stopped() {
    let found = failure("var f = function(n) { return 1 + f(n + 1); }; f(0)");
    assert!(found.contains("the recursion is deeper than"), "{found}");
    let program = Program::compile("loop", "var f = function() { return f(); }; f()").expect("compiles");
    let limits = Limits { steps: Some(10_000), ..Limits::default() };
    let error = run(&program, &Options { limits, ..Options::default() }).expect_err("stops");
    assert_eq!(error.failure, Failure::Steps(10_000));
}

#[test]
fn a_seed_gives_the_same_result_again() {
    let text = "Infer({method: 'MCMC', samples: 50, model() { var x = gaussian(0, 1); factor(-x * x); return x; }})";
    let program = Program::compile("seed", text).expect("compiles");
    let with = |seed: u64| run(&program, &Options { seed, ..Options::default() }).expect("runs").json;
    assert_eq!(with(3), with(3));
    assert_ne!(with(3), with(4));
}

#[test]
fn json_marks_what_json_cannot_say() {
    let text = "[undefined, 1 / 0, -1 / 0, 0 / 0, Vector([1, 2]), Gaussian({mu: 0, sigma: 1}), {a: null}]";
    let expected = "[null,\"Infinity\",\"-Infinity\",\"NaN\",{\"dims\":[2,1],\"data\":[1,2]},\
        {\"distribution\":\"Gaussian\",\"params\":{\"mu\":0,\"sigma\":1}},{\"a\":null}]";
    assert_eq!(json(text), expected);
}

/// Broken programs end in a message or a value, never in a panic.
#[test]
fn mutated_programs_do_not_panic() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("programs").flatten().map(|f| f.path()).collect();
    files.sort();
    let texts: Vec<String> = files.iter().map(|f| std::fs::read_to_string(f).expect("a program")).collect();
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % (n.max(1) as u64)).unwrap_or(0)
    };
    let pieces = [
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "function",
        "undefined",
        "Infinity",
        "-1",
        "[]",
        "{}",
        "null",
        "+",
        "=",
        "'",
        ",",
    ];
    for round in 0..600 {
        let mut text: Vec<char> = texts[round % texts.len()].chars().collect();
        for _ in 0..=next(3) {
            let at = next(text.len());
            match next(4) {
                0 => drop(text.remove(at)),
                1 => {
                    let piece = pieces[next(pieces.len())];
                    text.splice(at..at, piece.chars());
                }
                2 => {
                    let other: Vec<char> = texts[next(texts.len())].chars().collect();
                    let from = next(other.len());
                    text.splice(at..at, other[from..(from + next(30)).min(other.len())].iter().copied());
                }
                _ => text.truncate(at.max(1)),
            }
        }
        let text: String = text.into_iter().collect();
        if let Ok(program) = Program::compile("mutant", &text) {
            let limits = Limits { depth: 20_000, steps: Some(20_000) };
            let _ = run(&program, &Options { limits, ..Options::default() });
        }
    }
}
