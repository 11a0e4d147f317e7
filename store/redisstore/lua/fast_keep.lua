-- Of the fast way: what is to be written, so that later requests of the call see it.
-- A life that was set before stays set.
if not first or first == key then
  first, firstValue, firstLife = key, value, life or firstLife
else
  if not values then
    values, lives = {}, {}
  end
  values[key], lives[key] = value, life or lives[key]
end
