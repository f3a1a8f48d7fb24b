// mistake: multiplies a vector by a vector in place
data {
  vector[3] v;
}
transformed data {
  vector[3] w = v;
  w *= v;
}
