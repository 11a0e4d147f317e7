require "redis"

sluice = Redis.new(url: ENV.fetch("REDIS_URL", "redis://127.0.0.1:6380"))
limited, limit, remaining, retry_after, reset = sluice.call("CL.THROTTLE", "user:42", 15, 30, 60)
puts "limited #{limited}, remaining #{remaining}"
answer = sluice.call("SLUICE.CHECK", "login", "ip=192.0.2.1").each_slice(2).to_h
puts "allowed #{answer["allowed"]}, remaining #{answer["remaining"]}"
