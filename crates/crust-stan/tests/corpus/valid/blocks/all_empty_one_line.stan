// All seven empty blocks without a blank between them.
functions{}data{}transformed data{}parameters{}transformed parameters{}model{}generated quantities{}