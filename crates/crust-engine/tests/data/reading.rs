//! Reading and writing beyond what the table of cases shows.

use crust_engine::data::{parameter_table, quantity_table, read_data, transformed};
use crust_stan::ast::BlockKind;
use crust_stan::data::{Limits, Options, write_json};
use crust_stan::front_end;
use crust_stan::source::NoIncludes;
use crust_stan::value::Value;
use proptest::prelude::*;

fn program(text: &str) -> front_end::Reading {
    let reading = front_end::read("model.stan", None, text, &NoIncludes);
    assert!(!reading.has_errors(), "{:?}", reading.problems);
    reading
}

#[test]
fn every_type_is_read_and_written_back() {
    let reading = program(
        "data {
          int N; real r; complex z; array[N] int k; array[N, 2] real a; vector[N] v; row_vector[N] w;
          matrix[2, N] m; array[2] matrix[N, 2] am; complex_vector[2] cv; complex_matrix[2, N] cm;
          tuple(int, array[2] real, tuple(real, vector[2])) t;
          array[2] tuple(int, matrix[1, 2], array[2] complex) at;
          array[0, 3] real nothing; matrix[N, 0] empty; array[0] tuple(int, real) no_tuples;
        }",
    );
    let json = r#"{
  "N": 3,
  "r": -0.5,
  "z": [1.0, -2.0],
  "k": [1, -2147483648, 2147483647],
  "a": [[1.0, 2.0], [3.0, 4.0], [5.0, "NaN"]],
  "v": ["Inf", "-Inf", 1e-300],
  "w": [1.0, 2.0, 3.0],
  "m": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],
  "am": [[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [[7.0, 8.0], [9.0, 10.0], [11.0, 12.0]]],
  "cv": [[1.0, 2.0], [3.0, 4.0]],
  "cm": [[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [[7.0, 8.0], [9.0, 10.0], [11.0, 12.0]]],
  "t": {"1": 7, "2": [0.5, 1.5], "3": {"1": 2.0, "2": [3.0, 4.0]}},
  "at": [{"1": 1, "2": [[2.0, 3.0]], "3": [[1.0, 2.0], [3.0, 4.0]]}, {"1": 4, "2": [[5.0, 6.0]], "3": [[5.0, 6.0], [7.0, 8.0]]}],
  "nothing": [],
  "empty": [],
  "no_tuples": []
}
"#;
    let data = read_data(&reading.typed, &reading.source, json, &Options::default()).expect("fits");
    assert_eq!(write_json(&reading.typed, &data), json);
    let text = |name| data.by_name(&reading.typed, name).map_or_else(String::new, Value::to_string);
    assert_eq!(text("m"), "[[1, 2, 3], [4, 5, 6]]");
    assert_eq!(text("at"), "[(1, [[2, 3]], [1+2i, 3+4i]), (4, [[5, 6]], [5+6i, 7+8i])]");
    let m = data.by_name(&reading.typed, "m").and_then(Value::to_reals).expect("numbers");
    assert_eq!(m, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0], "column by column");
    let empty = data.by_name(&reading.typed, "empty").and_then(Value::shape).expect("known");
    assert_eq!(empty.to_string(), "matrix[3, 0]");
}

#[test]
fn sizes_use_functions_and_earlier_data() {
    let reading = program(
        "functions { int twice(int n) { return 2 * n; } }
         data { int N; array[N] int k; vector[twice(N) + max(k)] v; array[size(v)] real w; }",
    );
    let json = r#"{"N": 1, "k": [1], "v": [1, 2, 3], "w": [1, 2, 3]}"#;
    assert!(read_data(&reading.typed, &reading.source, json, &Options::default()).is_ok());
}

#[test]
fn outcomes_may_be_missing() {
    let reading = program(
        "data { int N; vector[N] x; vector[N] y; array[N] int z; }
         transformed data { int n = num_elements(y); real s = sum(y); vector[N] t = x + 1; }
         parameters { vector[n] a; array[3] real<lower=0> b; }",
    );
    let json = r#"{"N": 2, "x": [1, 2], "z": [1, 2], "other": 3}"#;
    let options = Options { allow_missing: &|name| name == "y", ..Options::default() };
    let data = read_data(&reading.typed, &reading.source, json, &options).expect("y may be missing");
    assert_eq!(data.missing.len(), 1);
    assert_eq!(data.unused, ["other"]);
    let data = transformed(&reading.typed, data, Limits::default()).expect("runs");
    let text = |name| data.by_name(&reading.typed, name).map_or_else(String::new, Value::to_string);
    assert_eq!(text("n"), "2");
    assert_eq!(text("s"), "<unknown: `y` is not in the data>");
    assert_eq!(text("t"), "[2, 3]");
    let table = parameter_table(&reading.typed, &reading.source, &data, Limits::default()).expect("sizes");
    assert_eq!(table[0].declared, "vector[2]");
    assert_eq!(table[1].declared, "array[3] real<lower=0>");
    assert!(read_data(&reading.typed, &reading.source, json, &Options::default()).is_err());
    assert!(!write_json(&reading.typed, &data).contains("\"y\""));
}

#[test]
fn dimensions_are_stans() {
    let reading = program(
        "data { int K; int M; int N; }
         parameters {
           simplex[K] a; unit_vector[K] b; ordered[K] c; positive_ordered[K] d; sum_to_zero_vector[K] e;
           sum_to_zero_matrix[M, N] f; cov_matrix[K] g; corr_matrix[K] h; cholesky_factor_corr[K] i;
           cholesky_factor_cov[M, N] j; cholesky_factor_cov[K] k; column_stochastic_matrix[M, N] l;
           row_stochastic_matrix[M, N] m; complex n; complex_matrix[M, N] o; array[2, 3] simplex[K] p;
           tuple(real<lower=0>, array[2] simplex[K]) q; vector<offset=1, multiplier=2>[0] r; corr_matrix[0] s;
           cov_matrix[0] t; ordered[0] u; array[0] simplex[K] v; row_stochastic_matrix[0, N] w;
         }",
    );
    let json = r#"{"K": 4, "M": 5, "N": 3}"#;
    let data = read_data(&reading.typed, &reading.source, json, &Options::default()).expect("fits");
    let table = parameter_table(&reading.typed, &reading.source, &data, Limits::default()).expect("sizes");
    let dimensions: Vec<_> = table.iter().map(|row| row.dimension.expect("known")).collect();
    let expected = [3, 4, 4, 4, 3, 8, 10, 6, 6, 12, 10, 12, 10, 2, 30, 18, 7, 0, 0, 0, 0, 0, 0];
    assert_eq!(dimensions, expected);
    assert_eq!(table[9].count, Some(15));
    assert_eq!(table[9].declared, "cholesky_factor_cov[5, 3]");
    assert_eq!(table[16].declared, "tuple(real<lower=0>, array[2] simplex[4])");
    assert_eq!(table[17].declared, "vector<offset=1, multiplier=2>[0]");
    for (ty, message) in [
        ("simplex[0]", "the size of a simplex must be at least 1"),
        ("unit_vector[1]", "the size of a unit_vector must be at least 2"),
        ("sum_to_zero_matrix[2, 0]", "the size of a sum_to_zero_matrix must be at least 1"),
        ("cholesky_factor_cov[2, 3]", "a cholesky_factor_cov cannot have more columns (3) than rows (2)"),
        ("vector[-1]", "a size must not be negative"),
    ] {
        let reading = program(&format!("parameters {{ {ty} x; }}"));
        let data = read_data(&reading.typed, &reading.source, "{}", &Options::default()).expect("nothing to read");
        let error = parameter_table(&reading.typed, &reading.source, &data, Limits::default()).expect_err(ty);
        assert_eq!(error.message, message);
    }
}

#[test]
fn a_size_that_is_not_known_is_named_with_its_reason() {
    let reading = program(
        "transformed data { int n = poisson_rng(3); int m = 2; }
         parameters { vector[n] a; vector[m] b; }
         generated quantities { array[m] real c; }",
    );
    let data = read_data(&reading.typed, &reading.source, "{}", &Options::default()).expect("nothing to read");
    let data = transformed(&reading.typed, data, Limits::default()).expect("runs");
    let table = parameter_table(&reading.typed, &reading.source, &data, Limits::default()).expect("a table");
    assert_eq!((table[0].dimension, table[1].dimension), (None, Some(2)));
    assert_eq!(table[0].reason.as_deref(), Some("`poisson_rng` draws at random"));
    assert_eq!(table[0].declared, "vector[n]");
    let limits = Limits::default();
    let block = BlockKind::GeneratedQuantities;
    let table = quantity_table(&reading.typed, &reading.source, &data, limits, block).expect("a table");
    assert_eq!((table[0].count, table[0].dimension), (Some(2), None));
}

/// A million and a half numbers, some as rows of two. With a cost that grows faster than their number this would not
/// end.
#[test]
fn large_files_are_read() {
    let reading = program("data { int N; vector[N] v; array[N] int k; matrix[N, 2] m; }");
    let n = 500_000;
    let list = |f: &dyn Fn(usize) -> String| (0..n).map(f).collect::<Vec<_>>().join(",");
    let json = format!(
        "{{\"N\": {n}, \"v\": [{}], \"k\": [{}], \"m\": [{}]}}",
        list(&|i| format!("{}.{}", i % 100, i)),
        list(&|i| i.to_string()),
        list(&|i| format!("[{i}, 0.25]")),
    );
    let data = read_data(&reading.typed, &reading.source, &json, &Options::default()).expect("fits");
    let k = data.by_name(&reading.typed, "k").and_then(Value::to_ints).expect("ints");
    assert_eq!(k[n - 1], 499_999);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever the file holds, reading it ends, and with a message or a value.
    #[test]
    fn no_input_panics(json in r#"[\[\]{}",:0-9.eE+\-truefalsnNaIi \\u"xy1N]{0,60}"#, cut in 0_usize..60) {
        let reading = program(
            "data { int N; array[N] int k; matrix[N, 2] m; complex z; array[N] tuple(int, vector[N]) t;
               simplex[2] s; vector<lower=0>[N] y; }",
        );
        let _ = read_data(&reading.typed, &reading.source, &json, &Options::default());
        let whole = r#"{"N": 1, "k": [1], "m": [[1, 2]], "z": [1, 2], "t": [{"1": 1, "2": [1]}], "s": [0.5, 0.5], "y": [1]}"#;
        let mut mixed = whole.to_owned();
        mixed.replace_range(cut..(cut + 3).min(whole.len()), &json.chars().take(5).collect::<String>());
        if let Err(errors) = read_data(&reading.typed, &reading.source, &mixed, &Options::default()) {
            prop_assert!(!errors.render(&reading.source, false).is_empty());
        }
    }
}
