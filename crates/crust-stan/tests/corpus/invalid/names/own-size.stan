// mistake: a variable is used in its own size
transformed data {
  array[n] int n;
}
