// User _jacobian functions: void and returning, nested, called conditionally and in loops, next to library ones.
functions {
  void note_jacobian(real x) {
    jacobian += x;
  }
  real softplus_jacobian(real u) {
    note_jacobian(log_inv_logit(u));
    return log1p_exp(u);
  }
  vector softplus_jacobian(vector u) {
    vector[num_elements(u)] out;
    for (i in 1 : num_elements(u)) out[i] = softplus_jacobian(u[i]);
    return out;
  }
  tuple(real, vector) both_jacobian(real u, vector w) {
    return (lower_bound_jacobian(u, 1), simplex_jacobian(w));
  }
}
data { int<lower=0, upper=1> positive; }
parameters { real u; vector[3] w; }
transformed parameters {
  real s = positive ? softplus_jacobian(u) : u;
  vector[3] t = softplus_jacobian(w);
  real p;
  vector[4] q;
  (p, q) = both_jacobian(u, w);
  note_jacobian(0 * u);
  for (i in 1 : 3) {
    if (t[i] > 10) note_jacobian(-t[i]);
  }
  { jacobian += 0.5 * s; }
}
model { t ~ exponential(1); q ~ dirichlet(rep_vector(1, 4)); p ~ pareto(1, 2); }
