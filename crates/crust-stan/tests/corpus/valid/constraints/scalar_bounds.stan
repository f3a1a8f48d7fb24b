// Scalar bounds and affine transforms in every order, with expressions.
data {
  int<lower=0> n;
  int<upper=10> small;
  int<lower=1, upper=5> grade;
  int<upper=5, lower=1> swapped;
  real<lower=0> pos;
  real<upper=0> neg;
  real<lower=-1, upper=1> rho;
  real<upper=2 * 3 + 1, lower=-(2 + 1)> arith;
  real<lower=0, upper=n> scaled_by_n;
}
parameters {
  real<offset=1> a;
  real<multiplier=2> b;
  real<offset=1, multiplier=2> c;
  real<multiplier=pos + 1, offset=neg> d;
  real<lower=negative_infinity()> e;
  real<lower=negative_infinity(), upper=positive_infinity()> f;
  real<lower=(n == 1 ? 0 : 1)> g;
  real<lower=(grade > 2)> h;
}
model {
  a ~ normal(1, 1);
  b ~ normal(0, 2);
}
