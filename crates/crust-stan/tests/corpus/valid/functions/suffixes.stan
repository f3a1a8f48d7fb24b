// All special suffixes defined and used: lpdf, lpmf, lcdf, lccdf, cdf, lp, rng, jacobian, and the lupdf/lupmf calls.
functions {
  real tri_lpdf(real x, real c) {
    return x < c ? log(2 * x / c) : log(2 * (1 - x) / (1 - c));
  }
  real tri_lcdf(real x, real c) {
    return log(tri_cdf(x | c));
  }
  real tri_lccdf(real x, real c) {
    return log1m(tri_cdf(x | c));
  }
  real tri_cdf(real x, real c) {
    return x < c ? x ^ 2 / c : 1 - (1 - x) ^ 2 / (1 - c);
  }
  real tri_rng(real c) {
    real u = uniform_rng(0, 1);
    return u < c ? sqrt(u * c) : 1 - sqrt((1 - u) * (1 - c));
  }
  real geo_lpmf(int k, real p) {
    return log(p) + k * log1m(p);
  }
  real geo_lcdf(int k, real p) {
    return log1m((1 - p) ^ (k + 1));
  }
  real geo_lccdf(int k, real p) {
    return (k + 1) * log1m(p);
  }
  int geo_rng(real p) {
    return neg_binomial_rng(1, p / (1 - p));
  }
  real geo_many_lpmf(array[] int k, real p) {
    real acc = 0;
    for (ki in k) acc += geo_lupmf(ki | p);
    return acc;
  }
  real mixed_lpdf(real x, real c) {
    return log_sum_exp(tri_lupdf(x | c), normal_lupdf(x | c, 1)) - log(2);
  }
  void penalise_lp(vector b, real w) {
    b ~ normal(0, w);
    target += -w;
  }
  real spent_lp(real w) {
    target += w;
    return target();
  }
  real simple_jacobian(real u) {
    jacobian += log_inv_logit(u) + log1m_inv_logit(u);
    return inv_logit(u);
  }
}
data { real<lower=0, upper=1> x; int<lower=0> k; array[3] int<lower=0> ks; }
parameters { real<lower=0, upper=1> c; real u; vector[2] b; }
transformed parameters { real p = simple_jacobian(u); }
model {
  x ~ tri(c);
  x ~ tri(c) T[0.1, 0.9];
  x ~ tri(c) T[0.1, ];
  x ~ tri(c) T[, 0.9];
  x ~ mixed(c);
  k ~ geo(p);
  k ~ geo(p) T[, 100];
  k ~ geo(p) T[1, ];
  k ~ geo(p) T[1, 100];
  ks ~ geo_many(p);
  target += tri_lpdf(x | c) + tri_lupdf(x | c) + geo_lpmf(k | p) + geo_lupmf(k | p) + tri_lcdf(x | c) + tri_lccdf(x | c) + tri_cdf(x | c);
  penalise_lp(b, 2);
  target += 0 * spent_lp(0);
}
generated quantities {
  real x_rep = tri_rng(c);
  int k_rep = geo_rng(p);
  real lp_k = geo_lpmf(k | p) + tri_lpdf(x | c);
}
