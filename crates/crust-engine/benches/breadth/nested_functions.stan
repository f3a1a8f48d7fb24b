// A learning model for each subject: functions that call functions, branches on parameters.
functions {
  real clip(real x, real most) {
    if (x > most) return most;
    if (x < -most) return -most;
    return x;
  }
  vector learn(vector q, int choice, real reward, real rate) {
    vector[rows(q)] next = q;
    next[choice] += rate * (reward - q[choice]);
    return next;
  }
  real run(array[] int choice, array[] real reward, real rate, real beta) {
    vector[2] q = rep_vector(0.5, 2);
    real lp = 0;
    for (t in 1:size(choice)) {
      lp += bernoulli_logit_lpmf(choice[t] - 1 | clip(beta * (q[2] - q[1]), 8));
      q = learn(q, choice[t], reward[t], rate);
    }
    return lp;
  }
}
data { int S; int T; array[S, T] int<lower=1, upper=2> choice; array[S, T] real reward; }
parameters { vector[S] r; vector[S] b; real mr; real mb; real<lower=0> sr; real<lower=0> sb; }
model {
  mr ~ normal(0, 1);
  mb ~ normal(0, 1);
  sr ~ normal(0, 1);
  sb ~ normal(0, 1);
  r ~ normal(mr, sr);
  b ~ normal(mb, sb);
  for (s in 1:S) target += run(choice[s], reward[s], inv_logit(r[s]), exp(b[s]));
}
