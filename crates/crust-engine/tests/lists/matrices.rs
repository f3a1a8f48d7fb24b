//! Small matrices as operations, against calls and the machine.

use super::{compare, points};

/// Whether no function of these is called: they are operations.
fn without_calls(program: &str, names: &[&str], points: &[Vec<f64>]) {
    compare(program, "{}", points);
    let model = crate::common::bind(program, "{}");
    let mut evaluator = model.evaluator();
    (0..3).for_each(|_| drop(crate::common::evaluate(&mut evaluator, points, None, super::TERMS)));
    let ir = evaluator.ir();
    for name in names {
        assert!(!ir.contains(name), "{name} is called in\n{ir}");
    }
}

#[test]
fn functions_of_small_matrices_are_operations() {
    let program = "parameters { matrix[3, 3] m; vector<lower=0>[3] d; vector[3] b; }
        model {
          for (i in 1:2) {
            matrix[3, 3] s = add_diag(tcrossprod(m * 0.3), d + i);
            matrix[3, 3] l = cholesky_decompose(s);
            target += -sum(square(l)) + sum(mdivide_left_tri_low(l, b)) - sum(mdivide_right_tri_low(b', l));
            target += log_determinant(s) + 0.1 * log_determinant_spd(s) + 0.01 * determinant(s[1:2, 1:2]);
            target += b' * mdivide_left(s, b) - sum(mdivide_right(b', s)) + 0.1 * trace(inverse(s)) + trace(inverse_spd(s));
            target += -sum(mdivide_left_spd(s, b)) + sum(mdivide_right_spd(b', s)) - quad_form(s, b);
            target += -sum(quad_form_diag(s, b)) - 0.1 * sum(multiply_lower_tri_self_transpose(l));
            target += -sum(inverse(s[1:2, 1:2])) + inverse(s[1:1, 1:1])[1, 1] - sum(quad_form(s, m));
          }
          to_vector(m) ~ std_normal(); b ~ std_normal(); d ~ exponential(1);
        }";
    let names =
        ["cholesky_decompose", "mdivide", "log_determinant", "inverse", "quad_form", "multiply_lower", "determinant"];
    without_calls(program, &names, &points(17, 15));
}

#[test]
fn multivariate_densities_of_few_dimensions_are_operations() {
    let program = "transformed data { array[4] vector[3] y; for (n in 1:4) for (k in 1:3) y[n, k] = cos(n * k); }
        parameters { cholesky_factor_corr[3] l; vector<lower=0>[3] t; vector[3] mu; real<lower=0> nu; }
        model {
          matrix[3, 3] c = diag_pre_multiply(t, l);
          matrix[3, 3] s = multiply_lower_tri_self_transpose(c);
          for (n in 1:4) {
            y[n] ~ multi_normal(mu * n, s);
            y[n] ~ multi_normal_cholesky(mu, c);
            y[n] ~ multi_normal_prec(mu - n, s);
            y[n] ~ multi_student_t(nu, mu, s);
            target += multi_student_t_cholesky_lpdf(y[n] | 4, mu, c);
          }
          target += multi_student_t_lpdf(y | nu + 1, mu, s);
          nu ~ exponential(1); t ~ lognormal(0, 1); mu ~ std_normal();
        }";
    without_calls(program, &["multi_normal", "multi_student_t"], &points(17, 10));
}

/// Matrices that are no covariance matrices are told as such.
#[test]
fn what_is_not_positive_definite_is_rejected() {
    let program = "parameters { vector[2] mu; real r; }
        model { for (i in 1:3) { matrix[2, 2] s = [[1, r], [r, 1]];
                  target += multi_normal_lpdf([0.1 * i, 0.2]' | mu, s) + sum(cholesky_decompose(s)); } mu ~ std_normal(); r ~ normal(0, 1); }";
    let mut all = points(9, 3);
    all.extend([vec![0.1, 0.2, 1.5], vec![0.3, 0.1, -1.0], vec![0.3, 0.1, 0.999]]);
    compare(program, "{}", &all);
}

/// `log_sum_exp(x[n:N])` for all n: a list of as many operations as numbers.
#[test]
fn sums_over_ever_shorter_stretches_are_nested() {
    let program = "transformed data { vector[60] z; for (n in 1:60) z[n] = cos(7 * n); }
        parameters { real b; vector[2] c; }
        model {
          vector[60] x = b * z + c[1] * square(z);
          for (n in 1:60) if (n % 3 != 0) target += x[n] - log_sum_exp(x[n:60]) - 0.1 * log_sum_exp(head(x, n));
          c ~ std_normal(); b ~ std_normal();
        }";
    compare(program, "{}", &points(17, 3));
    let model = crate::common::bind(program, "{}");
    let mut evaluator = model.evaluator();
    crate::common::evaluate(&mut evaluator, &points(8, 3), None, super::TERMS);
    assert!(evaluator.work() < 4000, "{}", evaluator.work());
}

#[test]
fn functions_of_two_numbers_have_kernels() {
    let program = "transformed data { vector[50] z; for (n in 1:50) z[n] = cos(7 * n); }
        parameters { real a; real<lower=0> b; real s; }
        model {
          real r = s;
          for (n in 1:50) {
            real x = a * z[n];
            r = 0.5 * r + 0.1 * fmax(x, r) - 0.2 * fmin(x, b);
            target += log_diff_exp(x + b, x) + log_inv_logit_diff(x + b + 0.1, x) - 0.1 * lmultiply(x, b) - pow(b + 0.1, x) - square(r);
          }
          a ~ std_normal(); b ~ exponential(1); s ~ std_normal();
        }";
    compare(program, "{}", &points(17, 3));
}

/// Eight lanes at once against one.
#[test]
fn precision_matrices_of_many_dimensions_in_lanes() {
    let program = "transformed data { matrix[9, 9] w = rep_matrix(0, 9, 9); array[3] vector[9] y;
            for (i in 1:8) { w[i, i + 1] = 1; w[i + 1, i] = 1; }
            for (n in 1:3) for (i in 1:9) y[n, i] = cos(n * i); }
        parameters { vector[9] phi; real<lower=0> tau; real<lower=0, upper=0.49> alpha; real mu; }
        model {
          matrix[9, 9] q = tau * (add_diag(-alpha * w, 1));
          phi ~ multi_normal_prec(rep_vector(mu, 9), q);
          y ~ multi_normal_prec(phi, q);
          tau ~ exponential(1); mu ~ std_normal();
        }";
    let model = crate::common::bind(program, "{}");
    let points = points(17, 12);
    let together = crate::common::evaluate(&mut model.evaluator(), &points, None, super::TERMS);
    let mut single = model.evaluator().with_width(1);
    for (l, point) in points.iter().enumerate() {
        let alone = crate::common::evaluate(&mut single, std::slice::from_ref(point), None, super::TERMS);
        assert!(crate::common::agree(together.log_density(l), alone.log_density(0), 1e-13));
        for (a, b) in together.gradient[l].iter().zip(&alone.gradient[0]) {
            assert!(crate::common::agree(*a, *b, 1e-11), "{a} is not {b}");
        }
    }
}

/// Data times what items have in common, of more terms than are taken at once, and with ones and zeros among them.
#[test]
fn rows_of_data_times_vectors_are_sums_in_any_number_of_lanes() {
    let program = |n: usize| {
        format!(
            "transformed data {{ matrix[70, {n}] x; for (i in 1:70) for (k in 1:{n}) x[i, k] = k == 1 ? 1 : cos(i * k); }}
            parameters {{ vector[{n}] b; real a; }}
            model {{
              vector[70] s; vector[{n}] c = exp(0.1 * b) * a;
              for (i in 1:2) {{ s = x * c; target += -sum(square(s - i)); c = 0.5 * c; }}
              b ~ std_normal(); a ~ std_normal();
            }}"
        )
    };
    for n in [2, 4, 5, 9] {
        let program = program(n);
        let all = points(33, n + 1);
        compare(&program, "{}", &all);
        let model = crate::common::bind(&program, "{}");
        let wide = crate::common::evaluate(&mut model.evaluator(), &all, None, super::TERMS);
        let mut single = model.evaluator().with_width(1);
        for (l, point) in all.iter().enumerate() {
            let alone = crate::common::evaluate(&mut single, std::slice::from_ref(point), None, super::TERMS);
            assert!(crate::common::agree(alone.log_density(0), wide.log_density(l), 1e-13));
        }
    }
}

/// Groups in which some lane is outside of the domain are not computed at once: the other lanes get the same bits.
#[test]
fn a_lane_outside_of_the_domain_changes_nothing_for_its_neighbours() {
    let program = "parameters { vector[9] z; real r; }
        model {
          matrix[9, 9] s = add_diag(rep_matrix(r, 9, 9), 1.1 - r);
          vector[9] f = cholesky_decompose(s) * z;
          target += -sum(square(f - 0.3)) + multi_normal_lpdf(z | f, s);
          r ~ normal(0, 1);
        }";
    let model = crate::common::bind(program, "{}");
    for lanes in [8, 16] {
        let mut fine = points(lanes, 10);
        for point in &mut fine {
            point[9] = point[9].abs().fract().min(0.9);
        }
        let expected = crate::common::evaluate(&mut model.evaluator(), &fine, None, super::TERMS);
        let mut mixed = fine.clone();
        mixed[3][9] = 1.5;
        let found = crate::common::evaluate(&mut model.evaluator(), &mixed, None, super::TERMS);
        assert!(found.log_density(3).is_infinite());
        for l in (0..lanes).filter(|&l| l != 3) {
            assert_eq!(found.log_density(l).to_bits(), expected.log_density(l).to_bits(), "{lanes} lanes, lane {l}");
            let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&found.gradient[l]), bits(&expected.gradient[l]), "{lanes} lanes, lane {l}");
        }
    }
}
