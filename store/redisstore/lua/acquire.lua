-- Takes permits, all of the decision or none.
local owner
owner, pos = unpack('<Hc0', body, pos)
keep(s)
local ok, never, x, y, z, had = p.decide(op, p, s, owner, cost, wait)
local waits, taken, window = 0, 0, nil
allowed = allowed and ok
--include answer.lua
if had then
  reply[at] = reply[at] + 32
end
