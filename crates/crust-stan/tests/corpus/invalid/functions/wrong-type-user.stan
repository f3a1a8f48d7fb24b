// mistake: a wrong type of argument to a user function
functions {
  real f(vector x) {
    return sum(x);
  }
}
data {
  array[3] real a;
}
transformed data {
  real b = f(a);
}
