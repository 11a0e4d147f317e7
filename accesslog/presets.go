package accesslog

// usualFields are names that many tables and JSON logs use.
var usualFields = slots{
	"timestamp": {meaning: isTime, rank: 1}, "@timestamp": {meaning: isTime, rank: 1}, "ts": {meaning: isTime}, "datetime": {meaning: isTime},
	"client_ip": {meaning: isIP, rank: 1}, "clientip": {meaning: isIP, rank: 1}, "remote_addr": {meaning: isIP}, "remote_ip": {meaning: isIP}, "client": {meaning: isIP}, "address": {meaning: isIP},
	"username": {meaning: isUser}, "user_id": {meaning: isUser}, "remote_user": {meaning: isUser},
	"verb": {meaning: isVerb}, "request_method": {meaning: isVerb}, "http_method": {meaning: isVerb},
	"url": {meaning: isTarget}, "request_uri": {meaning: isTarget}, "status_code": {meaning: isStatus}, "response": {meaning: isStatus},
	"size": {meaning: isBytes}, "user_agent": {meaning: isAgent}, "useragent": {meaning: isAgent},
	"referer": {meaning: isMore, name: "header:Referer"}, "referrer": {meaning: isMore, name: "header:Referer"},
}

// nginxFields are those of nginx, whose variables people give their own names.
var nginxFields = slots{
	"time_local": {meaning: isTime}, "time_iso8601": {meaning: isTime, rank: 1}, "time": {meaning: isTime, rank: 1}, "msec": {meaning: isTime, rank: 2},
	"remote_addr": {meaning: isIP}, "remote_user": {meaning: isUser}, "request": {meaning: isRequest}, "request_method": {meaning: isVerb}, "method": {meaning: isVerb},
	"request_uri": {meaning: isTarget, rank: 1}, "uri": {meaning: isTarget}, "args": {meaning: isQuery}, "query_string": {meaning: isQuery},
	"host": {meaning: isHost, rank: 1}, "http_host": {meaning: isHost}, "server_name": {meaning: isHost}, "status": {meaning: isStatus},
	"body_bytes_sent": {meaning: isBytes}, "bytes_sent": {meaning: isBytes, rank: 1}, "request_length": {meaning: isLength}, "request_time": {meaning: isSeconds},
	"http_user_agent": {meaning: isAgent}, "user_agent": {meaning: isAgent}, "http_referer": {meaning: isMore, name: "header:Referer"}, "http_referrer": {meaning: isMore, name: "header:Referer"},
}

// envoyFields are those of Envoy's and Istio's JSON logs.
var envoyFields = slots{
	"start_time": {meaning: isTime}, "x_forwarded_for": {meaning: isForwarded, rank: 2}, "downstream_remote_address": {meaning: isIP},
	"downstream_remote_address_without_port": {meaning: isIP, rank: 1}, "method": {meaning: isVerb}, "path": {meaning: isTarget}, "authority": {meaning: isHost},
	"response_code": {meaning: isStatus}, "bytes_sent": {meaning: isBytes}, "bytes_received": {meaning: isLength}, "duration": {meaning: isMillis}, "user_agent": {meaning: isAgent},
}

// caddyFields are those of Caddy 2.
var caddyFields = slots{
	"ts": {meaning: isTime}, "request.client_ip": {meaning: isIP, rank: 1}, "request.remote_ip": {meaning: isIP}, "request.remote_addr": {meaning: isIP}, "user_id": {meaning: isUser},
	"request.method": {meaning: isVerb}, "request.host": {meaning: isHost}, "request.uri": {meaning: isTarget}, "request.headers.User-Agent": {meaning: isAgent},
	"request.headers.Referer": {meaning: isMore, name: "header:Referer"}, "request.headers.Cookie": {meaning: isMore, name: "header:Cookie"},
	"request.headers.Authorization": {meaning: isMore, name: "header:Authorization"}, "request.headers.X-Api-Key": {meaning: isMore, name: "header:X-Api-Key"},
	"status": {meaning: isStatus}, "size": {meaning: isBytes}, "bytes_read": {meaning: isLength}, "duration": {meaning: isSeconds},
}

// traefikFields are those of Traefik.
var traefikFields = slots{
	"StartUTC": {meaning: isTime, rank: 2}, "StartLocal": {meaning: isTime, rank: 1}, "time": {meaning: isTime}, "ClientHost": {meaning: isIP, rank: 1}, "ClientAddr": {meaning: isIP},
	"ClientUsername": {meaning: isUser}, "RequestMethod": {meaning: isVerb}, "RequestHost": {meaning: isHost, rank: 1}, "RequestAddr": {meaning: isHost}, "RequestPath": {meaning: isTarget},
	"DownstreamStatus": {meaning: isStatus}, "DownstreamContentSize": {meaning: isBytes}, "RequestContentSize": {meaning: isLength}, "Duration": {meaning: isNanos},
	"request_User-Agent": {meaning: isAgent}, "request_Referer": {meaning: isMore, name: "header:Referer"}, "request_X-Api-Key": {meaning: isMore, name: "header:X-Api-Key"},
}

// sluiceFields are those of our own log of decisions, as JSON or as text.
var sluiceFields = slots{
	"time": {meaning: isTime}, "msg": {meaning: isKind}, "method": {meaning: isVerb}, "path": {meaning: isPath}, "cost": {meaning: isCost}, "key": {meaning: isKey},
	"rule": {meaning: isMore, name: "attribute:rule"},
}

// gatewayFields are those of our own access log.
var gatewayFields = slots{
	"time": {meaning: isTime}, "method": {meaning: isVerb}, "host": {meaning: isHost}, "path": {meaning: isPath}, "query": {meaning: isQuery}, "ip": {meaning: isIP}, "user": {meaning: isUser},
	"status": {meaning: isStatus}, "agent": {meaning: isAgent}, "bytes": {meaning: isBytes}, "duration": {meaning: isSeconds}, "cost": {meaning: isCost},
}

// jsonPresets are tried when a format is found out. The first of the best is taken.
var jsonPresets = []struct {
	name   string
	fields slots
}{
	{"sluice-gateway", gatewayFields},
	{"sluice", sluiceFields},
	{"json-caddy", caddyFields},
	{"json-traefik", traefikFields},
	{"json-envoy", envoyFields},
	{"json-nginx", nginxFields},
}

// anyJSON is for logs of which nothing is known but what Settings say.
func anyJSON() slots { return tableFields() }

func preset(name string, fields slots) func(Settings) (Format, error) {
	return func(s Settings) (Format, error) { return newJSON(name, fields, s) }
}
