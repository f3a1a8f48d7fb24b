// mistake: the body of a profile without braces
model {
  profile("likelihood")
    target += 1;
}
