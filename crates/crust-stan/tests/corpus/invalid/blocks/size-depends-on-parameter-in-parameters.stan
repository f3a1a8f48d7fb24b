// mistake: the size of a parameter is computed from the size of another parameter
parameters {
  vector[3] p;
  vector[size(p)] q;
}
