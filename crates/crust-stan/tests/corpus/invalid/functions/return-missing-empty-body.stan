// mistake: a function with an empty body
functions {
  real f(real x) {
  }
}
