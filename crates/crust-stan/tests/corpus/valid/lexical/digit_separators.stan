// Underscores as digit separators in numeric literals.
transformed data {
  int million = 1_000_000;
  int odd_groups = 1_0_0;
  real avogadro = 6.022_140_76e23;
  real parts = 12_345.678_9;
  real expo = 1e1_0;
  complex turn = 1_000.5i;
}
