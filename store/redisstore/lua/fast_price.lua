-- Of the fast way: the price q + r/n of a cost; 1 is priced already.
if cost > 1 then
  local price = cost * per
  if cost > most or price >= 9007199254740992 then
    simple = false
    break
  end
  q = floor(price / n)
  r = price - q * n
end
