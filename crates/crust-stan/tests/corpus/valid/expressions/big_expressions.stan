// Long mixed expressions, as a check of the grammar as a whole.
data { int n; vector[n] x; vector[n] y; matrix[n, n] K; array[n] int g; }
parameters { vector[3] b; real<lower=0> s; vector[n] z; }
transformed parameters {
  vector[n] f = b[1] + b[2] * x .* (1 - x) ./ (1 + square(x)) + (b[3] > 0 ? b[3] : -b[3]) * (x .^ 2 - mean(x) ^ 2)
                + cholesky_decompose(add_diag(K, 1e-9 + s ^ 2))[ : , 1] * z[g[1]] - -z[g] / (n > 1 ? n - 1 : 1);
}
model {
  target += -0.5 * ((y - f)' * (K \ (y - f)) + 2 * sum(log(diagonal(cholesky_decompose(K))))) - n * log(2 * pi()) / 2;
  target += (n > 3 && !(b[1] < b[2]) || b[3] >= 0) * -1e-3 * (dot_self(b) + b' * b - sum(b .* b)) ^ 2;
  target += log_mix(inv_logit(b[1]), normal_lpdf(y[1] | f[1], s), student_t_lpdf(y[1] | 3 + exp(b[2]), (f[1] + f[n]) / 2, s * 2));
}
