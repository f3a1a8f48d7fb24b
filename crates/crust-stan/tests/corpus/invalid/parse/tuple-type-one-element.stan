// mistake: a tuple type with one element
data {
  tuple(real) t;
}
