// mistake: five operators with the wrong operands (5 mistakes)
data {
  vector[3] v;
  row_vector[3] r;
  array[3] real a;
}
model {
  print(v + r);
  print(v * v);
  print(2.5 % 2);
  print(a + a);
  print(v < v);
}
