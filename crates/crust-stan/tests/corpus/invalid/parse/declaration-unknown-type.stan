// mistake: a type that does not exist
data {
  float x;
}
