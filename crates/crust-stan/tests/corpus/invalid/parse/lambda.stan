// mistake: anonymous functions do not exist
transformed data {
  real a = (function(x) x)(3);
}
