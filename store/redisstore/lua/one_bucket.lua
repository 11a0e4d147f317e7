-- The fast way of the most common call: nothing but requests that ask one token
-- bucket, or a few of one key, or one fixed window. It does what token_bucket.lua and
-- fixed_window.lua do, without functions and almost without tables, which cost more
-- than the decision. Whatever it does not expect is left to the long way, which starts
-- from the beginning: nothing is written yet.
--
-- Decisions: groups of equal requests: place of the specs, how many limits (0 is one
--            window), how many of them are no shadows, first key, how many requests, 1
--            if each asks the next key and 0 if all ask the same, cost, longest wait
-- Reply:     -1 - now, to tell it from that of the long way; for every key of every
--            group, and every limit, how long until T, and F, before the first
--            request. The verdicts follow from that by the same rules, so that nobody
--            has to send them.
local simple = mode == 1
if simple then
  local keys, get = KEYS, redis.pcall
  local reply, answers = {-1 - now, 0, 0}, 1 -- room for the most common answer
  -- What is to be written: of the first key that changed, and, by key, of all others.
  local first, firstValue, firstLife, values, lives
  for pos = begin, #body, 27 do
    local spec, limits, firm, key, count, step, cost, maxWait = unpack('<I4BBHHBdd', body, pos)
    local asked, times = 1, count -- how many keys are asked, and how often each
    if step == 1 then
      asked, times = count, 1
    end
    if limits > 1 then
      --include several_buckets.lua
    elseif limits == 0 then
      --include one_window.lua
    else
      local shape, most, aheadMost, n, per, capQ, capR, q, r = unpack('<xxxc8dddddddd', body, spec)
      if n >= 4294967296 then
        simple = false
        break
      end
      -- price
      --include fast_price.lua
      for _ = 1, asked do
        local value = first == key and firstValue or values and values[key] or get('GET', keys[key])
        local t, f, changed, ends = now, 0, false, 0
        if value then
          local version, given, written, T, F, unit
          local limit = capQ
          if #value == 28 then
            version, given, written, T, F, unit = unpack('<BI3c8dI4I4', value)
            if T < 0 then -- ahead
              T, limit = -T, capQ + aheadMost
            end
          end
          if version ~= 2 or written ~= shape or unit ~= n and F > 0 or not (T < 9007199254740992 and F < n and unit > 0) then
            simple = false
            break
          end
          ends = (T - T % 1000) / 1000 + given
          -- bucketAt
          if T >= now then
            t, f = T, F
            if t - now > limit or t - now == limit and f > capR then
              t, f, changed = now + limit, capR, cost > 0
            end
          end
        end
        reply[answers + 1] = t - now
        reply[answers + 2] = f
        answers = answers + 2
        for _ = 1, cost > 0 and times or 0 do
          -- addPrice
          local nt, nf = t + q, f + r
          --include fast_wait.lua
          if wait > maxWait then
            break
          end
          t, f, changed = nt, nf, true
        end
        if changed then
          -- putBucket
          local left, last, T = t - now, t, t
          if left > capQ or left == capQ and f > capR then -- ahead
            T = -t
          end
          --include life.lua
          local value = pack('<BI3c8dI4I4', 2, spare, shape, T, f, n)
          --include fast_keep.lua
        end
        key = key + step
      end
    end
    if not simple then
      break
    end
  end
  if simple then
    if first then
      if firstLife then
        call('SET', keys[first], firstValue, 'PX', firstLife)
      else
        call('SET', keys[first], firstValue, 'KEEPTTL')
      end
    end
    for key = 1, values and #keys or 0 do
      local value, life = values[key], lives[key]
      if life then
        call('SET', keys[key], value, 'PX', life)
      elseif value then
        call('SET', keys[key], value, 'KEEPTTL')
      end
    end
    return reply
  end
end
