// SIR epidemic with an ODE solver and negative binomial case counts.
functions {
  vector sir(real t, vector y, real beta, real gam, int pop) {
    real infection = beta * y[1] * y[2] / pop;
    real recovery = gam * y[2];
    return [-infection, infection - recovery, recovery]';
  }
}
data {
  int<lower=1> n_day;
  int<lower=1> pop;
  array[n_day] int<lower=0> cases;
  vector<lower=0>[3] y0;
}
transformed data {
  array[n_day] real day = linspaced_array(n_day, 1, n_day);
}
parameters {
  real<lower=0> beta;
  real<lower=0> gam;
  real<lower=0> phi_inv;
}
transformed parameters {
  array[n_day] vector[3] y = ode_rk45(sir, y0, 0, day, beta, gam, pop);
}
model {
  beta ~ normal(2, 1);
  gam ~ normal(0.4, 0.5);
  phi_inv ~ exponential(5);
  cases ~ neg_binomial_2(fmax(to_vector(y[ : , 2]), 1e-6), inv(phi_inv));
}
generated quantities {
  real r0 = beta / gam;
  array[n_day] int sim = neg_binomial_2_rng(fmax(to_vector(y[ : , 2]), 1e-6), inv(phi_inv));
}
