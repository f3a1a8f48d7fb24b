data { int<lower=0> N; array[N] int<lower=0> y; }
transformed data { int N0 = 0; array[N] int ypos; int Ngt0 = 0; for (n in 1:N) { if (y[n] == 0) N0 += 1; else { Ngt0 += 1; ypos[Ngt0] = y[n]; } } }
parameters { real<lower=0, upper=1> theta; real<lower=0> lambda; }
model { N0 ~ binomial(N, theta); ypos[1:Ngt0] ~ poisson(lambda); target += -Ngt0 * log1m_exp(-lambda); }
