// mistake: the name of a profile is not a string
model {
  profile(likelihood) {
    target += 1;
  }
}
