// mistake: target takes += only
model {
  target -= 1;
}
