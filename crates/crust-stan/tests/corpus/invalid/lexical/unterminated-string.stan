// mistake: a string literal is never closed
model {
  print("the rest of the file is inside of the string);
}
