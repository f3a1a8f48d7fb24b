// mistake: assigns an array literal to a vector
transformed data {
  vector[2] v = {1.0, 2.0};
}
