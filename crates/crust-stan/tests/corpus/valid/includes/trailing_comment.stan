// Include directives with comments after them, and one inside a comment; the include path is `parts`.
functions {
  #include shape.stanfunctions // the rest of this line is a comment
}
/*
#include does_not_exist.stan
*/
// #include does_not_exist.stan
parameters { real t; }
model { target += bump(t); }
