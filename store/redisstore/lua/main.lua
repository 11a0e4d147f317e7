--include begin.lua
--include one_bucket.lua
-- A function of its own, so that the fast way does not need the room for all this;
-- it is given what it needs, because what it shared would have to be made anew.
local function longWay(body, mode, now, begin, slack, spread)
  --include long_way.lua
end
return longWay(body, mode, now, begin, slack, spread)
