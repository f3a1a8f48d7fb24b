// mistake: an empty array literal
transformed data {
  array[0] int a = {};
}
