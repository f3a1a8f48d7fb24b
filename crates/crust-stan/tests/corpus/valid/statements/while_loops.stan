// while loops with break and continue, without braces, with conditions of several kinds.
data {
  int<lower=1> n;
}
transformed data {
  int i = n;
  int steps = 0;
  real r = 1;
  while (i > 1) {
    if (i % 2 == 0) {
      i = i %/% 2;
    } else {
      i = 3 * i + 1;
    }
    steps += 1;
    if (steps > 1000) break;
  }
  while (r < 100) r *= 1.5;
  while (1) {
    steps -= 1;
    if (steps > 5) continue;
    while (steps) {
      steps -= 1;
      break;
    }
    break;
  }
  while (0) ;
}
