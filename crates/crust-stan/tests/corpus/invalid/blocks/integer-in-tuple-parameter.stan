// mistake: an integer inside of a tuple parameter
parameters {
  tuple(real, int) t;
}
