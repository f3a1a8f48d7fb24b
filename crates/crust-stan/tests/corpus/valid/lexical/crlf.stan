// Windows line ends (CR LF) throughout.
data {
  int n;
  vector[n] v; // comment
}
model {
  /* block
     comment */
  target += sum(v);
}
