// Series of different lengths in one vector.
data { int G; int N; array[G] int s; vector[N] y; vector[N] x; }
parameters { vector[G] a; vector[G] b; real ma; real mb; real<lower=0> sa; real<lower=0> sb; vector<lower=0>[G] sigma; }
model {
  int pos = 1;
  a ~ normal(ma, sa);
  b ~ normal(mb, sb);
  sa ~ normal(0, 1);
  sb ~ normal(0, 1);
  ma ~ normal(0, 5);
  mb ~ normal(0, 5);
  sigma ~ lognormal(0, 1);
  for (g in 1:G) {
    segment(y, pos, s[g]) ~ normal(a[g] + b[g] * segment(x, pos, s[g]), sigma[g]);
    pos = pos + s[g];
  }
}
