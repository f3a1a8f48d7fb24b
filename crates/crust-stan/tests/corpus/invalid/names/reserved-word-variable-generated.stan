// mistake: the first word of a block name as a variable
model {
  real generated = 1;
}
