-- Mirror of algo/leaky_bucket.go: the token bucket's state, read as the next free
-- departure. This is its check; all else is as in token_bucket.lua.
local full = wait -- until the queue has room
wait = t - now -- until the departure
if f > 0 then
  wait = wait + 1
end
local retry = max(full, wait - maxWait)
if retry > 0 then
  return false, 0, t - now, f, retry
elseif cost == 0 then
  return true, 0, t - now, f, 0
end
