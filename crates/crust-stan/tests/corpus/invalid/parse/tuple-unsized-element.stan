// mistake: an element of a tuple without its size
data {
  tuple(vector, int) t;
}
