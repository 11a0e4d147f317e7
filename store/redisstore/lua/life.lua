-- How long a key lives whose state counts until last, that is for left µs more, if it
-- was to expire at ends (0 if nobody knows): spare, in ms and from last on, and life,
-- what the key has to be given, or nothing if it may stay as it is. To change it costs
-- the server as much as to read the key, so a key lives longer than it has to: when
-- its life is set, by five seconds and as long again as it counts. It is set anew
-- before less than a second of that is left, because clocks may differ when a slot moves
-- to another server, and if it is more than five seconds and twice as long as it counts.
local over, most = (last - last % 1000) / 1000, (left - left % 1000) / 500 + 5000
if most > 16777000 then -- 3 bytes hold it
  most = 16777000
end
local spare, life = ends - over, nil
if spare < 1000 or spare > most then
  spare = (most + 5000) / 2
  life = over + spare - (now - now % 1000) / 1000 + slack
  if life < 2147483648 then -- else Redis writes it as a fraction, which is slow
    life = string.format('%d', life)
  end
end
