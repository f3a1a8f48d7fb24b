// mistake: calls a procedure that does not exist
model {
  do_something(1.0);
}
