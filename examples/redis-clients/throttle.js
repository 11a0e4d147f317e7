const { createClient } = require("redis");

(async () => {
  const sluice = createClient({ url: process.env.REDIS_URL || "redis://127.0.0.1:6380" });
  await sluice.connect();
  const [limited, limit, remaining] = await sluice.sendCommand(["CL.THROTTLE", "user:42", "15", "30", "60"]);
  console.log(`limited ${limited}, remaining ${remaining}`);
  const answer = await sluice.sendCommand(["SLUICE.CHECK", "login", "ip=192.0.2.1"]);
  console.log(`allowed ${answer[1]}, remaining ${answer[3]}`);
  await sluice.quit();
})();
