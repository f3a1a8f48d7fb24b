// mistake: a retired array with a value, and then another name
transformed data {
  real x[3] = {1, 2, 3}, y;
}
