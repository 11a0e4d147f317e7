-- Of the fast way: how long a request that leaves nt + nf/n has to wait.
if nf >= n then
  nt, nf = nt + 1, nf - n
end
-- checkBucket
local wait = nt - now - capQ
if nf > capR then
  wait = wait + 1
end
