-- Mirror of algo/arith.go. Doubles hold integers exactly up to 2^53; below that
-- the floor of a quotient is exact too.
local call, unpack, pack, floor = redis.call, struct.unpack, struct.pack, math.floor
local min, max, sub, byte, rep = math.min, math.max, string.sub, string.byte, string.rep
local MaxCount = 1000000000000000
local MaxTotal = 4503599627370496
local MaxAhead = 31622400000000
local exact = 9007199254740992
local mulDiv -- made when it is needed
