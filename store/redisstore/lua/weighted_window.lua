-- Mirror of algo/weighted_window.go: F is the current window's count, G the older
-- one's, T the instant at which the current one is no longer overlapped.
--
-- Spec: count, period
decide = function(what, p, s, asked, cost, maxWait, at)
  -- weightedAt
  local count, period = p.count, p.period
  local stop, cur, old = s.T - period, s.F, s.G
  if now < stop then
    stop = min(stop, now + period)
  elseif now < stop + period and cur > 0 then
    stop, cur, old = stop + period, 0, cur
  else
    stop, cur, old = now - now % period + period, 0, 0
  end
  if what == checking then
    -- weightedUsed
    local weight, part = mulDiv(old, stop - now, period)
    if part > 0 then
      weight = weight + 1
    end
    local used = cur + weight
    local allowed, x, y, z = false, count - used, 0, 0
    if used + asked <= count then
      allowed, x, cur = true, x - cost, cur + cost
    else
      -- weightedRetry
      local room, at = count - cur - asked
      if room >= 0 then
        at = stop - mulDiv(room, period, old)
      else
        local overlap = mulDiv(count - asked, period, cur)
        at = stop + period - min(overlap, period)
      end
      y = at - now
    end
    if cur > 0 then
      z = stop + period - now
    elseif old > 0 then
      z = stop - now
    end
    return allowed, 0, x, y, z
  elseif what == spending then
    cur = min(cur + cost, MaxTotal)
  elseif what == refunding then
    if cur + old == 0 then
      return
    end
    local back = min(cost, cur)
    cur, old = cur - back, old - min(cost - back, old)
  elseif what == cutting then
    if now >= s.T - period or stop + period == s.T then
      return false
    end
  elseif at >= stop - period then
    -- returnWeighted in algo/return.go
    cur = cur - min(cost, cur)
  elseif at >= stop - 2 * period then
    old = old - min(cost, old)
  else
    return
  end
  -- putWeighted
  s.T, s.F, s.G = stop + period, cur, old
  return true
end
