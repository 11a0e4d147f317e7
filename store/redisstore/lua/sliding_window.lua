-- Mirror of algo/sliding_window.go: more holds the counts of the sub-windows,
-- newest first, F their sum, T the instant at which the newest leaves.
--
-- Spec: count, period, sub
decide = function(what, p, s, asked, cost, maxWait, at)
  -- slideAt
  local count, period, subs = p.count, p.period, p.sub
  local size, m = period / subs, s.more
  local stop, gone, used = s.T - (subs - 1) * size, 0, s.F
  if now < stop then
    stop = min(stop, now + size)
  else
    gone, used = min(floor((now - stop) / size) + 1, subs), 0
    if m then
      for i = 1, min(#m, subs - gone) do
        used = used + m[i]
      end
    end
    stop = stop + gone * size
    if used == 0 then
      stop, gone = now - now % size + size, subs
    end
  end
  if what == checking then
    local allowed, x, y, z = used + asked <= count, count - used, 0, 0
    if allowed and cost > 0 then
      return true, 0, x - cost, 0, stop + period - size - now
    end
    if not allowed then
      -- slideRetry
      local left = used
      y = stop
      for i = subs - 1, 1, -1 do
        if i >= gone then
          left = left - (m and m[i - gone + 1] or 0)
        end
        if left + asked <= count then
          break
        end
        y = y + size
      end
      y = y - now
    end
    if used > 0 or not allowed then
      -- slideReset
      z = stop + period - size
      for i = 0, subs - 1 do
        if i >= gone and m and (m[i - gone + 1] or 0) > 0 then
          break
        end
        z = z - size
      end
      z = z - now
    end
    return allowed, 0, x, y, z
  end
  local newest = stop + period - size
  if what == cutting then
    if gone > 0 or newest == s.T then
      return false
    end
  elseif what ~= spending and used == 0 then
    return
  end
  -- move
  local counts = {}
  for i = 1, subs do
    counts[i] = i > gone and m and m[i - gone] or 0
  end
  if what == spending then
    counts[1] = min(counts[1] + cost, MaxTotal)
    used = min(used + cost, MaxTotal)
  elseif what == refunding then
    for i = 1, subs do
      local back = min(cost, counts[i])
      counts[i], used, cost = counts[i] - back, used - back, cost - back
    end
  elseif what == returning then
    -- returnSliding in algo/return.go
    local i = floor(max(0, stop - 1 - at) / size) + 1
    if i > subs then
      return
    end
    local back = min(cost, counts[i])
    counts[i], used = counts[i] - back, used - back
  end
  s.more, s.T, s.F = counts, newest, used
  return true
end
