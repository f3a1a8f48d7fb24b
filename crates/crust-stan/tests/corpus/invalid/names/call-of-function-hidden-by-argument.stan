// mistake: an argument hides its own function (valid), and then the function is called
functions {
  real f(real f) {
    return f(f);
  }
}
