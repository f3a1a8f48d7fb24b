// mistake: adds a complex number to the target (stanc passes this on to the C++ compiler, which rejects it)
model {
  target += 2i;
}
