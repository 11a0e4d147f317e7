-- Finds the spec p at the place spec, and its algorithm: one function that does
-- whatever it is told (checking, spending, …). Functions and tables cost more than
-- a decision when they are made, so they are made when they are asked for.
local p = specs[spec]
if not p then
  local kind, words, shape, at = unpack('<BHc8', body, spec)
  local decide = decides[kind]
  if kind == 3 or kind == 5 then
    local most, maxWait, n, per, capQ, capR, oneQ, oneR = unpack('<dddddddd', body, at)
    p = {
      kind = kind, shape = shape, most = most, maxWait = maxWait,
      n = n, per = per, capQ = capQ, capR = capR, oneQ = oneQ, oneR = oneR,
    }
    if not decide then
      if not mulDiv then
        --include mul_div.lua
      end
      --include token_bucket.lua
    end
  elseif kind == 4 then
    local most, maxWait, count, period, burst, steps = unpack('<dddddd', body, at)
    p = {kind = kind, shape = shape, most = most, maxWait = maxWait, count = count, period = period, burst = burst, steps = steps}
    if not decide then
      --include interval_bucket.lua
    end
  elseif kind == 6 then
    local most, maxWait, warm, stable, slope, threshold, most_stored, cool = unpack('<dddddddd', body, at)
    p = {
      kind = kind, shape = shape, most = most, maxWait = maxWait,
      warm = warm, stable = stable, slope = slope, threshold = threshold, max = most_stored, cool = cool,
    }
    if not decide then
      --include warm_up.lua
    end
  elseif kind == 7 then
    local most, maxWait, count, period, first = unpack('<ddddd', body, at)
    p = {kind = kind, shape = shape, most = most, maxWait = maxWait, count = count, period = period, firstHit = first == 1}
    if words > 5 then
      p.bounds = {unpack('<' .. rep('d', words - 5), body, at + 40)}
      p.bounds[words - 4] = nil -- the place behind the last one
    end
    if not decide then
      --include fixed_window.lua
    end
  elseif kind == 8 then
    local most, maxWait, count, period, subs = unpack('<ddddd', body, at)
    p = {kind = kind, shape = shape, most = most, maxWait = maxWait, count = count, period = period, sub = subs}
    if not decide then
      --include sliding_window.lua
    end
  elseif kind == 9 then
    local most, maxWait, count, period = unpack('<dddd', body, at)
    p = {kind = kind, shape = shape, most = most, maxWait = maxWait, count = count, period = period}
    if not decide then
      if not mulDiv then
        --include mul_div.lua
      end
      --include weighted_window.lua
    end
  elseif kind == 10 then
    local most, maxWait, longest = unpack('<ddd', body, at)
    p = {kind = kind, shape = shape, most = most, maxWait = maxWait, longest = longest, windows = {}}
    for i = 24, 8 * words - 16, 16 do
      local count, period = unpack('<dd', body, at + i)
      p.windows[#p.windows + 1] = {count = count, period = period}
    end
    if not decide then
      --include sliding_log.lua
    end
  elseif kind == 11 then
    p = {kind = kind, shape = shape, count = unpack('<d', body, at + 16)}
    if not decide then
      --include concurrency.lua
    end
  else -- unlimited and ban remember nothing
    p = {kind = kind, shape = shape, most = unpack('<d', body, at)}
    decide = function() return true, 0, MaxCount, 0, 0 end
  end
  p.decide, decides[kind], specs[spec] = decide, decide, p
end
