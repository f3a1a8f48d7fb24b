// mistake: the bounds on the word array
data {
  array<lower=0>[3] int x;
}
