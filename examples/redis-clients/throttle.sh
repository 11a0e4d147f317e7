#!/bin/sh
# 16 at once, 30 in 60 seconds; and the rule "login" of the server.
sluice="redis-cli -u ${REDIS_URL:-redis://127.0.0.1:6380}"
$sluice CL.THROTTLE user:42 15 30 60 | { read -r limited; read -r limit; read -r remaining; echo "limited $limited, remaining $remaining"; }
$sluice SLUICE.CHECK login ip=192.0.2.1 | { read -r name; read -r allowed; read -r name; read -r remaining; echo "allowed $allowed, remaining $remaining"; }
