// mistake: four bad bounds (4 mistakes)
data {
  vector[3] v;
  real<lower=v> a;
  int<lower=0.5> b;
  complex<lower=0> c;
  vector<upper=v'>[3] d;
}
