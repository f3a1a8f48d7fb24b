// mistake: a real for an int argument of a library function
transformed data {
  vector[3] v = rep_vector(1.0, 3.0);
}
