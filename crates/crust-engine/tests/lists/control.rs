//! Loops, functions and messages that parameters decide about, as lists.

use super::{DATA, TERMS, compare, points};
use crate::common::{agree, bind, evaluate};

/// The program is one list, in which lanes do not part; `compare` finds out whether it is right.
fn whole(program: &str, data: &str, points: &[Vec<f64>]) {
    compare(program, data, points);
    let mut evaluator = bind(program, data).evaluator();
    (0..3).for_each(|_| drop(evaluate(&mut evaluator, points, None, TERMS)));
    assert!(evaluator.ir().contains("of the whole program"), "{}", evaluator.ir());
}

#[test]
fn loops_end_where_parameters_say() {
    let program = "functions { real root(real x) {
            real r = 1 + x; real step = 1; int rounds = 0;
            while (abs(step) > 1e-9 && rounds < 40) { step = (square(r) - x) / (2 * r); r -= step; rounds += 1; }
            return r; } }
        data { int N; int K; vector[N] y; array[N] int g; array[N] int c; }
        parameters { real a; real<lower=0> b; }
        model { for (n in 1:N) target += -square(y[n] - root(b + square(a * n))); a ~ std_normal(); b ~ exponential(1); }";
    let mut all = points(17, 2);
    whole(program, DATA, &all);
    // More rounds than a list has.
    all.push(vec![1e9, 0.3]);
    all.push(vec![0.2, 45.0]);
    compare(program, DATA, &all);
}

#[test]
fn loops_are_left_and_rounds_cut_short() {
    let program = "data { int N; int K; vector[N] y; array[N] int g; array[N] int c; }
        parameters { real a; real b; vector[3] v; }
        model {
          real s = a; int rounds = 0;
          for (n in 1:N) {
            s += 0.3 * b - 0.1 * s;
            if (s > 0.4) { s *= 0.5; break; }
            if (s < y[n]) continue;
            if (b > 0.2) { s += 0.1; if (a > 0) { s -= b; } else { break; } }
            target += -square(s - y[n]);
          }
          for (x in v) { if (x > s) { s = 0.5 * x; continue; } target += -square(x * s); if (x < -0.5) break; }
          while (s > -1) { s -= 0.4; rounds += 1; if (s < b) break; target += -0.1 * square(s); }
          target += -square(s - b) - 0.1 * rounds;
          v ~ std_normal();
        }";
    whole(program, DATA, &points(33, 5));
}

#[test]
fn functions_call_themselves_until_parameters_say() {
    let program = "functions { real agm(real a, real b) {
            if (abs(a - b) < 1e-12 * a) return a;
            return agm(0.5 * (a + b), sqrt(a * b)); }
          real tail(real x, int k) { if (k > 20) return 0; return x / k * (1 + tail(x, k + 1)); } }
        data { int N; int K; vector[N] y; array[N] int g; array[N] int c; }
        parameters { real<lower=0> a; real<lower=0> b; }
        model { for (n in 1:N) target += -square(y[n] - agm(a + n, b + 0.1)) - 0.1 * tail(0.1 * a, 1); b ~ exponential(1); }";
    let mut all = points(17, 2);
    whole(program, DATA, &all);
    // Deeper than a list goes.
    all.push(vec![300.0, -300.0]);
    compare(program, DATA, &all);
}

#[test]
fn what_is_no_number_can_be_asked() {
    let program = "data { int N; int K; vector[N] y; array[N] int g; array[N] int c; }
        parameters { real a; real b; }
        model {
          for (n in 1:N) {
            real m = sqrt(a + y[n]);
            if (is_nan(m)) m = 0.1 * b;
            real q = exp(1000 * b);
            if (is_inf(q) || b < -2) target += -square(b);
            else target += -0.1 * square(b) * int_step(a - 0.2);
            target += -square(m - y[n]);
          }
          a ~ std_normal();
        }";
    compare(program, DATA, &points(17, 2));
}

#[test]
fn lanes_that_print_are_left_to_the_machine() {
    let program = "parameters { real a; real b; }
        model { real s = a; for (n in 1:5) { s = 0.5 * s + b; if (s > 1.5) print(\"large: \", n); target += -square(s); } }";
    whole(program, "{}", &points(9, 2));
    let points = [vec![0.1, 0.2], vec![0.3, 1.9], vec![0.2, -0.9]];
    let (mut lists, mut statements) =
        (bind(program, "{}").evaluator(), bind(program, "{}").evaluator().with_lists(false));
    for _ in 0..3 {
        let found = evaluate(&mut lists, &points, None, TERMS);
        let expected = evaluate(&mut statements, &points, None, TERMS);
        (0..3).for_each(|l| assert!(agree(found.log_density(l), expected.log_density(l), 1e-13)));
        let said = lists.take_messages();
        assert!(!said.is_empty());
        assert_eq!(said, statements.take_messages());
    }
}

/// Those whose density is 0 need no machine, and hurt no others.
#[test]
fn lanes_outside_of_the_support_stand_beside_others() {
    let program = "data { int N; int K; vector[N] y; array[N] int g; array[N] int c; }
        parameters { real a; real<lower=0> b; }
        model { real s = a; for (n in 1:N) { s = 0.5 * s + b; target += s > 2 ? negative_infinity() : -square(s - y[n]); }
                1 ~ bernoulli(b > 3 ? 0.0 : 0.5); b ~ normal(0, a > 5 ? -1 : 1); }";
    let mut all = points(9, 2);
    all.extend([vec![9.0, 0.1], vec![0.1, 2.5], vec![0.4, 0.3], vec![4.5, 0.1]]);
    let model = bind(program, DATA);
    let (mut lists, mut statements) = (model.evaluator(), model.evaluator().with_flat_loops(false));
    let alone: Vec<_> = all.iter().map(|p| evaluate(&mut statements, std::slice::from_ref(p), None, TERMS)).collect();
    for _ in 0..4 {
        let found = evaluate(&mut lists, &all, None, TERMS);
        assert!(lists.lists() > 0);
        for (l, alone) in alone.iter().enumerate() {
            assert!(agree(found.log_density(l), alone.log_density(0), 1e-12), "lane {l}");
            if found.log_density(l).is_finite() {
                assert!((0..2).all(|d| agree(found.gradient[l][d], alone.gradient[0][d], 1e-10)), "lane {l}");
            }
        }
    }
    let expected = evaluate(&mut statements, &all, None, TERMS);
    for l in 0..all.len() {
        let reason = |e: &crust_engine::Evaluator| e.rejections()[l].as_ref().map(|r| r.message.clone());
        assert_eq!(reason(&lists), reason(&statements), "lane {l}");
    }
    drop(expected);
}
