// mistake: the word auto as an argument
functions {
  real f(real auto) {
    return auto;
  }
}
