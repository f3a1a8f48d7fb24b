// Smooth spatial risk with an intrinsic prior over an edge list, and an unstructured part mixed in.
functions {
  real edge_penalty_lpdf(vector field, array[,] int edge) {
    real total = 0;
    for (pair in edge) {
      total += square(field[pair[1]] - field[pair[2]]);
    }
    return -0.5 * total;
  }
}
data {
  int<lower=2> n_area;
  int<lower=1> n_border;
  array[n_border, 2] int<lower=1, upper=n_area> border;
  array[n_area] int<lower=0> observed;
  array[n_area] int<lower=1> at_risk;
}
parameters {
  real overall;
  sum_to_zero_vector[n_area] smooth_part;
  vector[n_area] rough_part;
  simplex[2] share;
  real<lower=0> total_sd;
}
transformed parameters {
  vector[n_area] logit_risk = overall + total_sd * (sqrt(share[1]) * smooth_part + sqrt(share[2]) * rough_part);
}
model {
  overall ~ normal(-3, 2);
  smooth_part ~ edge_penalty(border);
  rough_part ~ std_normal();
  share ~ dirichlet([1, 1]');
  total_sd ~ normal(0, 1);
  observed ~ binomial_logit(at_risk, logit_risk);
}
generated quantities {
  vector[n_area] relative_risk = inv_logit(logit_risk) / inv_logit(overall);
}
