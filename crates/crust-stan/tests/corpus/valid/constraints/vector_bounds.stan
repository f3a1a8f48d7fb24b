// Bounds and affine transforms that are containers of the same shape.
data {
  int<lower=1> n;
  vector[n] lo;
  vector<lower=lo>[n] hi;
  row_vector[n] rlo;
  matrix[n, 2] mlo;
  array[n] real alo;
  array[n] int ilo;
  array[n] int<lower=ilo> ihi;
  array[2] vector[n] avlo;
}
parameters {
  vector<lower=lo>[n] a;
  vector<upper=hi>[n] b;
  vector<lower=lo, upper=hi>[n] c;
  vector<lower=lo, upper=max(hi)>[n] d;
  vector<offset=lo, multiplier=exp(hi)>[n] e;
  vector<offset=lo>[n] f;
  vector<multiplier=square(lo) + 1>[n] g;
  row_vector<lower=rlo>[n] h;
  matrix<lower=mlo, upper=mlo + 1>[n, 2] k;
  array[n] real<lower=alo> l;
  array[2] vector<lower=avlo>[n] m;
  array[2] vector<lower=0, upper=1>[n] o;
  array[2, 3] matrix<lower=0>[2, 2] p;
}
