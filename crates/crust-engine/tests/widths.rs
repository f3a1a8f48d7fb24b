//! What a chain gets does not depend on how many run together: to the last bit, alone and for 8, 16, 32 and 64 lanes,
//! which run in groups of different sizes.

mod common;
#[path = "../benches/breadth/data.rs"]
mod data;

use common::{Evaluated, bind, breadth_programs, evaluate, scattered};
use crust_engine::Terms;

/// Programs that take long.
const LONG: [&str; 2] = ["epidemic", "long_regression"];

const TERMS: Terms = Terms { propto: true, jacobian: true };

fn bits(evaluated: &Evaluated, l: usize) -> Vec<u64> {
    let gradient = evaluated.gradient[l].iter();
    gradient.chain([&evaluated.log_prior[l], &evaluated.log_likelihood[l]]).map(|x| x.to_bits()).collect()
}

#[test]
fn groups_of_lanes_change_nothing() {
    for (name, text) in breadth_programs(&LONG) {
        let model = bind(&text, &data::of(&name).to_string());
        assert!(model.lanes_agree(), "{name}");
        let points = scattered(model.dimension(), 64, 0.321);
        let mut evaluator = model.evaluator();
        let all = [0, 1].map(|_| evaluate(&mut evaluator, &points, None, TERMS));
        for lanes in [8, 16, 32, 1] {
            let mut evaluator = model.evaluator();
            for (k, part) in points.chunks(lanes).enumerate().take(4) {
                let found = evaluate(&mut evaluator, part, None, TERMS);
                for l in 0..lanes {
                    let expected = bits(&all[1], k * lanes + l);
                    assert_eq!(expected, bits(&all[0], k * lanes + l), "{name}, the first time");
                    assert_eq!(bits(&found, l), expected, "{name}, {lanes} lanes, lane {}", k * lanes + l);
                }
            }
        }
    }
}

/// What loops do, each for as many iterations as there are data: products, groups, scales of all kinds, mixtures,
/// variables that are filled, links.
const LOOPS: &[&str] = &[
    "for (n in 1:N) k[n] ~ bernoulli_logit(a + x[n] * b);",
    "for (n in 1:N) y[n] ~ normal(a * u[g[n]] + u[h[n]] - u[g[n]] * z[n], s);",
    "for (n in 1:N) u[g[n]] ~ normal(u[h[n]] + z[n], s);",
    "for (n in 1:N) y[n] ~ normal(a + z[n], s * exp(u[g[n]]));",
    "for (n in 1:N) y[n] ~ student_t(3 + s, a + u[h[n]], s);",
    "for (n in 1:N) target += log_sum_exp(normal_lpdf(y[n] | a, s), normal_lpdf(y[n] | u[g[n]], 1));",
    "for (n in 1:N) target += log_mix(inv_logit(a), normal_lpdf(y[n] | a, s), normal_lpdf(y[n] | z[n], 1));",
    "vector[N] m; for (n in 1:N) m[n] = exp(0.1 * u[g[n]]) + a; for (n in 1:N) y[n] ~ normal(m[n], s);",
    "for (n in 1:N) y[n] ~ normal(dot_product(w[g[n]], w[h[n]]), s);",
    "for (n in 1:N) k[n] ~ bernoulli(inv_logit(dot_product(w[g[n]], w[h[n]]) + a));",
    "for (n in 1:N) k[n] ~ poisson_log(a + u[g[n]] + x[n] * b); for (n in 1:N) target += -square(u[h[n]] - a / s);",
    "for (n in 1:N) target += -0.5 * distance(w[g[n]], w[h[n]]) - square(tanh(a * z[n]));",
    "y ~ cauchy(x * b + u[g], s); k ~ bernoulli_logit(x * b);",
];

#[test]
fn loops_add_up_in_the_same_order_alone() {
    let head = "data { int N; vector[N] y; vector[N] z; matrix[N, 5] x;
            array[N] int g; array[N] int h; array[N] int<lower=0, upper=1> k; }
        parameters { real a; real<lower=0> s; vector[5] b; vector[6] u; array[6] vector[3] w; }
        model {";
    let tail = "a ~ normal(0, 1); s ~ exponential(1); b ~ normal(0, 1); u ~ normal(0, 1);
            for (i in 1:6) w[i] ~ normal(0, 1); }";
    for n in [1_usize, 3, 7, 8, 9, 16, 21, 63, 64, 71, 100, 128, 131, 200, 301] {
        let number = |i: usize| f64::from(u8::try_from((i * 37 + n) % 101).expect("small")) / 40.0 - 1.2;
        let of = |from: usize| (from..from + n).map(number).collect::<Vec<_>>();
        let x: Vec<Vec<f64>> = (0..n).map(|i| (0..5).map(|j| number(i * 5 + j)).collect()).collect();
        let group = |by: usize| (0..n).map(|i| (i / by * 5 + i / 7) % 6 + 1).collect::<Vec<_>>();
        let data = serde_json::json!({
            "N": n, "y": of(0), "z": of(13), "x": x, "g": group(1), "h": group(3),
            "k": (0..n).map(|i| i * 5 % 3 % 2).collect::<Vec<_>>(),
        });
        for body in LOOPS {
            let model = bind(&format!("{head} {body} {tail}"), &data.to_string());
            // The machine has an order of its own for functions of vectors.
            for lists in [true, false].into_iter().filter(|lists| *lists || !body.contains("distance")) {
                let points = scattered(model.dimension(), 16, 0.123);
                let [mut wide, mut single] = [64, 1].map(|width| model.evaluator().with_lists(lists).with_width(width));
                let together = evaluate(&mut wide, &points, None, TERMS);
                for (l, point) in points.iter().enumerate() {
                    let alone = evaluate(&mut single, std::slice::from_ref(point), None, TERMS);
                    assert!(alone.log_density(0).is_finite(), "{body}, {n}");
                    assert_eq!(bits(&alone, 0), bits(&together, l), "{body}, {n} iterations, lists {lists}, lane {l}");
                }
                assert!(model.lanes_agree(), "{body}, {n}");
            }
        }
    }
}

/// Arithmetic on vectors and products, statement by statement.
#[test]
fn statements_add_up_in_the_same_order_alone() {
    let bodies = [
        "u ~ normal(a, s);",
        "z ~ normal(a * u + u / s, s);",
        "target += -sum(square(a * u - z)) - dot_self(u * s);",
        "target += -sum(square(x * u)) + dot_product(x[1], u) * a;",
        "z ~ normal(x * u + a, 2); u ~ normal(0, 1);",
        "to_vector(w) ~ normal(0, 1); target += -sum(square(w * x)) - 0.1 * sum(square(w * w'));",
        "u ~ student_t(4, a, s); u ~ logistic(a, s);",
        "target += sum(log1p_exp(a + u)) - sum(exp(u[1:N])) * s;",
    ];
    for n in [1_usize, 2, 7, 8, 9, 17, 40] {
        let number = |i: usize| f64::from(u8::try_from((i * 37 + n) % 101).expect("small")) / 40.0 - 1.2;
        let x: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| number(i * 5 + j * 3)).collect()).collect();
        let data = serde_json::json!({ "N": n, "z": (0..n).map(number).collect::<Vec<_>>(), "x": x });
        for body in bodies {
            let program = format!(
                "data {{ int N; vector[N] z; matrix[N, N] x; }}
                parameters {{ real a; real<lower=0> s; vector[N] u; matrix[3, N] w; }} model {{ {body} }}"
            );
            let model = bind(&program, &data.to_string());
            let points = scattered(model.dimension(), 64, 0.789);
            let evaluator = |width: usize| model.evaluator().with_lists(false).with_flat_loops(false).with_width(width);
            let (together, mut single) = (evaluate(&mut evaluator(64), &points, None, TERMS), evaluator(1));
            for (l, point) in points.iter().enumerate() {
                let alone = evaluate(&mut single, std::slice::from_ref(point), None, TERMS);
                assert_eq!(bits(&alone, 0), bits(&together, l), "{body}, {n} elements, lane {l}");
            }
        }
    }
}

/// Functions of small matrices have versions for eight lanes, those of large ones are taken lane by lane.
#[test]
fn matrices_have_the_same_bits_alone() {
    let bodies = [
        "matrix[N, N] c = gp_exp_quad_cov(x, a, s) + diag_matrix(rep_vector(0.1, N));
            y ~ multi_normal_cholesky(rep_vector(0, N), cholesky_decompose(c));",
        "matrix[N, N] c = gp_matern32_cov(x, s, a) + diag_matrix(rep_vector(0.1, N)); y ~ multi_normal(u, c);",
        "matrix[N, N] c = add_diag(gp_exponential_cov(x, z, a, s) * gp_exponential_cov(z, x, a, s), 1);
            target += sum(cholesky_decompose(0.5 * (c + c')) * u);",
        "y ~ multi_normal_prec(u, add_diag(u * u', s)); u ~ normal(0, 1);",
        "target += -a * sum(square(matrix_exp(0.1 * u * y')));",
    ];
    for n in [1_usize, 4, 11, 21, 40, 64, 67] {
        let number = |i: usize| f64::from(u8::try_from((i * 37 + n) % 101).expect("small")) / 40.0 - 1.2;
        let numbers = |from: usize| (from..from + n).map(number).collect::<Vec<_>>();
        let data = serde_json::json!({ "N": n, "x": numbers(0), "y": numbers(5), "z": numbers(13) });
        for body in bodies {
            let program = format!(
                "data {{ int N; array[N] real x; array[N] real z; vector[N] y; }}
                parameters {{ real<lower=0> a; real<lower=0> s; vector[N] u; }} model {{ {body} }}"
            );
            let model = bind(&program, &data.to_string());
            for lists in [true, false] {
                let points = scattered(model.dimension(), 16, 0.654);
                let [mut wide, mut single] = [64, 1].map(|width| model.evaluator().with_lists(lists).with_width(width));
                let together = evaluate(&mut wide, &points, None, TERMS);
                for (l, point) in points.iter().enumerate() {
                    let alone = evaluate(&mut single, std::slice::from_ref(point), None, TERMS);
                    assert!(alone.log_density(0).is_finite(), "{body}, {n}");
                    assert_eq!(bits(&alone, 0), bits(&together, l), "{body}, {n}, lists {lists}, lane {l}");
                }
            }
        }
    }
}

/// Threads that evaluate a program for the first time, together, find what a thread alone finds: what one of them
/// compiles is used by the others at once, also in the middle of their first evaluation.
#[test]
fn threads_that_begin_together_have_the_same_bits() {
    const THREADS: usize = 4;
    let (name, text) = breadth_programs(&LONG).into_iter().find(|(name, _)| name == "mixture").expect("it is there");
    let json = data::of(&name).to_string();
    let points = scattered(bind(&text, &json).dimension(), THREADS, 0.321);
    let alone = evaluate(&mut bind(&text, &json).evaluator(), &points, None, TERMS);
    for _ in 0..20 {
        let model = bind(&text, &json);
        let barrier = std::sync::Barrier::new(THREADS);
        std::thread::scope(|scope| {
            let run = |l: usize| {
                let (model, barrier, points) = (&model, &barrier, &points);
                scope.spawn(move || {
                    let mut evaluator = model.evaluator();
                    barrier.wait();
                    bits(&evaluate(&mut evaluator, &points[l..=l], None, TERMS), 0)
                })
            };
            let threads: Vec<_> = (0..THREADS).map(run).collect();
            for (l, thread) in threads.into_iter().enumerate() {
                assert_eq!(thread.join().expect("bits"), bits(&alone, l), "thread {l}");
            }
        });
    }
}
