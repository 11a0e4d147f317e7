-- Takes permits, all of the decision or none; of shadows, those that allow. What has
-- expired is dropped whatever the answer is: else every denial would read all permits
-- again.
local owner
owner, pos = unpack('<Hc0', body, pos)
s.sweep(s)
if count > 1 or not allowed then -- it may have to be undone
  keep(s)
end
local ok, never, x, y, z, had = p.decide(op, p, s, owner, cost, wait)
local waits, taken, window = 0, 0, nil
allowed = allowed and (ok or i > firm)
--include answer.lua
if had then
  reply[at] = reply[at] + 32
end
