// mistake: break, continue and return in the wrong places (3 mistakes)
transformed data {
  break;
}
model {
  continue;
  return;
}
