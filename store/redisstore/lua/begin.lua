-- One call carries the decisions of one caller or of many, decided one after the
-- other at one instant. All files of this folder are joined into one script: see
-- script.go. Whatever can fail comes before the first write, because Redis does
-- not take back what a failed script wrote.
--
-- KEYS     the keys that decisions name by their number
-- ARGV[1]  packed as encode.go says: the mode, now in µs since 1970 (negative for the
--          clock of the server; tests have their own), the place where the decisions
--          begin, the specs that decisions name by their place, the decisions
-- reply    now, then the answers to all decisions, as decode.go says; one_bucket.lua has
--          a shorter one
local spread = unpack
local call, unpack, pack, floor = redis.call, struct.unpack, struct.pack, math.floor
local body = ARGV[1]
local mode, now, begin = unpack('<BdI4', body)
-- A test's clock may stand still for as long as the test takes, so its keys live longer.
-- By the server's clock a key begins to live with the script, which may be a
-- millisecond before it asks for the time, and lives are rounded down: 2 ms more.
local slack = 600000
if now < 0 then
  local time = call('TIME')
  now, slack = time[1] * 1000000 + time[2], 2
end
