// mistake: a break outside of a loop
model {
  break;
}
