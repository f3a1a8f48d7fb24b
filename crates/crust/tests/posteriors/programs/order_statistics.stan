// Known: order statistics of three normals and of three exponentials.
parameters {
  ordered[3] c;
  positive_ordered[3] w;
}
model {
  c ~ std_normal();
  w ~ exponential(1);
}
