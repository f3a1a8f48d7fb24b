// mistake: typographic quotation marks
model {
  print(“hello”);
}
