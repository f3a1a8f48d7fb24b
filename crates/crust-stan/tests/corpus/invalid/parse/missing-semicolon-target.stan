// mistake: no semicolon after an increment of target
model {
  target += 1
}
