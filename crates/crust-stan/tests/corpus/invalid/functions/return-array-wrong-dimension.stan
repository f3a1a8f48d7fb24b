// mistake: returns a two-dimensional array from a function of one dimension
functions {
  array[] real f(array[,] real x) {
    return x;
  }
}
