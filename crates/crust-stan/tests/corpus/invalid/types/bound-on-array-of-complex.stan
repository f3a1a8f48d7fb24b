// mistake: bounds on an array of complex numbers
data {
  array[3] complex<lower=0> z;
}
