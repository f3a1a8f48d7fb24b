// mistake: rejects with a library function
model {
  reject("bad: ", exp);
}
