//! Programs whose `transformed data` is run, and what comes out.

use crust_engine::data::Calculator;
use crust_stan::ast::BlockKind;
use crust_stan::data::Limits;
use crust_stan::deep::on_deep_stack;
use crust_stan::front_end;
use crust_stan::source::NoIncludes;
use crust_stan::value::Value;

/// Reads a program that must be free of errors.
fn read(text: &str) -> front_end::Reading {
    let reading = front_end::read("model.stan", None, text, &NoIncludes);
    let errors: Vec<_> = reading.problems.iter().filter(|p| p.is_error()).map(|p| &p.message).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    reading
}

/// Runs transformed data; the variables of the block as `name = value`, or the error with the text it points at.
fn run_with(text: &str, limits: Limits) -> Result<Vec<String>, String> {
    let reading = read(text);
    on_deep_stack(|| {
        let mut calculator = Calculator::new(&reading.typed, limits);
        calculator
            .transformed_data()
            .map_err(|d| format!("{}: {} <{}>", d.code, d.message, reading.source.slice(d.span)))?;
        let names = reading.typed.declared_in(BlockKind::TransformedData);
        Ok(names
            .map(|id| {
                let value = calculator.get(id).map_or_else(|| "unset".into(), Value::to_string);
                format!("{} = {value}", reading.typed.variable(id).name)
            })
            .collect())
    })
}

fn run(text: &str) -> Result<Vec<String>, String> {
    run_with(text, Limits::default())
}

/// Runs statements in transformed data, below some functions.
fn body(statements: &str) -> Result<Vec<String>, String> {
    run(&format!("transformed data {{ {statements} }}"))
}

/// The value of one expression of the given type.
#[track_caller]
fn value(declaration: &str, expression: &str, expected: &str) {
    match body(&format!("{declaration} x = {expression};")) {
        Ok(lines) => assert_eq!(lines[0], format!("x = {expected}"), "{expression}"),
        Err(message) => panic!("{expression}: {message}"),
    }
}

#[track_caller]
fn error(statements: &str, expected: &str) {
    assert_eq!(body(statements), Err(expected.to_owned()), "{statements}");
}

/// Against values known in closed form: log 120, log(52 √π / 32) …
#[test]
fn special_functions() {
    let near = |expression: &str, expected: f64| {
        let check = format!("abs({expression} - ({expected:e})) < 1e-13");
        value("int", &check, "1");
    };
    near("lgamma(6)", 120_f64.ln());
    near("lgamma(3.5)", (15.0 / 8.0 * std::f64::consts::PI.sqrt()).ln());
    near("tgamma(5)", 24.0);
    near("digamma(1)", -0.577_215_664_901_532_9);
    near("trigamma(1)", std::f64::consts::PI.powi(2) / 6.0);
    near("lchoose(10, 3)", 120_f64.ln());
    near("lbeta(2, 3)", -12_f64.ln());
    near("erf(0.5) + erfc(0.5)", 1.0);
    near("Phi(1.959963984540054)", 0.975);
    near("inv_Phi(0.975)", 1.959_963_984_540_054);
    value("vector[2]", "Phi([0, 0]')", "[0.5, 0.5]");
}

#[test]
fn arithmetic_of_integers() {
    value("int", "7 / 2 + 7 % 2 - 7 %/% 2", "1");
    value("int", "-7 / 2", "-3");
    value("int", "-7 % 3", "-1");
    value("int", "!0 + (3 > 2) + (2 == 2.0)", "3");
    value("real", "2 ^ 3 ^ 2", "512");
    value("real", "-2 ^ 2", "-4");
    value("real", "7 / 2", "3");
    value("real", "7 / 2.0", "3.5");
    value("int", "0 && 1 / 0", "0");
    value("int", "1 || 1 / 0", "1");
    error("int x = 1 / 0;", "division-by-zero: 1 / 0: integers cannot be divided by zero <1 / 0>");
    error("int x = 5 % 0;", "division-by-zero: 5 % 0: integers cannot be divided by zero <5 % 0>");
    error(
        "int x = 2147483647 + 1;",
        "integer-overflow: the result is 2147483648, which does not fit Stan's int, which has 32 bits <2147483647 + 1>",
    );
    error(
        "int x = (-2147483647 - 1) / -1;",
        "integer-overflow: the result is 2147483648, which does not fit Stan's int, which has 32 bits <(-2147483647 - 1) / -1>",
    );
}

#[test]
fn containers_and_operators() {
    value("vector[2]", "[1, 2]' + 1", "[2, 3]");
    value("real", "[1, 2] * [3, 4]'", "11");
    value("matrix[2, 2]", "[1, 2]' * [3, 4]", "[[3, 4], [6, 8]]");
    value("matrix[2, 2]", "[[1, 2], [3, 4]] * [[0, 1], [1, 0]]", "[[2, 1], [4, 3]]");
    value("row_vector[2]", "[1, 1] * [[1, 2], [3, 4]]", "[4, 6]");
    value("vector[2]", "[[1, 2], [3, 4]] * [1, 1]'", "[3, 7]");
    value("matrix[2, 2]", "[[1, 2], [3, 4]]'", "[[1, 3], [2, 4]]");
    value("vector[2]", "[[2, 0], [0, 4]] \\ [2, 2]'", "[1, 0.5]");
    value("row_vector[2]", "[2, 2] / [[0, 4], [2, 0]]", "[0.5, 1]");
    value("vector[2]", "[1, 2]' .* [3, 4]' ./ [2, 2]'", "[1.5, 4]");
    value("vector[2]", "[1, 2]' .^ 2", "[1, 4]");
    value("array[2] real", "{1, 2.5}", "[1, 2.5]");
    value("array[2, 2] int", "{{1, 2}, {3, 4}}", "[[1, 2], [3, 4]]");
    value("complex", "(1 + 2i) * (3 - 1i)", "<unknown: the engine has no complex numbers>");
    value("complex", "2.5", "<unknown: the engine has no complex numbers>");
    value("tuple(real, array[2] int)", "(1, {2, 3})", "(1, [2, 3])");
    value("real", "(1, (2, 3.5)).2.2", "3.5");
    value("array[2] tuple(int, real)", "{(1, 2), (3, 4.5)}", "[(1, 2), (3, 4.5)]");
    error(
        "vector[3] x = [1, 2]';",
        "size-mismatch: `x` is declared as vector[3], but its new value is a vector[2] <[1, 2]'>",
    );
    error(
        "vector[2] a = [1, 2]'; vector[3] b = [1, 2, 3]'; vector[2] x = a + b;",
        "size-mismatch: sizes do not fit: vector[2] and vector[3] <a + b>",
    );
    error("real x = {1, 2}[3];", "index-out-of-range: index 3 is out of range: dimension 1 has the indices 1 to 2 <3>");
    error(
        "matrix[2, 2] m; real x = m[2][3];",
        "index-out-of-range: index 3 is out of range: dimension 1 has the indices 1 to 2 <3>",
    );
    error("int n = -1; vector[n] x;", "negative-size: a size must not be negative <n>");
}

#[test]
fn indexing_and_assignment() {
    let text = "
        matrix[2, 3] m = [[1, 2, 3], [4, 5, 6]];
        vector[2] a = m[ , 2];
        row_vector[2] b = m[2, {3, 1}];
        m[1, 2:] = [20, 30];
        m[ , 1] += 100;
        array[2, 2] int k = {{1, 2}, {3, 4}};
        k[2] = {5, 6};
        k[1, 2] *= 10;
        array[2] tuple(int, vector[2]) t;
        t[1] = (7, [1, 2]');
        t[2].1 = 8;
        t[2].2 = [3, 4]';
        t[2].2[1] = 30;
        int p; vector[2] q;
        (p, q) = t[2];
        (k[1, 1], p) = (p, k[1, 1]);
        array[2] row_vector[3] r;
        r[ : , 1] = {1.5, 2};
        r[1, 2:3] = [7, 8];
        int last = k[2][2];";
    let expected = [
        "m = [[101, 20, 30], [104, 5, 6]]",
        "a = [2, 5]",
        "b = [6, 4]",
        "k = [[8, 20], [5, 6]]",
        "t = [(7, [1, 2]), (8, [30, 4])]",
        "p = 1",
        "q = [30, 4]",
        "r = [[1.5, 7, 8], [2, NaN, NaN]]",
        "last = 6",
    ];
    assert_eq!(body(text).expect("runs"), expected);
}

#[test]
fn loops_and_branches() {
    let text = "
        int sum = 0; int odd = 0; real each = 0; int steps = 0;
        for (i in 1:10) { if (i % 2 == 1) { odd += 1; continue; } if (i > 8) break; sum += i; }
        for (x in {1.5, 2.5}) each += x;
        for (x in [[1, 2], [3, 4]]) each = 10 * each + x;
        while (1) { steps += 1; if (steps == 5) break; }
        for (i in 3:2) sum = -1;
        int word = steps > 4 ? 1 : 2;
        profile(\"p\") { word += 1; }";
    let expected = ["sum = 20", "odd = 5", "each = 41234", "steps = 5", "word = 2"];
    assert_eq!(body(text).expect("runs"), expected);
}

#[test]
fn functions_recurse_with_variables_of_their_own() {
    let text = "
        functions {
          int fib(int n) { int a; if (n < 2) return n; a = fib(n - 1); return a + fib(n - 2); }
          real mean_of(vector x) { real s = 0; for (v in x) s += v; return s / num_elements(x); }
          array[] int upto(int n) { array[n] int r; for (i in 1:n) r[i] = i; return r; }
          void check(int n) { if (n < 0) reject(\"n is \", n, \"!\"); }
          real twice(real x) { return 2 * x; }
        }
        transformed data {
          int f = fib(15);
          real m = mean_of([1, 2, 6]');
          array[3] int u = upto(3);
          check(f);
          real t = twice(3);
        }";
    assert_eq!(run(text).expect("runs"), ["f = 610", "m = 3", "u = [1, 2, 3]", "t = 6"]);
    let text = "functions { void check(int n) { if (n < 0) reject(\"n is \", n, \"!\"); } }
        transformed data { check(-3); }";
    assert_eq!(
        run(text),
        Err("rejected: the program stops with `reject`: n is -3! <reject(\"n is \", n, \"!\");>".into())
    );
}

#[test]
fn endless_programs_are_stopped() {
    let limits = Limits { steps: 10_000, ..Limits::default() };
    let error = run_with("transformed data { while (1) { } }", limits).expect_err("endless");
    assert!(error.starts_with("too-many-steps"), "{error}");
    let text = "functions { int f(int n) { return f(n + 1) + 1; } } transformed data { int x = f(1); }";
    let error = run(text).expect_err("endless");
    assert!(error.starts_with("too-deep"), "{error}");
    let reading = read(text);
    let unprepared = Calculator::new(&reading.typed, Limits::default()).transformed_data().expect_err("endless");
    assert_eq!(unprepared.code, "too-deep", "also on the stack of a test thread");
    let deep = "functions { int f(int n) { if (n == 0) return 0; return 1 + f(n - 1); } }
        transformed data { int x = f(3000); }";
    assert_eq!(run(deep).expect("deep, but not endless"), ["x = 3000"]);
    let sum = vec!["1"; 3900].join(" + ");
    assert_eq!(body(&format!("int x = {sum};")).expect("long, but fine"), ["x = 3900"]);
    let error = body("vector[2000000000] x;").expect_err("too large");
    assert!(error.starts_with("too-large: vector[2000000000] is too large"), "{error}");
    let error = body("vector[1] x = rep_vector(0, 2000000000);").expect_err("too large");
    assert!(error.starts_with("too-large"), "{error}");
}

#[test]
fn what_is_not_known_spreads_no_further_than_it_must() {
    let text = "
        data { int N; }
        transformed data {
          int known = 3;
          real u = uniform_rng(0, 1);
          vector[4] draws;
          for (i in 1:4) draws[i] = normal_rng(0, 1);
          int size_of_draws = num_elements(draws) + rows(exp(draws));
          int maybe = 1;
          if (u > 0.5) maybe = 2; else known = known;
          int sure = 5;
          if (u > 2) print(sure);
          int zero = 0 && u > 0.5;
          int product = N * 2;
          real special = owens_t(3, 1);
          array[2] int k = {1, 2};
          k[maybe] = 5;
          int length = size(k);
        }";
    let expected = [
        "known = <unknown: `uniform_rng` draws at random>",
        "u = <unknown: `uniform_rng` draws at random>",
        "draws = <unknown: `normal_rng` draws at random>",
        "size_of_draws = 8",
        "maybe = <unknown: `uniform_rng` draws at random>",
        "sure = 5",
        "zero = <unknown: `uniform_rng` draws at random>",
        "product = <unknown: `N` is not in the data>",
        "special = 0.0006740379034671477",
        "k = <unknown: `uniform_rng` draws at random>",
        "length = 2",
    ];
    assert_eq!(run(text).expect("runs"), expected);
}

#[test]
fn loops_that_may_end_early_lose_what_they_assign() {
    let text = "
        functions {
          int f_rng(int n) { for (i in 1:n) if (uniform_rng(0, i) > 0.5) return i; return 0; }
          int g(int n) { return n + 1; }
        }
        transformed data {
          int a = 0; int b = 0; int c = 7;
          for (i in 1:3) { a += 1; if (uniform_rng(0, i) > 0.5) break; b = b + 1; }
          int d = f_rng(3);
          int e = g(c);
          while (uniform_rng(0, c) > 100) c -= 1;
        }";
    let lines = run(text).expect("runs");
    for (line, known) in lines.iter().zip([false, false, false, false, true]) {
        assert_eq!(!line.contains("unknown"), known, "{line}");
    }
    assert_eq!(lines[4], "e = 8");
}

#[test]
fn constraints_of_transformed_data_are_checked() {
    error(
        "real<lower=0> x; x = -2;",
        "constraint-violated: `x` is -2, but must be at least 0 at the end of transformed data <x>",
    );
    error(
        "array[2] simplex[2] s; s[1] = [0.5, 0.5]'; s[2] = [0.5, 0.6]';",
        "constraint-violated: `s[2]` sums to 1.1, but must sum to 1 at the end of transformed data <s>",
    );
    assert!(body("int<lower=1> x = 2; vector<lower=0, upper=[1, 2]'>[2] v = [0.5, 2]';").is_ok());
}

/// Loops over containers must cost per element, not per container: copies of 200,000 numbers for each of 200,000
/// assignments would take minutes.
#[test]
fn element_access_does_not_copy_containers() {
    let text = "
        functions { real get(vector x, int i) { return x[i]; } }
        transformed data {
          int n = 200000;
          vector[n] x; array[n] int k; matrix[n, 2] m; array[n] vector[2] a; real s = 0;
          tuple(array[n] int, real) t;
          for (i in 1:n) {
            x[i] = i; k[i] = i % 7; m[i, 2] = x[i] / 2; a[i][1] = k[i]; a[i, 2] = 1;
            x[i] += 1; k[i] *= 2; t.1[i] = i;
            s += get(x, i) + m[i][2] + a[i][1];
          }
        }";
    let lines = run(text).expect("runs");
    assert!(lines.iter().any(|line| line.starts_with("s = 3000")), "{}", lines[5]);
}
