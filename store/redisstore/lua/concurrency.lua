-- Mirror of algo/concurrency.go. Permits have a Redis key of their own, a hash:
-- the field of an owner holds its count and its expiry; the field without a name
-- holds the version, n (how many owners there are), total, first, last and at.
--
-- Spec: count
local function sane(...)
  for i = 1, select('#', ...) do
    local value = select(i, ...)
    if not (value >= 0 and value < exact) then
      return false
    end
  end
  return true
end

-- parsePermit returns what an owner holds, or false if that is broken.
local function parsePermit(text)
  if #text ~= 16 then
    return false
  end
  local count, expiry = unpack('<dd', text)
  return sane(count, expiry) and {count = count, expiry = expiry}
end

local function heldBy(s, owner)
  local h = s.held[owner]
  if h == nil then
    local text = s.n > 0 and not s.all and read('HGET', s.key, owner)
    h = text and parsePermit(text) or false
    s.held[owner] = h
  end
  return h
end

-- holdAll reads all owners that are not known yet. What is broken is dropped.
local function holdAll(s)
  if s.all then
    return
  end
  local fields = read('HGETALL', s.key)
  for i = 1, #fields, 2 do
    local owner, text = fields[i], fields[i + 1]
    if owner ~= '' and not s.held[owner] and not s.changed[owner] then
      s.held[owner] = parsePermit(text)
      s.changed[owner] = not s.held[owner] or nil
    end
  end
  s.all = true
end

local function put(s, owner, h)
  s.held[owner], s.changed[owner], s.dirty = h, true, true
end

local function widen(s, expiry)
  if s.n == 0 then
    s.first, s.last = expiry, expiry
  end
  s.first, s.last = min(s.first, expiry), max(s.last, expiry)
end

local function sweep(s)
  local back = s.at - now
  if back > 0 then
    holdAll(s)
    for owner, h in pairs(s.held) do
      if h then
        put(s, owner, {count = h.count, expiry = h.expiry - back})
      end
    end
    s.first, s.last, s.at = s.first - back, s.last - back, now
  end
  if now < s.first or s.n == 0 then
    return
  end
  holdAll(s)
  s.n, s.total, s.first, s.last, s.at, s.dirty = 0, 0, 0, 0, now, true
  for owner, h in pairs(s.held) do
    if h and h.expiry > now then
      widen(s, h.expiry)
      s.n, s.total = s.n + 1, s.total + h.count
    elseif h then
      put(s, owner, false)
    end
  end
end

local function leftPermits(s)
  if s.n == 0 then
    return 0
  end
  return s.last - now
end

local function holdPermits(s, owner, count, hold)
  widen(s, now + hold)
  if not s.held[owner] then
    s.n = s.n + 1
  end
  s.at = now
  put(s, owner, {count = count, expiry = now + hold})
end

-- acquire needs a swept state and returns allowed, never, X, Y, Z and whether the owner had some already.
local function acquire(p, s, owner, cost, hold)
  local h = heldBy(s, owner)
  local mine, asked = h and h.count or 0, max(cost, 1)
  if asked > p.count then
    return false, true, p.count - s.total, 0, leftPermits(s)
  elseif s.total - mine + asked > p.count then
    return false, false, p.count - s.total, max(1, s.first - now), leftPermits(s)
  elseif cost > 0 then
    holdPermits(s, owner, cost, hold)
    s.total = s.total + cost - mine
  end
  return true, false, p.count - s.total, 0, leftPermits(s), mine > 0
end

local function renew(s, owner, hold)
  sweep(s)
  local h = heldBy(s, owner)
  if h then
    holdPermits(s, owner, h.count, hold)
  end
  return h
end

local function release(s, owner)
  sweep(s)
  local h = heldBy(s, owner)
  if h then
    s.n, s.total, s.at = s.n - 1, s.total - h.count, now
    put(s, owner, false)
  end
  return h
end

local function save(s)
  if s.n == 0 then
    writes[#writes + 1] = {'DEL', s.key}
    return
  end
  if s.cleared then
    writes[#writes + 1] = {'DEL', s.key}
  end
  for owner in pairs(s.changed) do
    local h = s.held[owner]
    if h then
      writes[#writes + 1] = {'HSET', s.key, owner, pack('<dd', h.count, h.expiry)}
    else
      writes[#writes + 1] = {'HDEL', s.key, owner}
    end
  end
  writes[#writes + 1] = {'HSET', s.key, '', pack('<Bddddd', 1, s.n, s.total, s.first, s.last, s.at)}
  writes[#writes + 1] = {'PEXPIRE', s.key, lifetime(s.last)}
end

open[11] = function(key)
  local s = {key = KEYS[key], save = save, sweep = sweep, n = 0, total = 0, first = 0, last = 0, at = 0, held = {}, changed = {}}
  local header, fault = read('HGET', s.key, '')
  s.fault = fault
  if header then
    s.fault = versionFault(byte(header)) or #header ~= 41 and corrupt or nil
    if not s.fault then
      s.n, s.total, s.first, s.last, s.at = unpack('<ddddd', header, 2)
      s.fault = not sane(s.n, s.total, s.first, s.last, s.at) and corrupt or nil
    end
  end
  return s
end

forget[11] = function(s)
  s.n, s.total, s.first, s.last, s.at, s.held, s.changed, s.all, s.cleared = 0, 0, 0, 0, 0, {}, {}, true, true
end

-- decide does acquire, renew or release, by the number of the operation.
decide = function(op, p, s, owner, cost, hold)
  if op == 8 then
    return acquire(p, s, owner, cost, hold)
  elseif op == 9 then
    return renew(s, owner, hold)
  end
  return release(s, owner)
end
