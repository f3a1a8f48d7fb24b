// profile statements, nested and in several blocks.
functions {
  real slow_sum(vector v) {
    real s = 0;
    profile("slow-sum") {
      for (e in v) s += e;
    }
    return s;
  }
}
data { int n; vector[n] y; }
transformed data {
  profile("prepare") { print("n = ", n); }
}
parameters { real mu; }
transformed parameters {
  real shifted;
  profile("tp") { shifted = mu + 1; }
}
model {
  profile("prior") {
    mu ~ normal(0, 1);
  }
  profile("likelihood") {
    profile("inner") {
      y ~ normal(shifted, 1);
    }
    target += 0 * slow_sum(y);
  }
}
generated quantities {
  real s;
  profile("gq") { s = slow_sum(y); }
}
