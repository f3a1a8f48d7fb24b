// mistake: a comma after the last element of a tuple type
data {
  tuple(real, int,) t;
}
