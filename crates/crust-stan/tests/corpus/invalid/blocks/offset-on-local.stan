// mistake: an offset on a local variable
model {
  vector<offset=1>[3] p;
}
