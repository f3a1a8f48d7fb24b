// Retired: forward declarations of functions (2.39 takes them, with a warning that they are not needed).
functions {
  int is_odd_count(int n);
  int is_even_count(int n) { return n == 0 ? 1 : is_odd_count(n - 1); }
  int is_odd_count(int n) { return n == 0 ? 0 : is_even_count(n - 1); }
  real dens_lpdf(real x, real m);
  real dens_lpdf(real x, real m) { return -square(x - m); }
}
parameters { real x; }
model { x ~ dens(is_even_count(4)); }
