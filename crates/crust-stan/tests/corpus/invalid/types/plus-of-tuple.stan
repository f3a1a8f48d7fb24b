// mistake: a plus sign in front of a tuple
data {
  tuple(real, real) a;
}
transformed data {
  tuple(real, real) c = +a;
}
