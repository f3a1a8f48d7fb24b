// Every spelling of integer, real and imaginary literals.
transformed data {
  int i0 = 0;
  int i1 = 7;
  int i2 = 007;
  int i3 = 2147483647;
  real r0 = 0.0;
  real r1 = 1.;
  real r2 = .5;
  real r3 = 1e3;
  real r4 = 1E3;
  real r5 = 1.5E-2;
  real r6 = 1.5e+2;
  real r7 = 2.e4;
  real r8 = .25e-3;
  real r9 = 00.10;
  real r10 = 123456789012345678901234567890.0;
  real r11 = 1e-320;
  complex c0 = 3i;
  complex c1 = 2.5i;
  complex c2 = .5i;
  complex c3 = 1.i;
  complex c4 = 1e2i;
  complex c5 = 1.5E-2i;
  complex c6 = 1 + 2i;
  complex c7 = -0i;
}
