// Retired: `<-` inside function bodies and loops, next to comparisons with negative numbers.
functions {
  real running(vector x) {
    real t;
    int k;
    t <- 0;
    k <- 1;
    while (k <= num_elements(x)) {
      if (x[k] < -1)
        t <- t - 1;
      else
        t <- t + x[k];
      k <- k + 1;
    }
    return t;
  }
}
parameters { vector[3] x; }
model { x ~ normal(running(x), 1); }
