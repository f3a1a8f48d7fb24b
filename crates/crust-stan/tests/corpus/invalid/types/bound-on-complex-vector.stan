// mistake: bounds on a complex vector
parameters {
  complex_vector<lower=0>[3] z;
}
