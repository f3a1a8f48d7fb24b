// mistake: mixes the current and the retired way to declare an array
data {
  array[2] real beta[3];
}
