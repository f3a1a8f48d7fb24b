// mistake: a local array without a size
model {
  array[] real x;
}
