-- Asks sluice about a request: "http-request lua.sluice" in a frontend. If it may pass,
-- the variable txn.sluice says so.
-- docs/FORWARD-AUTH.md explains it. HAProxy 2.5 or later, built with Lua.

local url = "http://127.0.0.1:8080/forward-auth/haproxy"
local timeout = 1000            -- ms; more than the longest wait of your rules
local open_when_down = false    -- let requests pass when sluice does not answer

-- Fields that belong to the connection or to the body, which stays here.
local left_out = {"connection", "upgrade", "expect", "te", "transfer-encoding", "content-length"}

-- Fields for the client, also if the request passes: see haproxy.cfg.
local told = {"ratelimit", "ratelimit-policy", "access-control-expose-headers"}

local function question(txn)
	local headers = {}
	for name, lines in pairs(txn.http:req_get_headers()) do
		headers[name] = {}
		for i = 0, #lines do table.insert(headers[name], lines[i]) end
	end
	for _, name in ipairs(left_out) do headers[name] = nil end
	-- What rules look at. Clients cannot set these: what they send is replaced.
	headers["x-forwarded-method"] = {txn.f:method()}
	headers["x-forwarded-uri"] = {txn.f:pathq()}
	headers["x-forwarded-host"] = headers["host"]
	headers["x-forwarded-for"] = {txn.f:src()}
	return headers
end

local function refuse(txn, answer)
	local reply = txn:reply()
	reply:set_status(answer.status)
	for name, lines in pairs(answer.headers) do
		if name ~= "content-length" and name ~= "connection" and name ~= "date" then
			for i = 0, #lines do reply:add_header(name, lines[i]) end
		end
	end
	reply:set_body(answer.body or "")
	txn:done(reply)
end

-- down tells an answer that HAProxy made itself, since there was none, from one of sluice.
local function down(answer)
	return not answer or answer.status == 0 or answer.status >= 500 and not answer.headers["date"]
end

core.register_action("sluice", {"http-req"}, function(txn)
	local answer = core.httpclient():get{url = url, headers = question(txn), timeout = timeout}
	if down(answer) then
		if open_when_down then return txn:set_var("txn.sluice", "pass") end
		answer = {status = 503, headers = {["retry-after"] = {[0] = "1"}}}
	end
	if answer.status ~= 204 then
		return refuse(txn, answer)
	end
	txn:set_var("txn.sluice", "pass")
	for _, name in ipairs(told) do
		local lines = answer.headers[name]
		if lines then txn:set_var("txn." .. name:gsub("-", "_"), lines[0]) end
	end
end)
