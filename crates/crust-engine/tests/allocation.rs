//! After the first evaluations an evaluator takes no more memory.

#![allow(unsafe_code, reason = "an allocator that counts can be written in no other way")]
#![allow(clippy::cast_precision_loss, reason = "the integers are small")]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::{bind, folder};
use crust_engine::{Batch, Terms};

/// The allocator of the system, which counts what this thread asks for.
struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

fn count() {
    // A thread that ends may allocate after its counter is gone.
    let _ = COUNT.try_with(|n| n.set(n.get() + 1));
}

// SAFETY: every call is handed to the allocator of the system as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above; the pointer came from the same allocator.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const LANES: usize = 16;

/// Evaluates a program at changing points: 3 times to warm up, then `times` while counting allocations.
fn allocations(program: &str, data: &str, times: usize) -> usize {
    let model = bind(program, data);
    let dimension = model.dimension();
    let mut evaluator = model.evaluator();
    let mut points = vec![0.0; dimension * LANES];
    let (mut log_prior, mut log_likelihood) = (vec![0.0; LANES], vec![0.0; LANES]);
    let mut gradient = vec![0.0; dimension * LANES];
    let mut before = 0;
    for run in 0..3 + times {
        if run == 3 {
            before = COUNT.get();
        }
        for (i, x) in points.iter_mut().enumerate() {
            *x = (((run * 7 + i) as f64) * 0.618_034).fract() - 0.5;
        }
        let mut batch = Batch {
            lanes: LANES,
            points: &points,
            beta: None,
            log_prior: &mut log_prior,
            log_likelihood: &mut log_likelihood,
            gradient: &mut gradient,
        };
        evaluator.evaluate(&mut batch, Terms { propto: run % 2 == 0, jacobian: true }).expect("it runs");
    }
    let after = COUNT.get();
    assert!(log_prior.iter().chain(&log_likelihood).all(|x| x.is_finite()), "the points are not rejected");
    after - before
}

/// The data of a reference program: the table of reference densities names them beside the program.
fn reference(model: &str) -> (String, String) {
    let read = |path: &str| std::fs::read_to_string(folder("reference").join(path)).expect("the file is there");
    let table = read("density.csv");
    let line = table.lines().find(|l| l.split(',').next() == Some(model)).expect("the program is in the table");
    let data = line.split(',').nth(1).expect("it has data").trim_matches('"').to_owned();
    (read(&format!("models/{model}.stan")), read(&format!("data/{data}.json")))
}

#[test]
fn the_counter_counts() {
    let before = COUNT.get();
    let list = std::hint::black_box(vec![1.0_f64; 100]);
    assert!(COUNT.get() > before && list.len() == 100);
}

#[test]
fn reference_programs_allocate_nothing() {
    let mut found = Vec::new();
    for model in ["linreg", "logreg", "matfac", "ar1", "mixture"] {
        let (program, data) = reference(model);
        let n = allocations(&program, &data, 100);
        if n > 0 {
            found.push(format!("{model}: {n} allocations in 100 evaluations"));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Data of the programs below.
const DATA: &str = r#"{"N": 6, "y": [0, 2, 0, 1, 4, 0], "x": [0.1, -0.5, 1.0, 0.3, 0.7, -1.2]}"#;

fn check_nothing(model: &str) {
    let program = format!(
        "functions {{
           real curve(real a, real b, real x) {{ return a + b * x; }}
           real floored(real x, int k) {{ if (k == 0) return exp(x); return exp(x) + k; }}
         }}
         data {{ int N; array[N] int y; vector[N] x; }}
         parameters {{ real a; real b; real<lower=0, upper=1> theta; vector[3] v; cholesky_factor_corr[3] L; }}
         model {{ {model} }}"
    );
    let n = allocations(&program, DATA, 100);
    assert_eq!(n, 0, "{model} allocates {n} times in 100 evaluations");
}

#[test]
fn functions_allocate_nothing() {
    check_nothing("for (n in 1:N) target += poisson_lpmf(y[n] | exp(curve(a, b, x[n])));");
    check_nothing("for (n in 1:N) target += poisson_lpmf(y[n] | floored(curve(a, b, x[n]), y[n]));");
}

#[test]
fn branches_on_data_allocate_nothing() {
    check_nothing(
        "for (n in 1:N) {
           if (y[n] == 0) target += log_sum_exp(log(theta), log1m(theta) + poisson_log_lpmf(0 | a + b * x[n]));
           else target += log1m(theta) + poisson_log_lpmf(y[n] | a + b * x[n]);
         }",
    );
}

#[test]
fn matrix_functions_allocate_nothing() {
    check_nothing("matrix[3, 3] S = L * L' + diag_matrix(exp(v)); target += -sum(square(S));");
    check_nothing("L ~ lkj_corr_cholesky(2); v ~ multi_normal_cholesky(zeros_vector(3), L);");
    check_nothing(
        "matrix[3, 3] S = tcrossprod(L) + diag_matrix(exp(v));
         target += -log_determinant(S) + sum(mdivide_left_tri_low(cholesky_decompose(S), v));",
    );
    check_nothing("v ~ multi_normal(rep_vector(a, 3), quad_form_diag(multiply_lower_tri_self_transpose(L), exp(v)));");
}
