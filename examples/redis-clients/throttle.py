import os, redis

sluice = redis.from_url(os.environ.get("REDIS_URL", "redis://127.0.0.1:6380"), decode_responses=True)
limited, limit, remaining, retry, reset = sluice.execute_command("CL.THROTTLE", "user:42", 15, 30, 60)
print(f"limited {limited}, remaining {remaining}")
answer = sluice.execute_command("SLUICE.CHECK", "login", "ip=192.0.2.1")
answer = dict(zip(answer[::2], answer[1::2]))
print(f"allowed {answer['allowed']}, remaining {answer['remaining']}")
