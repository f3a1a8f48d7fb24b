// As little white space as the grammar allows.
functions{real f(real a,real b){return a+b*-a;}}data{int<lower=0>N;array[N]vector[N]x;}parameters{real<lower=0,upper=1>p;}model{for(i in 1:N){x[i]~normal(f(p,1),1);}if(N>2)target+=1;else target+=2;}
