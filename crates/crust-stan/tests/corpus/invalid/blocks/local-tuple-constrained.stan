// mistake: a constrained type inside of a local tuple
model {
  tuple(simplex[3], real) t;
}
