// A path with a folder in it; the include path is `parts`.
parameters {
  #include nested/spread.inc
}
model { spread ~ exponential(1); }
