// A program with only a model block that holds one target statement.
model {
  target += -1.5;
}
