// An included file that itself includes another; the include path is `parts`.
functions {
  #include extra.stanfunctions
}
parameters { real t; }
model { target += twice_bump(t) + bump(t); }
