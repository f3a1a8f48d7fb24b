// mistake: a bound inside of a tuple type is a vector
data {
  vector[3] b;
  tuple(real<lower=b>, real) t;
}
