// mistake: no semicolon after a return
functions {
  real f(real x) {
    return x
  }
}
