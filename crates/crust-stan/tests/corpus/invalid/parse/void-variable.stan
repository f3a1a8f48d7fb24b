// mistake: a variable of type void
model {
  void x;
}
