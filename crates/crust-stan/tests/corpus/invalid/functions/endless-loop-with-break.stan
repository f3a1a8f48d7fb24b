// mistake: a while loop that breaks, and no return after it
functions {
  real f() {
    while (1) {
      break;
    }
  }
}
