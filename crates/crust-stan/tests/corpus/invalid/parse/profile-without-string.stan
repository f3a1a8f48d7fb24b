// mistake: a profile without its name
model {
  profile() {
    target += 1;
  }
}
