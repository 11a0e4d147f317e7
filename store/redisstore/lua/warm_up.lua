-- Mirror of algo/warm_up.go, with the same operations on doubles in the same
-- order. F is next; more holds frac, warmth and last.
--
-- Spec: warm, stable, slope, threshold, max, cool
decide = function(what, p, s, asked, cost, maxWait, at, a, b, c, shift)
  -- warmAt
  local next, frac, warmth = now, 0, 0
  local m = s.more
  if m then
    next, frac, warmth = s.F, m[1], min(m[2], p.warm)
    local back = m[3] - now
    if back > 0 then
      next = next - back
    elseif what == cutting then
      return false
    end
    local idle = now - next - frac
    if idle >= 0 then
      next, frac, warmth = now, 0, max(0, warmth - idle)
    end
  elseif what == cutting then
    return false
  end
  local function storedTime(stored, take)
    local time = 0
    local above = stored - p.threshold
    if above > 0 then
      local slow = min(above, take)
      local first = p.stable + above * p.slope
      local last = p.stable + (above - slow) * p.slope
      time = slow * (first + last) / 2
      take = take - slow
    end
    return time + take * p.stable
  end
  local stored = p.max * (1 - warmth / p.warm)
  local wait = next - now
  if frac > 0 then
    wait = wait + 1
  end
  if what == checking then
    if wait > maxWait then
      return false, 0, 0, wait - maxWait, wait
    elseif cost == 0 then
      return true, 0, wait == 0 and 1 or 0, 0, wait
    end
  end
  if what == checking or what == spending then
    -- pay
    local take = min(cost, stored)
    local fresh = cost - take
    local time = min(storedTime(stored, take) + fresh * p.stable, MaxAhead)
    local whole = floor(frac + time)
    frac = frac + time - whole
    next = min(next + whole, now + MaxAhead)
    warmth = min(p.warm, warmth + take * p.cool)
    if fresh > 0 then
      warmth = p.warm
    end
    if what == checking then
      local reset = next - now
      if frac > 0 then
        reset = reset + 1
      end
      return true, wait, 0, 0, reset
    end
  elseif what ~= cutting then
    -- lastPrice
    local time, permits = cost * p.stable, 0
    if stored > 0 then
      permits = min(cost, p.max - stored)
      time = storedTime(stored + permits, permits)
    end
    local owed = next - now + frac
    local most = owed
    if what == returning then
      -- returnWarmUp in algo/return_bucket.go
      local left = a - now + b
      if shift > 0 then
        left = max(left - shift, min(left, time - (now - at)))
      end
      most = min(left, owed)
    end
    -- giveBackWarm
    if most <= 0 then
      return
    end
    if permits > 0 then
      local share = 1
      if time > most then
        share = most / time
      end
      warmth = max(0, warmth - permits * p.cool * share)
    end
    local rest = owed - min(time, most)
    if rest > 0 then
      local whole = floor(rest)
      next, frac = now + whole, rest - whole
    else
      next, frac = now, 0
    end
  end
  -- putWarmUp
  s.more = {frac, warmth, now}
  s.F, s.T = next, next + floor(warmth) + 2
  return true
end
