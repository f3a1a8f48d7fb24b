// mistake: four broken declarations (4 mistakes)
data {
  real<low=0> a;
  vector b;
  matrix[3] c;
  real d = 1;
}
