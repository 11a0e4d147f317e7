-- A group of requests that each ask several token buckets of one key, all or
-- nothing; of the shadows, which stand behind the firm ones, those that allow. The
-- value is expected to hold just their records, in the same order. was and new
-- hold what is packed there: version, then head, ahead, T, F, G of each.
local form, specs, new, was = '<B' .. string.rep('c11Bddd', limits), {}, {1}, nil
for i = 1, limits do
  local _, head, most, aheadMost, n, per, capQ, capR, q, r = unpack('<Bc11dddddddd', body, spec + 76 * (i - 1))
  -- price
  --include fast_price.lua
  specs[i] = {head, aheadMost, n, capQ, capR, q, r}
end
for i = 1, simple and count or 0 do
  if step == 1 or i == 1 then
    local value = first == key and firstValue or values and values[key] or redis.pcall('GET', KEYS[key])
    was = nil
    if value then
      if #value ~= 1 + 36 * limits or string.byte(value) ~= 1 then
        simple = false
        break
      end
      was = {unpack(form, value)}
    end
  end
  local start, allowed, changed = answers, true, false
  for j = 1, limits do
    local p, at = specs[j], 5 * j
    local n, capQ, capR = p[3], p[4], p[5]
    local t, f, cut, ahead = now, 0, false, nil
    if was then
      local T, F, unit = was[at - 1], was[at], was[at + 1]
      if was[at - 3] ~= p[1] or unit ~= n and F > 0 or not (T >= 0 and T < 9007199254740992 and F >= 0 and F < n and unit > 0) then
        simple = false
        break
      end
      -- bucketAt
      if T >= now then
        t, f = T, F
        local limit = capQ
        if was[at - 2] == 1 then
          limit = limit + p[2]
        end
        if t - now > limit or t - now == limit and f > capR then
          t, f, cut = now + limit, capR, true
        end
      end
    end
    -- addPrice
    local nt, nf = t + p[6], f + p[7]
    --include fast_wait.lua
    if wait > maxWait then
      reply[answers + 1], reply[answers + 2], reply[answers + 3], reply[answers + 4] = 0, t - now, f, wait - maxWait
      answers, allowed = answers + 4, allowed and j > firm
      changed = changed or cut
      if was then -- a shadow stays as it is
        ahead, n = was[at - 2], was[at + 1]
      end
    elseif cost == 0 then
      reply[answers + 1], reply[answers + 2], reply[answers + 3] = 1, t - now, f
      answers = answers + 3
    else
      t, f = nt, nf
      reply[answers + 1], reply[answers + 2], reply[answers + 3] = 1, t - now, f
      answers = answers + 3
      if wait > 0 then
        reply[answers - 2] = 5
        answers = answers + 1
        reply[answers] = wait
      end
    end
    -- putBucket
    if not ahead then
      ahead = (t - now > capQ or t - now == capQ and f > capR) and 1 or 0
    end
    new[at - 3], new[at - 2], new[at - 1], new[at], new[at + 1] = p[1], ahead, t, f, n
  end
  if not simple then
    break
  end
  if cost > 0 and changed then -- a limit that was cut: a rare case
    simple = false
    break
  end
  if cost > 0 and allowed then
    was, new = new, was or {1}
    local T = 0
    for j = 4, 5 * limits, 5 do
      if was[j] > T then
        T = was[j]
      end
    end
    local value, life = pack(form, spread(was, 1, 5 * limits + 1)), floor((T - now) / 1000) + slack
    --include fast_keep.lua
  end
  key = key + step
end
