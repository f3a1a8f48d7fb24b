// mistake: an array of integers as a parameter
parameters {
  array[3] int n;
}
