package gateway

import (
	"fmt"
	"net"
	"strings"
)

// The settings of all entrants say the same: keep connections, write no log, and limit
// by the client's address, either to more than anybody can ask for, or to next to nothing.

const nginxFrame = `worker_processes auto;
daemon off;
pid DIR/NAME.pid;
error_log DIR/NAME.error.log crit;
events { worker_connections 4096; }
http {
  access_log off;
  keepalive_requests 1000000000;
  client_body_temp_path DIR/NAME.body; proxy_temp_path DIR/NAME.proxy; fastcgi_temp_path DIR/NAME.fastcgi; uwsgi_temp_path DIR/NAME.uwsgi; scgi_temp_path DIR/NAME.scgi;
  CONTENT
}
`

func nginx(dir, name, content string) string {
	return strings.NewReplacer("DIR", dir, "NAME", name, "CONTENT", content).Replace(nginxFrame)
}

// upstream answers with a hundred bytes.
func upstreamSettings(dir, address string) string {
	return nginx(dir, "upstream", fmt.Sprintf(`server { listen %s; location / { default_type text/plain; return 200 "%s"; } }`, address, strings.Repeat("0123456789", 10)))
}

func nginxSettings(dir, address, upstream string, refuse bool) string {
	rate, burst := "1000000r/s", "burst=1000000 nodelay"
	if refuse {
		rate, burst = "1r/m", ""
	}
	return nginx(dir, "nginx", fmt.Sprintf(`limit_req_zone $binary_remote_addr zone=clients:10m rate=%s;
  limit_req_status 429;
  upstream app { server %s; keepalive 256; keepalive_requests 1000000000; }
  server { listen %s; location / { limit_req zone=clients %s; proxy_pass http://app; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host; proxy_set_header X-Forwarded-For $remote_addr; } }`,
		rate, upstream, address, burst))
}

func haproxySettings(address, upstream string, refuse bool) string {
	limit := "1000000000"
	if refuse {
		limit = "0"
	}
	return fmt.Sprintf(`global
  maxconn 4096
defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  timeout http-request 5s
  option forwardfor
frontend clients
  bind %s
  stick-table type ip size 100k expire 1m store http_req_rate(1m)
  http-request track-sc0 src
  http-request deny deny_status 429 if { sc_http_req_rate(0) gt %s }
  default_backend app
backend app
  http-reuse always
  server one %s
`, address, limit, upstream)
}

func caddySettings(address, upstream string, refuse bool) string {
	_, port, _ := net.SplitHostPort(address)
	does := "reverse_proxy " + upstream
	if refuse {
		does = `respond "Too many requests" 429`
	}
	return fmt.Sprintf("{\n  admin off\n  auto_https off\n}\nhttp://:%s {\n  bind 127.0.0.1\n  %s\n}\n", port, does)
}

func sluiceSettings(address, api, upstream string, refuse bool) string {
	limit := "1000000000/s"
	if refuse {
		limit = "1/d"
	}
	return fmt.Sprintf(`server: {listen: "%s", log: {level: error}}
gateway:
  listen: "%s"
  upstreams: [{name: app, servers: ["http://%s"]}]
rules: [{name: address, key: [ip], limits: [%s]}]
`, api, address, upstream, limit)
}
