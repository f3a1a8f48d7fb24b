// mistake: a range as the value of a variable
transformed data {
  array[3] int a = 1:3;
}
