functions {
  int first_capture(array[] int y_i) { for (k in 1:size(y_i)) if (y_i[k]) return k; return 0; }
  int last_capture(array[] int y_i) { for (k_rev in 0:(size(y_i)-1)) { int k = size(y_i) - k_rev; if (y_i[k]) return k; } return 0; }
  matrix prob_uncaptured(int nind, int n_occ, matrix p, matrix phi) { matrix[nind, n_occ] chi; for (i in 1:nind) { chi[i, n_occ] = 1.0; for (t in 1:(n_occ-1)) { int tc = n_occ - t; int tn = tc + 1; chi[i, tc] = (1 - phi[i, tc]) + phi[i, tc]*(1 - p[i, tn-1])*chi[i, tn]; } } return chi; }
}
data { int<lower=0> nind; int<lower=2> n_occ; array[nind, n_occ] int<lower=0,upper=1> y; }
transformed data { array[nind] int<lower=0,upper=n_occ> first; array[nind] int<lower=0,upper=n_occ> last;
 for (i in 1:nind) first[i] = first_capture(y[i]); for (i in 1:nind) last[i] = last_capture(y[i]); }
parameters { real<lower=0,upper=1> mean_phi; real<lower=0,upper=1> mean_p; }
transformed parameters { matrix<lower=0,upper=1>[nind, n_occ-1] phi; matrix<lower=0,upper=1>[nind, n_occ-1] p; matrix<lower=0,upper=1>[nind, n_occ] chi;
 for (i in 1:nind) { for (t in 1:(first[i]-1)) { phi[i,t] = 0; p[i,t] = 0; } for (t in first[i]:(n_occ-1)) { phi[i,t] = mean_phi; p[i,t] = mean_p; } }
 chi = prob_uncaptured(nind, n_occ, p, phi); }
model { for (i in 1:nind) { if (first[i] > 0) { for (t in (first[i]+1):last[i]) { 1 ~ bernoulli(phi[i, t-1]); y[i,t] ~ bernoulli(p[i, t-1]); } 1 ~ bernoulli(chi[i, last[i]]); } } }
