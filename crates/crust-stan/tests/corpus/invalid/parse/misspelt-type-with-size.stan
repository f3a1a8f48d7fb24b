// mistake: a misspelt type with its size
data {
  vectr[3] x;
}
