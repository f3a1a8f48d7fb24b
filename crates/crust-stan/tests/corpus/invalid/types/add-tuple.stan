// mistake: adds two tuples
data {
  tuple(real, real) a;
}
transformed data {
  tuple(real, real) c = a + a;
}
