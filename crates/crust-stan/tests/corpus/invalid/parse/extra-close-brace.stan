// mistake: one closing brace too many
model {
  target += 1;
}
}
