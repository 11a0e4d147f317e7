<?php
$url = parse_url(getenv("REDIS_URL") ?: "redis://127.0.0.1:6380");
$sluice = new Redis();
$sluice->connect($url["host"], $url["port"]);
[$limited, $limit, $remaining] = $sluice->rawCommand("CL.THROTTLE", "user:42", 15, 30, 60);
echo "limited $limited, remaining $remaining\n";
$answer = $sluice->rawCommand("SLUICE.CHECK", "login", "ip=192.0.2.1");
echo "allowed $answer[1], remaining $answer[3]\n";
