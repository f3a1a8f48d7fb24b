// target increments with every type, reading target(), jacobian increments.
functions {
  void add_lp(real x) {
    target += x;
    target += normal_lpdf(x | 0, 1);
  }
  real pos_jacobian(real u) {
    jacobian += u;
    return exp(u);
  }
}
data { int n; vector[n] y; }
parameters { real u; vector[n] w; real raw; }
transformed parameters {
  real s = pos_jacobian(u);
  real<lower=0> k = exp(raw);
  jacobian += raw;
  if (n > 2) jacobian += 0.0;
}
model {
  target += 1;
  target += 2.5;
  target += w;
  target += w';
  target += w * w';
  target += {1, 2, 3};
  target += {w, w};
  target += normal_lupdf(y | u, s);
  target += normal_lpdf(w | 0, 1) + exponential_lpdf(k | 1);
  add_lp(u);
  if (target() > 1e10) reject("diverged");
}
