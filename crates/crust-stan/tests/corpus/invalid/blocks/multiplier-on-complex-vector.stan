// mistake: a multiplier on a complex vector
parameters {
  complex_vector<multiplier=2>[3] z;
}
