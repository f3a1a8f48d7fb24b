//! `crust check` as a user runs it.

mod common;

use common::{Folder, crust, root, stderr};
use std::process::Output;

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const MODEL: &str = "examples/coins/coins.stan";
const DATA: &str = "examples/coins/coins.json";

#[test]
fn a_valid_program_is_summarised() {
    let output = crust(&["check", MODEL, DATA]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("unconstrained dimension 16"), "{text}");
    assert!(text.contains("log_odds  vector<offset=centre[mint], multiplier=spread>[12]"), "{text}");
    assert!(stderr(&output).is_empty());
}

#[test]
fn what_bread_rests_on_is_told_where_parameters_cannot_be_drawn() {
    let folder = Folder::new("rests");
    let cases = [
        // a flat prior
        (
            "data { int N; vector[N] y; } parameters { real mu; } model { y ~ normal(mu, 1); }",
            r#"{"N": 3, "y": [0.1, 0.7, -0.3]}"#,
            Some("`mu` has no prior"),
        ),
        // censored observations
        (
            "data { vector[3] t; real c; } parameters { real<lower=0> r; }
             model { r ~ exponential(1); t ~ exponential(r); target += exponential_lccdf(c | r); }",
            r#"{"t": [0.4, 1.1, 0.2], "c": 2}"#,
            Some("censored observations stay"),
        ),
        // no density, whatever is done: the real data alone
        (
            "data { vector[3] y; } parameters { real mu; } model { mu ~ normal(0, 1); y ~ normal(mu, 1); y ~ cauchy(0, 2); }",
            r#"{"y": [0.4, 1.1, 0.2]}"#,
            None,
        ),
    ];
    let nothing = "bread anneals the posterior of the real data alone";
    for (program, data, told) in cases {
        let (model, data) = (folder.file("m.stan", program), folder.file("m.json", data));
        let text = stdout(&crust(&["check", &model, &data]));
        let bread = text.lines().find(|line| line.contains("bread can:"));
        match told {
            Some(words) => assert!(bread.is_some_and(|line| line.contains(words)), "{text}"),
            None => assert!(bread.is_none() && text.contains(nothing), "{text}"),
        }
        let alone = stdout(&crust(&["check", &model]));
        assert!(alone.contains("with data, `crust check`"), "{alone}");
    }
}

#[test]
fn mistakes_are_explained_with_exit_code_two() {
    let folder = Folder::new("mistakes");
    let model = folder.file("m.stan", "parameters { real mu; }\nmodel { mu ~ nromal(0, 1); target += nu; }\n");
    let output = crust(&["check", &model]);
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    assert!(text.contains("did you mean `normal`?") && text.contains("m.stan:2:14"), "{text}");
    assert!(text.contains("no variable `nu`") && text.contains("2 mistakes found"), "{text}");
    assert!(stdout(&output).is_empty());
}

#[test]
fn json_has_places_and_nothing_else_is_on_stdout() {
    let folder = Folder::new("json");
    let model = folder.file("m.stan", "model {\n  int x = 1.5;\n}\n");
    let output = crust(&["check", "--json", &model]);
    assert_eq!(output.status.code(), Some(2));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON on stdout");
    assert_eq!(json["ok"], false);
    let first = &json["diagnostics"][0];
    assert_eq!((&first["line"], &first["column"]), (&2.into(), &11.into()));
    assert_eq!(first["code"], "assignment-type");
    assert_eq!(first["file"], model.as_str());

    let file = folder.path("out.json");
    let output = crust(&["check", MODEL, DATA, "--json", &file]);
    assert_eq!(output.status.code(), Some(0));
    let text = std::fs::read_to_string(&file).expect("the JSON file");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON in the file");
    assert_eq!(json["unconstrained_dimension"], 16);
    assert_eq!(json["parameters"][1]["type"], "real<lower=0>");
}

#[test]
fn retired_syntax_passes_with_warnings_and_its_canonical_form_without() {
    let output = crust(&["check", "examples/coins/coins-retired.stan", DATA]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("write `array[coins] int<lower=0> heads`"), "{}", stderr(&output));

    let output = crust(&["check", "-q", "--canonical", "examples/coins/coins-retired.stan"]);
    assert!(stderr(&output).is_empty());
    let folder = Folder::new("canonical");
    let model = folder.file("canonical.stan", &stdout(&output));
    let output = crust(&["check", &model, DATA]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).is_empty(), "{}", stderr(&output));
}

#[test]
fn pedantic_warnings_do_not_fail() {
    let folder = Folder::new("pedantic");
    let text = "data { int n; int m; }\nparameters { real a; real s; real<lower=0, upper=2> b; }\n\
                model { s ~ gamma(1, n / 2); b ~ normal(0, 1); target += bernoulli_logit_lpmf(1 | a); }\n";
    let model = folder.file("m.stan", text);
    let output = crust(&["check", "--pedantic", &model]);
    assert_eq!(output.status.code(), Some(0));
    let text = stderr(&output);
    for code in ["unused-variable", "prior-support", "bounded-parameter", "no-prior", "integer-division"] {
        assert!(text.contains(code), "no {code} in\n{text}");
    }
    assert!(stderr(&crust(&["check", &model])).is_empty());
}

#[test]
fn includes_come_from_the_program_s_folder_and_the_include_path_only() {
    let folder = Folder::new("includes");
    std::fs::create_dir_all(folder.path("model")).expect("a folder");
    std::fs::create_dir_all(folder.path("shared")).expect("a folder");
    folder.file("shared/data.stan", "data { int n; }\n");
    folder.file("secret.stan", "data { int n; }\n");
    let model = folder.file("model/m.stan", "#include data.stan\nmodel { print(n); }\n");
    let output = crust(&["check", &model]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("include-not-found"), "{}", stderr(&output));
    let shared = folder.path("shared");
    assert_eq!(crust(&["check", &model, "--include-path", &shared]).status.code(), Some(0));
    let secret = folder.path("secret.stan");
    for name in ["../secret.stan", secret.as_str()] {
        let model = folder.file("model/escape.stan", &format!("#include {name}\n"));
        let output = crust(&["check", &model]);
        assert_eq!(output.status.code(), Some(2));
        let text = stderr(&output);
        assert!(text.contains("include-escapes") || text.contains("include-not-found"), "{text}");
    }
}

/// Every kind of bad input ends in a message and exit code 2.
#[test]
fn bad_input_table() {
    let folder = Folder::new("bad");
    let data = folder.file("data.json", "{\"mints\": 3}");
    let broken = folder.file("broken.json", "{\"mints\": 3,");
    let empty = folder.file("empty.json", "");
    let array = folder.file("array.json", "[1, 2]");
    let not_text = folder.path("binary.stan");
    std::fs::write(&not_text, [0xff, 0xfe, 0x00, 0x01]).expect("a file");
    let folder_path = folder.path("");
    let cases: &[(&[&str], &str)] = &[
        (&["check", "no-such-file.stan"], "cannot read the program"),
        (&["check", &folder_path], "cannot read the program"),
        (&["check", MODEL, "no-such-data.json"], "cannot read the data"),
        (&["check", MODEL, &data], "coins"),
        (&["check", MODEL, &broken], "JSON"),
        (&["check", MODEL, &empty], "JSON"),
        (&["check", MODEL, &array], "JSON object"),
        (&["check", &not_text], "bad-character"),
        (&["check"], "required"),
        (&["frobnicate"], "unrecognized subcommand"),
        (&["check", MODEL, "--json", "no/such/folder/out.json"], "cannot write"),
    ];
    for (arguments, expected) in cases {
        let output = crust(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}\n{}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{arguments:?}\n{}", stderr(&output));
    }
}

#[test]
fn an_empty_program_is_valid() {
    let folder = Folder::new("empty");
    let model = folder.file("empty.stan", "");
    let output = crust(&["check", &model]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).contains("but an empty one"), "{}", stdout(&output));
}

#[test]
fn a_file_that_is_no_program_does_not_flood_the_terminal() {
    let folder = Folder::new("flood");
    let model = folder.file("noise.stan", &"@ }\n".repeat(1000));
    let output = crust(&["check", &model]);
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    assert_eq!(text.matches("error[").count(), 50);
    assert!(text.contains("more errors"), "{text}");
}

/// Every `cargo run --release -- …` line of the documents works: those that take long with short chains, and reports go
/// to a folder of the test.
#[test]
fn commands_in_the_documents_work() {
    let folder = std::env::temp_dir().join(format!("crust-documents-{}", std::process::id()));
    let mut seen = 0;
    let documents = std::fs::read_dir(root().join("docs")).expect("documents");
    let documents =
        documents.map(|entry| entry.expect("a document").path()).filter(|p| p.extension().is_some_and(|e| e == "md"));
    for document in documents.chain([root().join("README.md")]) {
        let text = std::fs::read_to_string(&document).expect("a text");
        for line in text.lines() {
            let Some(rest) = line.strip_prefix("cargo run --release -- ") else { continue };
            let mut arguments: Vec<String> = rest.split_whitespace().map(str::to_owned).collect();
            if let Some(at) = arguments.iter().position(|word| word == "--out") {
                arguments[at + 1] = folder.join(seen.to_string()).to_string_lossy().into_owned();
            }
            if ["bread", "bdmc", "compare"].contains(&arguments[0].as_str()) {
                arguments.extend(["--steps", "10,30", "--chains", "8"].map(str::to_owned));
            }
            if arguments[0] == "sbc" {
                arguments.extend(["--datasets", "4"].map(str::to_owned));
            }
            if arguments[0] == "evidence" {
                arguments.extend(["--effort", "0.05"].map(str::to_owned));
            }
            if arguments[0] == "bread" {
                arguments.extend(["--replicates", "2", "--start-steps", "20"].map(str::to_owned));
            }
            let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let output = crust(&words);
            assert_eq!(output.status.code(), Some(0), "{}: {line}\n{}", document.display(), stderr(&output));
            seen += 1;
        }
    }
    assert!(seen >= 3, "only {seen} commands found");
    let _ = std::fs::remove_dir_all(&folder);
}
