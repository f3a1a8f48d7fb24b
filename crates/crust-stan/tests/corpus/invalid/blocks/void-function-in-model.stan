// mistake: a function is declared in the model block
model {
  void shout();
}
