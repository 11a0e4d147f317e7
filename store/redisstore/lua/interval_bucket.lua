-- Mirror of algo/token_bucket_interval.go: T is the instant of full recovery, F
-- what the last step before it will have left over.
--
-- Spec: count, period, burst, steps
-- Mirror of ceilDiv in algo/arith.go.
local function ceilDiv(a, b)
  local q = floor(a / b)
  if q * b < a then
    q = q + 1
  end
  return q
end

decide = function(what, p, s, asked, cost, maxWait, at, a, b, c, shift)
  local count, period, burst = p.count, p.period, p.burst
  -- intervalAt returns t, steps, missing, cut
  local function intervalAt(T, F, ahead)
    if T <= now then
      return now, 0, 0, false
    end
    local t, cut = T, false
    local limit = p.steps * period
    if ahead then
      limit = limit + p.maxWait
    end
    if t - now > limit then
      t, cut = now + limit, true
    end
    local steps = ceilDiv(t - now, period)
    local missing = steps * count - min(F, count - 1)
    if not ahead and missing > burst then
      t = t - (steps - p.steps) * period
      steps, missing, cut = p.steps, burst, true
    end
    return t, steps, missing, cut
  end
  local t, steps, missing, cut = intervalAt(s.T, s.F, s.ahead)
  if what == checking then
    local wait = 0
    local over = missing + asked - burst
    if over > 0 then
      wait = t - (steps - ceilDiv(over, count)) * period - now
    end
    local reset = t - now
    if wait > maxWait then
      return false, 0, burst - missing, wait - maxWait, reset
    elseif cost == 0 then
      return true, 0, burst - missing, 0, reset
    end
    missing = missing + cost
    reset = reset + (ceilDiv(missing, count) - steps) * period
    return true, wait, burst - missing, 0, reset
  elseif what == spending then
    local most = burst + (floor(p.maxWait / period) + 1) * count
    missing = min(missing + cost, most)
  elseif what == cutting then
    if not cut then
      return false
    end
  else
    if what == returning then
      -- returnInterval in algo/return_bucket.go
      local _, _, left = intervalAt(a, b, true)
      if shift > 0 and left > 0 then
        local steps = ceilDiv(max(0, a - at), period) - ceilDiv(a - now, period)
        local T, F = shifted(p, a, b, shift)
        local _, _, moved = intervalAt(T, F, true)
        left = max(moved, min(left, cost - max(0, steps) * count))
      end
      if left <= 0 then
        return
      end
      cost = min(cost, left)
    end
    missing = max(0, missing - cost)
  end
  -- putInterval
  local need = ceilDiv(missing, count)
  s.T = t + (need - steps) * period
  s.F = need * count - missing
  s.ahead = missing > burst
  return true
end
