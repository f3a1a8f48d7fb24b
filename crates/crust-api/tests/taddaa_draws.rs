//! `taddaa` on draws in files: what rounding does to them is no error, and draws of other programs are refused.

use crust_api::{Error, Problem, Session, Source, Subject, TaddaaOptions, TaddaaOutput, taddaa};
use crust_diagnose::taddaa::Level;
use std::fmt::Write;
use std::num::NonZero;
use std::path::PathBuf;

const DRAWS: usize = 400;

/// Numbers of (0, 1) whose distribution is as even as it can be, in an order that looks random (the golden ratio).
fn even(k: usize) -> f64 {
    ((f64::from(u32::try_from(k).expect("few draws")) + 0.5) * 0.618_033_988_749_895).fract()
}

/// Correlations that are uniform on (−1, 1), as `lkj_corr(1)` has them in two dimensions.
const CORRELATION: &str = "parameters { corr_matrix[2] R; } model { R ~ lkj_corr(1); }";

fn correlations() -> String {
    let mut text = "R.1.1,R.2.1,R.1.2,R.2.2\n".to_owned();
    for r in (0..DRAWS).map(|k| 2.0 * even(k) - 1.0) {
        writeln!(text, "1,{r:.9},{r:.9},1").expect("a text");
    }
    text
}

/// Two shares of which the first is uniform, in six digits.
const SIMPLEX: &str = "parameters { simplex[2] s; }";

fn shares(change: impl Fn(usize, String) -> String) -> String {
    let mut text = "s.1,s.2\n".to_owned();
    for k in 0..DRAWS {
        let share = even(k);
        // As if both had been rounded away from each other.
        let row = format!("{:.6},{:.6}", share, 1.0 - share + 1e-6);
        writeln!(text, "{}", change(k, row)).expect("a text");
    }
    text
}

fn run(name: &str, program: &str, text: &str, functionals: &[&str]) -> Result<TaddaaOutput, Error> {
    let folder = std::env::temp_dir().join(format!("crust-taddaa-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file: PathBuf = folder.join(name);
    std::fs::write(&file, text).expect("a file");
    let problem = Problem::read(Source::text("m.stan", program), None)?;
    let options = TaddaaOptions {
        subject: Subject::Draws(vec![file]),
        functionals: functionals.iter().map(|&text| text.to_owned()).collect(),
        chains: Some(100),
        iterations: NonZero::new(20),
        ..TaddaaOptions::default()
    };
    taddaa(&problem, &options, &Session::default())
}

/// The diagonal is 1 in the file and 1 up to the last digit in the chains: that is no error, whatever its size in standard
/// deviations.
#[test]
fn what_does_not_vary_is_not_judged() {
    let found = run("corr.csv", CORRELATION, &correlations(), &[]).expect("a diagnosis");
    assert_ne!(found.result.found.verdict.level, Level::Bad, "{:?}", found.result.found.verdict);
    let judged = &found.result.found;
    assert_eq!((judged.functionals.len(), judged.constant.len()), (10, 10));
    assert!(judged.functionals.iter().all(|f| !f.name.contains("[1,1]")));
    assert!(found.result.notes.iter().any(|note| note.contains("mean(R[1,1])") && note.contains("7 more")));
    let nothing = run("corr.csv", CORRELATION, &correlations(), &["mean(R[1,1])"]).expect("a diagnosis");
    assert!(nothing.result.found.verdict.sentence.contains("nothing"), "{:?}", nothing.result.found.verdict);
}

#[test]
fn rounded_draws_are_accepted_and_wrong_ones_are_told_with_their_place() {
    let found = run("simplex.csv", SIMPLEX, &shares(|_, row| row), &[]).expect("a diagnosis");
    assert_ne!(found.result.found.verdict.level, Level::Bad, "{:?}", found.result.found.verdict);
    // Not a row that any chain starts at.
    let told = |name: &str, bad: &str| {
        let text = shares(|k, row| if k == 5 { bad.to_owned() } else { row });
        run(name, SIMPLEX, &text, &[]).expect_err("a wrong draw").to_string()
    };
    let sum = told("sum.csv", "0.5,0.6");
    assert!(sum.contains("draw 6 of") && sum.contains("sum.csv") && sum.contains("sig_figs"), "{sum}");
    let none = told("nan.csv", "NaN,0.5");
    assert!(none.contains("draw 6 of") && none.contains("s[1] is NaN"), "{none}");
    let more = shares(|_, row| row + ",0").replace("s.2\n", "s.2,s.3\n");
    let more = run("more.csv", SIMPLEX, &more, &[]).expect_err("another program").to_string();
    assert!(more.contains("a column for s[3]"), "{more}");
}
