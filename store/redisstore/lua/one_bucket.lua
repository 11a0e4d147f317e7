-- The fast way of the most common call: nothing but requests that ask one token
-- bucket, or a few of one key. It does what token_bucket.lua does, without functions
-- and almost without tables, which cost more than the decision. Whatever it does not
-- expect is left to the long way, which starts from the beginning: nothing is written
-- yet.
--
-- Decisions: groups of equal requests: place of the specs, how many limits, how many
--            of them are no shadows, first key, how many requests, 1 if each asks the
--            next key and 0 if all ask the same, cost, longest wait
-- Answer:    for every limit: flags, X, Y, if it denies Z, and the wait if there is one
local simple = mode == 1
if simple then
  -- What is to be written: of the first key that changed, and, by key, of all others.
  local first, firstValue, firstLife, values, lives
  for pos = begin, #body, 27 do
    local spec, limits, firm, key, count, step, cost, maxWait = unpack('<I4BBHHBdd', body, pos)
    if limits > 1 then
      --include several_buckets.lua
    else
      local head, most, aheadMost, n, per, capQ, capR, q, r = unpack('<c12dddddddd', body, spec)
      if n >= 4294967296 then
        simple = false
        break
      end
      -- price
      --include fast_price.lua
      local t, f, ahead, changed
      for i = 1, count do
        if step == 1 or i == 1 then
          local value = first == key and firstValue or values and values[key] or redis.pcall('GET', KEYS[key])
          t, f, ahead, changed = 0, 0, 0, false
          if value then
            local written, unit
            if #value == 28 then
              written, t, f, unit = unpack('<c12dI4I4', value)
              if t < 0 then
                t, ahead = -t, 1
              end
            end
            if written ~= head or unit ~= n and f > 0 or not (t >= 0 and t < 9007199254740992 and f >= 0 and f < n and unit > 0) then
              simple = false
              break
            end
          end
        end
        -- bucketAt
        local at, part, cut = t, f, false
        if at < now then
          at, part = now, 0
        else
          local limit = capQ
          if ahead == 1 then
            limit = limit + aheadMost
          end
          if at - now > limit or at - now == limit and part > capR then
            at, part, cut = now + limit, capR, true
          end
        end
        -- addPrice
        local nt, nf = at + q, part + r
        --include fast_wait.lua
        if wait > maxWait then
          reply[answers + 1], reply[answers + 2], reply[answers + 3], reply[answers + 4] = 0, at - now, part, wait - maxWait
          answers = answers + 4
          cut = cut and cost > 0
        elseif cost == 0 then
          reply[answers + 1], reply[answers + 2], reply[answers + 3] = 1, at - now, part
          answers = answers + 3
          cut = false
        else
          at, part, cut = nt, nf, true
          reply[answers + 1], reply[answers + 2], reply[answers + 3] = 1, at - now, part
          answers = answers + 3
          if wait > 0 then
            reply[answers - 2] = 5
            answers = answers + 1
            reply[answers] = wait
          end
        end
        if cut then
          -- putBucket
          t, f, ahead, changed = at, part, 0, true
          if t - now > capQ or t - now == capQ and f > capR then
            ahead = 1
          end
        end
        if step == 1 or i == count then
          if changed then
            local value, life = pack('<c12dI4I4', head, ahead == 1 and -t or t, f, n), floor((t - now) / 1000) + slack
            --include fast_keep.lua
          end
          key = key + step
        end
      end
    end
    if not simple then
      break
    end
  end
  if simple then
    if first then
      call('SET', KEYS[first], firstValue, 'PX', firstLife)
    end
    for key = 1, values and #KEYS or 0 do
      if values[key] then
        call('SET', KEYS[key], values[key], 'PX', lives[key])
      end
    end
    return reply
  end
end
