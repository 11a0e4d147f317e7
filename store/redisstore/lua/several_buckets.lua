-- A group of requests that each ask several token buckets of one key, all or
-- nothing; of the shadows, which stand behind the firm ones, those that allow. The
-- value is expected to hold just their records, in the same order. was holds what is
-- packed there: version, spare, then head, ahead, T, F, G of each; specs what each bucket is, and
-- where it stands before the requests.
local form, specs = '<BI3' .. string.rep('c11Bddd', limits), {}
for i = 1, limits do
  local head, most, aheadMost, n, per, capQ, capR, q, r = unpack('<c11dddddddd', body, spec + 75 * (i - 1))
  -- price
  --include fast_price.lua
  specs[i] = {head, aheadMost, n, capQ, capR, q, r, 0, 0}
end
for _ = 1, simple and asked or 0 do
  local value = first == key and firstValue or values and values[key] or get('GET', keys[key])
  local was, newest = nil, 0
  if value then
    if #value ~= 4 + 36 * limits or string.byte(value) ~= 2 then
      simple = false
      break
    end
    was = {unpack(form, value)}
  end
  for j = 1, limits do
    local p, at = specs[j], 5 * j
    local n, t, f = p[3], now, 0
    if was then
      local T, F, unit = was[at], was[at + 1], was[at + 2]
      if was[at - 2] ~= p[1] or unit ~= n and F > 0 or not (T >= 0 and T < 9007199254740992 and F >= 0 and F < n and unit > 0) then
        simple = false
        break
      end
      if T > newest then
        newest = T
      end
      -- bucketAt
      if T >= now then
        t, f = T, F
        local limit = p[4]
        if was[at - 1] == 1 then
          limit = limit + p[2]
        end
        if t - now > limit or t - now == limit and f > p[5] then
          t, f = now + limit, p[5]
          simple = cost == 0 -- to cut it even if nothing is spent is a rare case
        end
      end
    end
    reply[answers + 1] = t - now
    reply[answers + 2] = f
    answers = answers + 2
    p[8], p[9] = t, f
  end
  if not simple then
    break
  end
  -- The requests are equal: who admits one of them has admitted those before it. Who
  -- found that fewer fit is told to all, and they begin again.
  local fit, left, known = cost > 0 and times or 0, 0, was
  was = was or {2, 0}
  repeat
    local before = fit
    left = 0
    for j = 1, fit > 0 and limits or 0 do
      local p, at = specs[j], 5 * j
      local n, capQ, capR, q, r, t, f, spent = p[3], p[4], p[5], p[6], p[7], p[8], p[9], false
      for i = 1, fit do
        -- addPrice
        local nt, nf = t + q, f + r
        --include fast_wait.lua
        if wait > maxWait then
          if j <= firm then
            fit = i - 1
          end
          break
        end
        t, f, spent = nt, nf, true
      end
      -- putBucket
      was[at], was[at + 1] = t, f
      if spent or not known then -- else a shadow, which stays as it is
        was[at - 2], was[at - 1], was[at + 2] = p[1], (t - now > capQ or t - now == capQ and f > capR) and 1 or 0, n
      end
      if t - now > left then
        left = t - now
      end
    end
  until fit == before
  if fit > 0 then
    local last, ends = now + left, (newest - newest % 1000) / 1000 + was[2]
    --include life.lua
    was[2] = spare
    local value = pack(form, spread(was, 1, 5 * limits + 2))
    --include fast_keep.lua
  end
  key = key + step
end
