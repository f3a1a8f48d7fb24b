//! Random programs: what runs as lists of operations must agree with the machine that runs statements, with
//! differences, and between lanes.

mod common;
#[path = "lists/control.rs"]
mod control;
#[path = "lists/matrices.rs"]
mod matrices;

use std::fmt::Write;

use common::{agree, bind, evaluate};
use crust_engine::Terms;
use crust_math::random::{Purpose, Stream, StreamKey};

const DATA: &str =
    r#"{"N": 6, "K": 3, "y": [0.3, -1.1, 0.7, 1.9, -0.4, 0.2], "g": [1, 3, 2, 2, 1, 3], "c": [0, 2, 1, 4, 0, 3]}"#;
const TERMS: Terms = Terms { propto: false, jacobian: true };

/// Writes programs.
struct Writer {
    stream: Stream,
    /// Names of reals that can be looked at.
    reals: Vec<String>,
    text: String,
    next: usize,
}

impl Writer {
    fn below(&mut self, n: u64) -> u64 {
        self.stream.below(n)
    }

    fn name(&mut self) -> String {
        self.next += 1;
        format!("z{}", self.next)
    }

    /// A real number that stays small.
    fn real(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.below(4) {
                0 => "y[n]".to_owned(),
                1 => "v[g[n]]".to_owned(),
                2 => format!("{:.2}", self.stream.uniform() - 0.5),
                _ => {
                    let most = u32::try_from(self.reals.len()).expect("few names");
                    let at = self.stream.next_u32() % most;
                    self.reals[at as usize].clone()
                }
            };
        }
        let a = self.real(depth - 1);
        let b = self.real(depth - 1);
        match self.below(14) {
            0 => format!("({a} + {b})"),
            1 => format!("({a} - 0.5 * {b})"),
            2 => format!("(0.3 * {a} * {b})"),
            3 => format!("({a} / (2 + square({b})))"),
            4 => format!("exp(-square({a}))"),
            5 => format!("inv_logit({a} - {b})"),
            6 => format!("tanh({a})"),
            7 => format!("log_sum_exp({a}, {b})"),
            8 => format!("sqrt(1 + square({a}))"),
            9 => format!("f({a}, {b})"),
            10 => format!("({a} > {b} ? 0.5 * {a} : sin({b}))"),
            11 => format!("log1p_exp({a})"),
            12 => format!("pow(1.5 + tanh({a}), 1.3)"),
            _ => format!("(-{a})"),
        }
    }

    fn statement(&mut self, depth: usize) {
        let value = self.real(2);
        match self.below(8) {
            0 => {
                let name = self.name();
                let _ = writeln!(self.text, "real {name} = {value};");
                self.reals.push(name);
            }
            1 => {
                let _ = writeln!(self.text, "s = 0.5 * s + {value};");
            }
            2 => {
                let _ = writeln!(self.text, "h[n, g[n]] = tanh(h[n, 1 + g[n] % K] + {value});");
            }
            3 => {
                let scale = self.real(1);
                let _ = writeln!(self.text, "target += normal_lpdf(y[n] | {value}, 0.5 + square({scale}));");
            }
            4 => {
                let _ = writeln!(self.text, "c[n] ~ poisson_log(tanh({value}));");
            }
            5 if depth > 0 => {
                let other = self.real(1);
                let kept = self.reals.len();
                let _ = writeln!(self.text, "if ({value} < {other}) {{");
                self.statement(depth - 1);
                self.reals.truncate(kept);
                let _ = writeln!(self.text, "}} else {{");
                self.statement(depth - 1);
                self.reals.truncate(kept);
                let _ = writeln!(self.text, "}}");
            }
            6 if depth > 0 => {
                let kept = self.reals.len();
                let k = self.name();
                let _ = writeln!(self.text, "for ({k} in 1:g[n]) {{ h[n, {k}] += 0.1 * {value} * v[{k}];");
                self.statement(depth - 1);
                self.reals.truncate(kept);
                let _ = writeln!(self.text, "}}");
            }
            _ => {
                let _ = writeln!(self.text, "target += -square({value});");
            }
        }
    }

    fn program(&mut self) -> String {
        "functions { real f(real a, real b) {
             vector[2] w = [0.1 * a, b]';
             if (a > b) return w[1] - w[2];
             w[1] += 0.2;
             return sum(w) * 0.5; } }
             data { int N; int K; vector[N] y; array[N] int g; array[N] int c; }
             parameters { real a; real<lower=0> b; vector[K] v; }
             transformed parameters { real<lower=0> q = b + 0.1; }
             model { real s = a; matrix[N, K] h = rep_matrix(0.1, N, K);
             a ~ normal(0, 1); b ~ exponential(1); v ~ normal(0, 1);
             for (n in 1:N) {\n"
            .clone_into(&mut self.text);
        self.reals = ["a", "b", "q", "s", "h[n, 1]", "h[n, g[n]]", "v[2]"].map(str::to_owned).to_vec();
        let statements = 2 + self.below(4);
        (0..statements).for_each(|_| self.statement(2));
        self.text.push_str("target += -0.1 * square(s); }\n to_vector(h) ~ normal(0, 2); }\n");
        self.text.clone()
    }
}

fn points(lanes: usize, dimension: usize) -> Vec<Vec<f64>> {
    let mut stream = StreamKey::new(5, Purpose::TEST).stream();
    (0..lanes).map(|_| (0..dimension).map(|_| 2.0 * stream.uniform() - 1.0).collect()).collect()
}

#[test]
fn random_programs_as_lists_and_as_statements() {
    for seed in 0..60 {
        let stream = StreamKey::new(seed, Purpose::TEST).stream();
        let program = Writer { stream, reals: Vec::new(), text: String::new(), next: 0 }.program();
        let model = bind(&program, DATA);
        let points = points(17, model.dimension());
        let mut lists = model.evaluator();
        let found = evaluate(&mut lists, &points, None, TERMS);
        let expected = evaluate(&mut model.evaluator().with_flat_loops(false), &points, None, TERMS);
        assert!(lists.lists() > 0, "nothing is a list in\n{program}");
        let mut single = model.evaluator().with_width(1);
        for (l, point) in points.iter().enumerate() {
            let (a, b) = (found.log_density(l), expected.log_density(l));
            assert!(agree(a, b, 1e-12), "seed {seed}, lane {l}: {a} is not {b}\n{program}");
            for (a, b) in found.gradient[l].iter().zip(&expected.gradient[l]) {
                assert!(agree(*a, *b, 1e-10), "seed {seed}, lane {l}, gradient: {a} is not {b}\n{program}");
            }
            let alone = evaluate(&mut single, std::slice::from_ref(point), None, TERMS);
            assert!(agree(alone.log_density(0), a, 1e-13), "seed {seed}, lane {l} alone\n{program}");
        }
    }
}

#[test]
fn other_points_and_batches_change_nothing() {
    let stream = StreamKey::new(3, Purpose::TEST).stream();
    let program = Writer { stream, reals: Vec::new(), text: String::new(), next: 0 }.program();
    let model = bind(&program, DATA);
    let points = points(24, model.dimension());
    let all = evaluate(&mut model.evaluator(), &points, None, TERMS);
    for lanes in [8, 16] {
        let mut evaluator = bind(&program, DATA).evaluator();
        for (k, part) in points.chunks(lanes).enumerate() {
            let found = evaluate(&mut evaluator, part, None, TERMS);
            for l in 0..part.len() {
                assert_eq!(found.log_density(l).to_bits(), all.log_density(k * lanes + l).to_bits());
                assert_eq!(found.gradient[l], all.gradient[k * lanes + l]);
            }
        }
    }
}

#[test]
fn rejections_have_the_same_reason() {
    let program = "parameters { real a; real b; }
        model { real s = a; for (n in 1:5) { s = 0.5 * s + b; if (s > 2) reject(\"too large: \", n); target += -square(s); }
                target += normal_lpdf(a | 0, b); }";
    let model = bind(program, "{}");
    let points = vec![vec![0.1, 0.2], vec![9.0, 0.1], vec![0.3, -0.5], vec![0.2, 0.9]];
    let mut lists = model.evaluator();
    let found = evaluate(&mut lists, &points, None, TERMS);
    let mut statements = model.evaluator().with_flat_loops(false);
    let expected = evaluate(&mut statements, &points, None, TERMS);
    assert!(lists.lists() > 0);
    for l in 0..points.len() {
        let reason = |e: &crust_engine::Evaluator| e.rejections()[l].as_ref().map(|r| r.message.clone());
        assert_eq!(reason(&lists), reason(&statements));
        assert!(agree(found.log_density(l), expected.log_density(l), 1e-13));
    }
    assert!([1, 2].iter().all(|&l| found.log_density(l).is_infinite()));
}

/// A program of which something is a list, against the machine that runs its statements.
fn compare(program: &str, data: &str, points: &[Vec<f64>]) {
    let model = bind(program, data);
    let mut lists = model.evaluator();
    let found = evaluate(&mut lists, points, None, TERMS);
    let expected = evaluate(&mut model.evaluator().with_flat_loops(false), points, None, TERMS);
    assert!(lists.lists() > 0, "nothing is a list in\n{program}");
    for (l, point) in points.iter().enumerate() {
        let (a, b) = (found.log_density(l), expected.log_density(l));
        assert!(agree(a, b, 1e-12), "{point:?}: {a} is not {b}");
        for (a, b) in found.gradient[l].iter().zip(&expected.gradient[l]) {
            assert!(agree(*a, *b, 1e-10), "{point:?}, gradient: {a} is not {b}");
        }
    }
    // Lanes alone may have other bits.
    for (k, part) in points.chunks(8).enumerate().filter(|(_, part)| part.len() > 1) {
        let some = evaluate(&mut model.evaluator(), part, None, TERMS);
        for (l, point) in part.iter().enumerate() {
            let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
            assert!(same(some.log_density(l), found.log_density(8 * k + l)), "{point:?}");
            let pairs = || some.gradient[l].iter().zip(&found.gradient[8 * k + l]);
            assert!(pairs().all(|(a, b)| same(*a, *b)), "{point:?}");
        }
    }
}

/// Terms must not bring the others of their statement to the machine.
#[test]
fn terms_with_loops_are_lists_beside_terms_without() {
    let program = "functions { real chain(vector x, real a) {
            real s = 0; for (i in 2:num_elements(x)) s += a * x[i] * x[i - 1]; return s - dot_self(x); } }
        data { int N; int K; vector[N] y; array[N] int g; array[N] int c; }
        transformed data { matrix[40, 2] X; vector[40] z; for (i in 1:40) { X[i] = [1, y[1 + i % N]]; z[i] = y[1 + i % 5]; } }
        parameters { vector[2] b; real a; real<lower=0> s; vector[K] v; }
        model { v ~ normal(0, 1); target += chain(v, a); z ~ normal(X * b, s); target += chain(b, 0.5 * a); a ~ normal(0, 1); }";
    compare(program, DATA, &points(17, 7));
}

/// Where points are the same, factors are 0, and all numbers are equal, too.
#[test]
fn summaries_of_containers_are_operations() {
    let program = "parameters { array[3] vector[2] z; vector[4] v; }
        model {
          for (i in 1:2) for (j in (i + 1):3) target += 0.1 * squared_distance(z[i], z[j]) - distance(z[i], z[j]);
          for (k in 1:3) {
            target += 0.3 * prod(v[k:4]) + max(v[1:k]) - 2 * min(v[k:4]);
            target += variance(v[1:(k + 1)]) - sd(v[k:4]);
          }
          v ~ std_normal();
        }";
    let mut points = points(17, 10);
    points.push(vec![0.0; 10]);
    points.push(vec![0.5, -0.2, 0.5, -0.2, 0.1, 0.3, 0.0, 0.7, 0.7, -0.2]);
    points.push(vec![0.5, -0.2, 0.5, -0.1, 0.1, 0.3, 0.4, 0.0, 0.7, 0.0]);
    compare(program, "{}", &points);
}

#[test]
fn sparse_matrices_are_short_products() {
    let program = "transformed data { matrix[4, 3] X = [[1, 0, 2], [0, 0, 0], [0, 0.5, 0], [-1, 1, 3]]; int m = 0; }
        parameters { vector[3] b; real a; }
        model {
          vector[3] c;
          for (i in 1:3) c[i] = i == 1 ? b[1] : b[i] + 0.5 * c[i - 1];
          vector[4] p = csr_matrix_times_vector(4, 3, csr_extract_w(X), csr_extract_v(X), csr_extract_u(X), c);
          p += csr_matrix_times_vector(4, 3, exp(a) * csr_extract_w(X), csr_extract_v(X), csr_extract_u(X), b);
          for (i in 1:4) target += -square(p[i] - i);
          a ~ std_normal();
        }";
    compare(program, "{}", &points(17, 4));
}

#[test]
fn ordered_outcomes_are_taken_one_by_one() {
    let program = "data { int N; int K; vector[N] y; array[N] int g; array[N] int c; }
        transformed data { matrix[N, 2] X = append_col(rep_vector(1, N), y); }
        parameters { ordered[2] cuts; vector[N] v; vector[2] b; real a; }
        model {
          vector[N] eta;
          for (n in 1:N) eta[n] = n == 1 ? v[1] : v[n] + 0.5 * eta[n - 1];
          g ~ ordered_logistic(eta, cuts);
          g[2] ~ ordered_logistic(a, cuts);
          g ~ ordered_logistic_glm(X, b, cuts);
          v ~ std_normal();
        }";
    compare(program, DATA, &points(17, 11));
    // However many there are, and beside a large vectorised term.
    let program =
        "transformed data { array[1500] int y; vector[1500] x; for (i in 1:1500) { y[i] = 1 + i % 3; x[i] = cos(i); } }
        parameters { ordered[2] cuts; real b; }
        model { y ~ ordered_logistic(b * x, cuts); x ~ student_t(4, b * x, exp(b)); }";
    compare(program, "{}", &points(9, 3));
}

/// Also of numbers that are positive and depend on parameters, as exponents do.
#[test]
fn powers_with_exponents_that_depend_on_parameters() {
    let program = "data { int N; int K; vector[N] y; array[N] int g; array[N] int c; }
        parameters { real t; real<lower=0> s; }
        model { real x = 1; for (n in 1:N) { x = 0.5 * x + s ^ t + c[n] ^ exp(t) + pow(exp(y[n]), t); target += -x; } }";
    compare(program, DATA, &points(17, 2));
}

/// Loops in a branch that is not taken, or beside large products, must not bring products into lists.
#[test]
fn branches_that_data_choose_are_as_good_as_outside() {
    let program = |condition: &str| {
        format!(
            "functions {{ vector steps(vector v, matrix X) {{ vector[rows(X)] p = X * v; for (i in 2:rows(X)) p[i] += p[i - 1]; return p; }} }}
            data {{ int N; int K; vector[N] y; array[N] int g; array[N] int c; }}
            transformed data {{ matrix[900, 20] X; for (i in 1:900) for (k in 1:20) X[i, k] = cos(i * k); }}
            parameters {{ vector[20] v; real a; }}
            transformed parameters {{
              vector[900] mu;
              if (N == 6) mu = a + X * v; else if (N == 7) mu = steps(v, X);
            }}
            model {{
              if ({condition}) {{ target += -sum(square(mu)); for (n in 1:N) target += -0.1 * square(mu[n] - y[n]); }} else {{ v ~ normal(1, 1); }}
              v ~ std_normal(); a ~ std_normal();
              real s = a; for (n in 1:N) {{ s = 0.5 * s + a; target += -square(s); }}
            }}"
        )
    };
    let points = points(9, 21);
    for condition in ["N == 6", "N != 6"] {
        compare(&program(condition), DATA, &points);
    }
    let model = bind(&program("N == 6"), DATA);
    let mut evaluator = model.evaluator();
    evaluate(&mut evaluator, &points, None, TERMS);
    assert!(!evaluator.ir().contains("of the whole program"), "{}", evaluator.ir());
}
