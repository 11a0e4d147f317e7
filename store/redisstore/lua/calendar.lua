-- Mirror of calendarBounds in algo/fixed_window.go.
local bounds = p.bounds
local last = #bounds
if now < bounds[1] then
  local size = bounds[2] - bounds[1]
  local n = -floor((now - bounds[1]) / size) -- rounded up
  start, stop = bounds[1] - n * size, bounds[1] - (n - 1) * size
elseif now >= bounds[last] then
  local size = bounds[last] - bounds[last - 1]
  local n = floor((now - bounds[last]) / size)
  start, stop = bounds[last] + n * size, bounds[last] + (n + 1) * size
else
  local lo, hi = 1, last
  while hi - lo > 1 do
    local mid = floor((lo + hi) / 2)
    if bounds[mid] <= now then
      lo = mid
    else
      hi = mid
    end
  end
  start, stop = bounds[lo], bounds[hi]
end
