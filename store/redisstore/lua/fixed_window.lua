-- Mirror of algo/fixed_window.go: T is the end of the window, F what was spent.
--
-- Spec: count, period, 1 if the window starts at the first hit, boundaries…
decide = function(what, p, s, asked, cost, maxWait, at)
  -- fixedBounds
  local start, stop
  if p.bounds then
    --include calendar.lua
  elseif p.firstHit then
    start, stop = now, now + p.period
  else
    start = now - now % p.period
    stop = start + p.period
  end
  -- fixedAt
  local T, used = s.T, 0
  if now < T then
    stop, used = min(T, now + stop - start), s.F
  end
  if what == checking then
    local allowed, x, y, z = false, p.count - used, 0, 0
    if used + asked > p.count then
      y = stop - now
    else
      allowed, x, used = true, x - cost, used + cost
    end
    if used > 0 then
      z = stop - now
    end
    return allowed, 0, x, y, z
  elseif what == spending then
    used = min(used + cost, MaxTotal)
  elseif what == cutting then
    if now >= T or stop == T then
      return false
    end
  else
    if what == returning then
      -- returnFixed in algo/return.go
      if p.firstHit then
        start = T - p.period
      end
      if at < start then
        return
      end
    end
    if used == 0 then
      return
    end
    used = max(0, used - cost)
  end
  s.T, s.F = stop, used
  return true
end
