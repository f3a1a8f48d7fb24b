// mistake: a second end-of-comment mark
parameters {
  real x; /* the value */ */
}
