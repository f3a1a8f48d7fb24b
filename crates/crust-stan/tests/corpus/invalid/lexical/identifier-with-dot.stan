// mistake: a dot inside an identifier, as in R
data {
  int n.obs;
}
