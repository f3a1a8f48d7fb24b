// mistake: a word after the last block
model {
  target += 1;
}
end
