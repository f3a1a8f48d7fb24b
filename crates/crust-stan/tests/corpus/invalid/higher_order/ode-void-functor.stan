// mistake: a void function as the functor
functions {
  void f(real t, vector y) {
    print(t);
  }
}
transformed data {
  array[1] vector[1] z = ode_rk45(f, [1]', 0, {1.0});
}
