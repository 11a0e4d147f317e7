-- Mirror of algo/sliding_log.go. A log has a Redis key of its own, so that no
-- decision has to read all of it: a header of 40 bytes, which holds the version,
-- head (entries at the front that have left), count, F and T, and then the entries
-- of 16 bytes, oldest first, each an instant and the running total before it.
-- Everything that changes the log changes its end: entries from base on are held
-- in at and before, those below it are read in blocks when they are needed.
--
-- Spec: longest, then count and period of every window
--include sliding_log_value.lua
local function after(s, t)
  local lo, hi = s.head, countLog(s)
  while lo < hi do
    local mid = floor((lo + hi) / 2)
    if entryAt(s, mid) > t then
      hi = mid
    else
      lo = mid + 1
    end
  end
  return lo
end

local function reaching(s, total)
  local lo, hi = s.head, countLog(s)
  while lo < hi do
    local mid = floor((lo + hi) / 2)
    local _, before = entryAt(s, mid)
    if before >= total then
      hi = mid
    else
      lo = mid + 1
    end
  end
  return lo
end

local function usedLog(s, period)
  local i = after(s, now - period)
  if i < countLog(s) then
    local _, before = entryAt(s, i)
    return s.F - before
  end
  return 0
end

local function checkLog(p, s, asked, cost)
  local allowed, x, y, z, window = true, exact, 0, 0, 0
  for i, w in ipairs(p.windows) do
    local left = w.count - usedLog(s, w.period)
    if left < x and allowed then
      window = i - 1
    end
    x = min(x, left)
    if asked > left then
      local last = entryAt(s, max(s.head, reaching(s, s.F + asked - w.count) - 1))
      local retry = min(last, now) + w.period - now
      if allowed or retry > y then
        allowed, y, window = false, retry, i - 1
      end
    end
  end
  local n = countLog(s)
  if allowed and cost > 0 then
    x, z = x - cost, p.longest
  elseif n > s.head then
    local newest = entryAt(s, n - 1)
    if newest > now - p.longest then
      z = min(newest, now) + p.longest - now
    end
  end
  return allowed, 0, x, y, z, window
end

-- pull takes the entries from i on out of Redis.
local function pull(s, i)
  if i >= s.base then
    return
  end
  local at, before = {}, {}
  for j = i, countLog(s) - 1 do
    at[#at + 1], before[#before + 1] = entryAt(s, j)
  end
  s.base, s.at, s.before = i, at, before
end

-- truncate drops the entries from i on.
local function truncate(s, i)
  for j = #s.at, max(1, i - s.base + 1), -1 do
    s.at[j], s.before[j] = nil, nil
  end
  s.base = min(s.base, i)
end

local function trimLog(p, s)
  local left = after(s, now - p.longest)
  if left == countLog(s) then
    s.head, s.base, s.F, s.at, s.before = 0, 0, 0, {}, {}
    return
  end
  s.head = left
  if s.F > MaxTotal / 2 then
    pull(s, left)
    local first = s.before[left - s.base + 1]
    for i = left - s.base + 1, #s.before do
      s.before[i] = s.before[i] - first
    end
    s.F = s.F - first
  end
end

local function clampLog(s)
  local n = countLog(s)
  local i = n
  while i > s.head and entryAt(s, i - 1) > now do
    i = i - 1
  end
  pull(s, i)
  for j = i - s.base + 1, #s.at do
    s.at[j] = now
  end
  return i < n
end

local function spendLog(p, s, cost)
  trimLog(p, s)
  clampLog(s)
  s.at[#s.at + 1], s.before[#s.before + 1] = now, s.F
  s.F = min(s.F + cost, MaxTotal)
  s.T = now + p.longest
end

local function refundLog(p, s, cost)
  local first = after(s, now - p.longest)
  if first == countLog(s) then
    return
  end
  local _, before = entryAt(s, first)
  local total = max(s.F - cost, before)
  truncate(s, reaching(s, total))
  s.F = total
end

local function cutLog(p, s)
  if not clampLog(s) then
    return false
  end
  s.T = now + p.longest
  return true
end

-- Mirror of returnLog in algo/return.go.
local function returnLog(p, s, cost, at)
  local first, next = after(s, at - 1), after(s, at)
  if first == next or at <= now - p.longest then
    return
  end
  local stop, n = s.F, countLog(s)
  if next < n then
    local _
    _, stop = entryAt(s, next)
  end
  pull(s, first)
  local a, b, from = s.at, s.before, first - s.base + 1
  local back = min(cost, stop - b[from])
  local keep = from
  local after_these = next - s.base + 1
  while keep < after_these and b[keep] < stop - back do
    keep = keep + 1
  end
  for i = after_these, #a do
    a[keep], b[keep] = a[i], b[i] - back
    keep = keep + 1
  end
  truncate(s, s.base + keep - 1)
  s.F = s.F - back
end

forget[10] = function(s)
  s.T, s.F, s.head, s.base, s.at, s.before = 0, 0, 0, 0, {}, {}
end

decide = function(what, p, s, asked, cost, maxWait, at)
  if what == checking then
    return checkLog(p, s, asked, cost)
  elseif what == spending then
    spendLog(p, s, cost)
  elseif what == refunding then
    refundLog(p, s, cost)
  elseif what == cutting then
    return cutLog(p, s)
  else
    returnLog(p, s, cost, at)
  end
end
