// The same file is included in two places; the include path is `parts`.
parameters { real log_mean; }
model {
  #include prior_lines.inc
  {
    #include prior_lines.inc
  }
}
