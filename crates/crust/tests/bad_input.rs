//! Input that no experiment can be made of: each has its message, and exit code 2.

mod common;

use common::{Folder, crust, stderr};

/// A normal model with something in place of its prior statement.
fn model(prior: &str) -> String {
    format!(
        "data {{ int<lower=0> N; vector[N] x; vector[N] y; }}
parameters {{ real a; real b; real<lower=0> s; }}
model {{
  {prior}
  s ~ exponential(1);
  y ~ normal(a + b * x, s);
}}
"
    )
}

const PRIOR: &str = "a ~ normal(0, 1); b ~ normal(0, 1);";
const DATA: &str = r#"{"N": 3, "x": [0, 1, 2], "y": [1, 2, 4]}"#;

/// The program, its data, and words of the message.
fn table() -> Vec<(&'static str, String, &'static str, Vec<&'static str>)> {
    let good = || model(PRIOR);
    vec![
        ("wrong sizes", good(), r#"{"N": 3, "x": [0, 1, 2], "y": [1, 2]}"#, vec!["`y`", "3", "2"]),
        ("zero rows", good(), r#"{"N": 0, "x": [], "y": []}"#, vec!["`y`", "nothing to learn from"]),
        ("identical outcomes", good(), r#"{"N": 3, "x": [0, 1, 2], "y": [5, 5, 5]}"#, vec!["all 3 values", "`y`"]),
        ("not a number", good(), r#"{"N": 3, "x": [0, 1, 2], "y": [1, NaN, 4]}"#, vec!["`y[2]`", "missing values"]),
        (
            "NaN in a covariate",
            good(),
            r#"{"N": 3, "x": [NaN, 1, 2], "y": [1, 3, 4]}"#,
            vec!["`x[1]`", "missing values"],
        ),
        ("infinite outcome", good(), r#"{"N": 3, "x": [0, 1, 2], "y": [1, 3, "-Inf"]}"#, vec!["`y[3]`", "censored"]),
        ("infinite covariate", good(), r#"{"N": 3, "x": [0, "Inf", 2], "y": [1, 3, 4]}"#, vec!["`x[2]`", "infinite"]),
        ("half a file", good(), r#"{"N": 3, "x": [0, 1, 2], "y": [1, 3"#, vec!["data.json:1:36", "end of the file"]),
        ("missing outcome", good(), r#"{"N": 3, "x": [0, 1, 2]}"#, vec!["`y`"]),
        ("no JSON", good(), "N = 3", vec!["data.json"]),
        ("no parameters", "data { int N; } model { }".to_owned(), r#"{"N": 3}"#, vec!["no parameters"]),
        (
            "complex numbers",
            "data { real y; } parameters { complex z; } model { y ~ normal(get_real(z), 1); }".to_owned(),
            r#"{"y": 1}"#,
            vec!["complex", "engine"],
        ),
    ]
}

fn complaint(arguments: &[&str]) -> String {
    let output = crust(arguments);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    assert!(output.stdout.is_empty() && !said.contains("panicked"), "{said}");
    said
}

#[test]
fn each_mistake_has_its_message() {
    let folder = Folder::new("bad-input");
    for (name, program, data, words) in table() {
        let program = folder.file("model.stan", &program);
        let data = folder.file("data.json", data);
        let said = complaint(&["bread", &program, &data]);
        for word in words {
            assert!(said.contains(word), "{name}: {word:?} is not in:\n{said}");
        }
    }
    // `bread` has a verdict from the real data alone, unless data have to be simulated
    let coupled = model(&format!("{PRIOR} target += -square(sum(y) - a);"));
    let (program, data) = (folder.file("coupled.stan", &coupled), folder.file("data.json", DATA));
    for said in
        [complaint(&["bdmc", &program, &data]), complaint(&["bread", &program, &data, "--simulate", "conditional"])]
    {
        assert!(["`y`", "depend on each other", "--simulator"].iter().all(|word| said.contains(word)), "{said}");
    }
    let alone = folder.file("alone.stan", "parameters { real a; } model { a ~ normal(0, 1); }");
    assert!(complaint(&["bdmc", &alone]).contains("no outcome"));
    let program = folder.file("model.stan", &model(PRIOR));
    assert!(complaint(&["bread", &program]).contains("`N`"), "data that the program needs");
    for (command, x) in [("bdmc", "Inf"), ("sample", "Inf"), ("sample", "NaN")] {
        let data = folder.file("odd.json", &format!(r#"{{"N": 3, "x": [0, "{x}", 2], "y": [1, 3, 4]}}"#));
        let said = complaint(&[command, &program, &data, "-q"]);
        assert!(said.contains("`x[2]`") && said.contains("odd.json"), "{command} {x}: {said}");
    }
    let data = folder.file("data.json", DATA);
    let missing = folder.path("nowhere.json");
    assert!(complaint(&["bread", &program, &missing]).contains("cannot read the data"));
    assert!(complaint(&["bread", &missing, &data]).contains("cannot read the program"));
    for (options, word) in [
        (&["--steps", "100,10"][..], "must rise"),
        (&["--steps", "1,10"], "at least 2"),
        (&["--chains", "1"], "from 2"),
        (&["--tolerance=-1"], "negative"),
        (&["--hyper", "zeta"], "zeta"),
        (&["--simulator", &missing], "cannot read the program"),
        (&["--out", &data], "cannot use the folder"),
    ] {
        let said = complaint(&[&["bread", &program, &data], options].concat());
        assert!(said.contains(word), "{options:?}: {said}");
    }
}

/// A simulator that simulates nothing that is wanted would change nothing, without a word.
#[test]
fn a_simulator_of_something_else_is_refused() {
    let folder = Folder::new("bad-simulator");
    let (program, data) = (folder.file("model.stan", &model(PRIOR)), folder.file("data.json", DATA));
    let other = format!("{} generated quantities {{ vector[N] yy = y; }}", model(PRIOR));
    let other = folder.file("typo.stan", &other);
    for command in ["simulate", "sbc", "bdmc"] {
        let said = complaint(&[command, &program, &data, "--simulator", &other]);
        assert!(["typo.stan", "`yy`", "outcome is `y`"].iter().all(|word| said.contains(word)), "{command}: {said}");
        let said = complaint(&[command, &program, &data, "--simulator", &program]);
        assert!(said.contains("generates nothing"), "{command}: {said}");
    }
}

/// Data that fit the declarations but that no experiment can be made of: `check` says so, too.
#[test]
fn check_tells_what_stands_in_the_way_of_a_proof() {
    let folder = Folder::new("bad-check");
    let program = folder.file("model.stan", &model(PRIOR));
    let data = folder.file("data.json", r#"{"N": 3, "x": [0, 1, 2], "y": [1, NaN, 4]}"#);
    let output = crust(&["check", &program, &data]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("not proven with these data") && said.contains("`y[2]`"), "{said}");
}

#[test]
fn a_run_that_fails_leaves_no_empty_result_behind() {
    let folder = Folder::new("bad-result");
    let program = folder.file("model.stan", &model(PRIOR));
    let data = folder.file("data.json", r#"{"N": 3, "x": [0, 1, 2], "y": [1, NaN, 4]}"#);
    let result = folder.file("result.json", "an earlier one");
    complaint(&["bread", &program, &data, "--json", &result]);
    assert_eq!(std::fs::read_to_string(&result).ok().as_deref(), Some("an earlier one"));
    std::fs::remove_file(&result).expect("it was there");
    complaint(&["bread", &program, &data, "--json", &result]);
    assert!(!std::path::Path::new(&result).exists());
}

/// Times that no clock has.
#[test]
fn budgets_without_end_are_refused() {
    let folder = Folder::new("budgets");
    let (program, data) = (folder.file("model.stan", &model(PRIOR)), folder.file("data.json", DATA));
    for budget in ["1e300h", "99999999999999999h", "0s", "nan"] {
        let output = crust(&["bread", &program, &data, "--budget", budget, "-q"]);
        assert_eq!(output.status.code(), Some(2), "{budget}: {}", stderr(&output));
        assert!(stderr(&output).contains("budget"), "{budget}: {}", stderr(&output));
    }
}
