// Includes among statements, one of a file without a final newline, one empty; the include path is `parts`.
data {
  #include counts_data.inc
  #include empty.inc
}
parameters { real log_mean; }
model {
  #include prior_lines.inc
  #include no_newline.inc
  count ~ poisson_log(log_mean);
}
