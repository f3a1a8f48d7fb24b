// mistake: a size inside of a tuple type is a real
data {
  tuple(vector[2.5], real) t;
}
