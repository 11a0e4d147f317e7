package accesslog_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/accesslog"
)

// show writes an entry on one line.
func show(e *accesslog.Entry) string {
	parts := []string{e.At().Format("2006-01-02T15:04:05.999999")}
	if e.Coarse {
		parts[0] += "~"
	}
	for _, f := range []struct{ name, value string }{
		{"ip", addr(e)}, {"user", e.User}, {"method", e.Method}, {"host", e.Host}, {"path", e.Path}, {"query", e.Query}, {"agent", e.Agent}, {"key", e.Key},
	} {
		if f.value != "" {
			parts = append(parts, f.name+"="+f.value)
		}
	}
	for _, f := range []struct {
		name  string
		value int64
	}{{"status", int64(e.Status)}, {"bytes", e.Bytes}, {"length", e.Length}, {"cost", e.Cost}, {"ms", e.Duration.Milliseconds()}} {
		if f.value != 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", f.name, f.value))
		}
	}
	for _, f := range e.More {
		parts = append(parts, f.Name+"="+f.Value)
	}
	return strings.Join(parts, " ")
}

func addr(e *accesslog.Entry) string {
	if !e.IP.IsValid() {
		return ""
	}
	return e.IP.String()
}

const nginxMain = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" "$http_x_forwarded_for" $request_time`

// lineTests are one line of each kind, and what is read of it; a reason stands in
// brackets.
var lineTests = []struct{ format, line, want string }{
	{"combined", `192.0.2.1 - - [20/Feb/2016:00:00:45 -0500] "GET /a?b=c HTTP/1.1" 200 187 "-" "curl/8"`, `2016-02-20T05:00:45~ ip=192.0.2.1 method=GET path=/a query=b=c agent=curl/8 status=200 bytes=187`},
	{"common", `2001:db8::1 - ann [29/Feb/2016:23:59:60 +0000] "POST / HTTP/2.0" 429 -`, `2016-02-29T23:59:59~ ip=2001:db8::1 user=ann method=POST path=/ status=429`},
	{"combined", `192.0.2.1 - ann lee [20/Feb/2016:00:00:45 +0530] "GET / HTTP/1.1" 200 1 "http://a/\"x\"" "say \"hi\"" "10.0.0.1" 0.004`, `2016-02-19T18:30:45~ ip=192.0.2.1 user=ann lee method=GET path=/ agent=say \"hi\" status=200 bytes=1 header:Referer=http://a/\"x\"`},
	{"combined", `192.0.2.1 - - [20/Feb/2016:00:00:45 +0000] "\x16\x03\x01" 400 0 "-" "-"`, `2016-02-20T00:00:45~ ip=192.0.2.1 path=\x16\x03\x01 status=400`},
	{"combined", `192.0.2.1 - - [20/Feb/2016:00:00:45 +0000] "-" 408 - "-" "-"`, `2016-02-20T00:00:45~ ip=192.0.2.1 status=408`},
	{"combined", `"192.0.2.1 - - [20/Feb/2016:00:00:45 +0000] ""GET /x HTTP/1.1"" 200 5 ""-"" ""Mozilla"""`, `2016-02-20T00:00:45~ ip=192.0.2.1 method=GET path=/x agent=Mozilla status=200 bytes=5`},
	{"combined", "192.0.2.1 - - [20/Feb/2016:00:00:45 +0000] \"GET /caf\xe9 HTTP/1.1\" 200 5 \"-\" \"Jos\xe9\"", "2016-02-20T00:00:45~ ip=192.0.2.1 method=GET path=/caf\xe9 agent=Jos\xe9 status=200 bytes=5"},
	{"combined", `host.example.com - - [20/Feb/2016:00:00:45 +0000] "GET http://site/p HTTP/1.0" 200 5`, `2016-02-20T00:00:45~ method=GET host=site path=/p status=200 bytes=5 attribute:client=host.example.com`},
	{"combined", `192.0.2.1:443 - - [20/Feb/2016:00:00:45 +0000] "GET / HTTP/1.0" 200 5`, `2016-02-20T00:00:45~ ip=192.0.2.1 method=GET path=/ status=200 bytes=5`},
	{"combined", `www.example.com:443 192.0.2.1 - ann [20/Feb/2016:00:00:45 +0000] "GET / HTTP/1.0" 200 5`, `2016-02-20T00:00:45~ ip=192.0.2.1 user=ann method=GET host=www.example.com:443 path=/ status=200 bytes=5`},
	{"combined", `127.0.1.1:80 192.0.2.1 - - [20/Feb/2016:00:00:45 +0000] "GET / HTTP/1.0" 200 5`, `2016-02-20T00:00:45~ ip=192.0.2.1 method=GET host=127.0.1.1:80 path=/ status=200 bytes=5`},
	{"combined", `192.0.2.1, 10.0.0.1, 10.0.0.2 - ann [20/Feb/2016:00:00:45 +0000] "GET / HTTP/1.0" 200 5`, `2016-02-20T00:00:45~ ip=192.0.2.1 user=ann method=GET path=/ status=200 bytes=5`},
	{"combined", `192.0.2.1,10.0.0.1 - - [20/Feb/2016:00:00:45 +0000] "GET / HTTP/1.0" 200 5`, `2016-02-20T00:00:45~ ip=192.0.2.1 method=GET path=/ status=200 bytes=5`},
	{"combined", `192.0.2.1 ident ann [20/Feb/2016:00:00:45 +0000] "GET / HTTP/1.0" 200 5`, `2016-02-20T00:00:45~ ip=192.0.2.1 user=ann method=GET path=/ status=200 bytes=5`},
	{"combined", `192.0.2.1 - - [20/Feb/2016:00:00:45.250 +0100] "GET / HTTP/1.0" 200 5`, `2016-02-19T23:00:45.25 ip=192.0.2.1 method=GET path=/ status=200 bytes=5`},
	{"combined", `unknown, [20/Feb/2016:00:00:45 +0000] "GET / HTTP/1.0" 200 5`, `[` + string(accesslog.BadIP) + `]`},
	{"combined", `192.0.2.1 - - [01/Jan/1970:00:00:00 +0100] "GET / HTTP/1.0" 200 5`, `[` + string(accesslog.BadTime) + `]`},
	{"combined", `999.0.2.1 - - [20/Feb/2016:00:00:45 +0000] "GET / HTTP/1.0" 200 5`, `[` + string(accesslog.BadIP) + `]`},
	{"combined", `192.0.2.1 - - [31/Feb/2016:00:00:45 +0000] "GET / HTTP/1.0" 200 5`, `[` + string(accesslog.BadTime) + `]`},
	{"combined", `192.0.2.1 - - [20/Feb/2016:24:00:45 +0000] "GET / HTTP/1.0" 200 5`, `[` + string(accesslog.BadTime) + `]`},
	{"combined", `192.0.2.1 - - [20/Feb/2016:00:00:45 +0000] "GET / HTTP/1.0" two 5`, `[` + string(accesslog.BadNumber) + `]`},
	{"combined", `192.0.2.1 - - [20/Feb/2016:00:00:45 +0000] "GET / HTTP/1.0`, `[` + string(accesslog.Shape) + `]`},
	{"combined", `no log at all`, `[` + string(accesslog.Shape) + `]`},
	{nginxMain, `192.0.2.1 - - [20/Feb/2016:00:00:45 +0000] "GET /a\x22b HTTP/1.1" 200 7 "-" "agent \" x" "203.0.113.9" 0.250`, `2016-02-20T00:00:45~ ip=192.0.2.1 method=GET path=/a\x22b agent=agent \" x status=200 bytes=7 ms=250 header:X-Forwarded-For=203.0.113.9`},
	{`$msec|$remote_addr|$request_method|$host$uri`, `[`, ``},
	{`$msec|$remote_addr|$request_method|$request_uri|$http_x_api_key|${cookie_sid}`, `1455926445.123|192.0.2.1|GET|/a?b|k1|s1`, `2016-02-20T00:00:45.123 ip=192.0.2.1 method=GET path=/a query=b header:x-api-key=k1 cookie:sid=s1`},
	{`$time_iso8601 $remote_addr "$request"`, `2016-02-20T00:00:45+01:00 192.0.2.1 "GET / HTTP/1.1" more`, `2016-02-19T23:00:45~ ip=192.0.2.1 method=GET path=/`},
	{"json-nginx", `{"time_iso8601":"2016-02-20T00:00:45+00:00","remote_addr":"192.0.2.1","request":"GET /a?b HTTP/1.1","status":200,"request_time":0.5,"http_user_agent":"a\u00e9\"\ud83d\ude00"}`, `2016-02-20T00:00:45~ ip=192.0.2.1 method=GET path=/a query=b agent=aé"😀 status=200 ms=500`},
	{"json-envoy", `{"start_time":"2016-02-20T00:00:45.123Z","method":"GET","path":"/a?b","authority":"h","response_code":429,"x_forwarded_for":"192.0.2.1,10.0.0.1","duration":12,"bytes_sent":"5","user_agent":null}`, `2016-02-20T00:00:45.123 ip=192.0.2.1 method=GET host=h path=/a query=b status=429 bytes=5 ms=12`},
	{"json-envoy", `{"start_time":"2016-02-20T00:00:45.123Z","x_forwarded_for":"192.0.2.1","method":"GET","path":"/","downstream_remote_address":"10.0.0.1:4711"}`, `2016-02-20T00:00:45.123 ip=192.0.2.1 method=GET path=/`},
	{"json-envoy", `{"start_time":"2016-02-20T00:00:45.123Z","x_forwarded_for":"made up","method":"GET","path":"/","downstream_remote_address":"10.0.0.1:4711"}`, `2016-02-20T00:00:45.123 ip=10.0.0.1 method=GET path=/`},
	{"json-caddy", `{"level":"info","ts":1455926445.1,"msg":"serving initial configuration"}`, `[` + string(accesslog.Other) + `]`},
	{"json-traefik", `{"level":"info","msg":"Configuration loaded","time":"2016-02-20T00:00:45Z"}`, `[` + string(accesslog.Other) + `]`},
	{"json-caddy", `{"level":"info","ts":1455926445.5241024,"request":{"remote_ip":"10.0.0.1","client_ip":"192.0.2.1","method":"GET","host":"h","uri":"/a?b","headers":{"User-Agent":["curl/8","other"],"X":[]}},"duration":0.25,"size":10,"status":200}`, `2016-02-20T00:00:45.524102 ip=192.0.2.1 method=GET host=h path=/a query=b agent=curl/8 status=200 bytes=10 ms=250`},
	{"json-traefik", `{"ClientHost":"192.0.2.1","ClientUsername":"-","DownstreamStatus":200,"Duration":1500000,"RequestHost":"h","RequestMethod":"GET","RequestPath":"/a","StartUTC":"2016-02-20T00:00:45.123456789Z","time":"2016-02-20T00:00:46Z","request_User-Agent":"x"}`, `2016-02-20T00:00:45.123456 ip=192.0.2.1 method=GET host=h path=/a agent=x status=200 ms=1`},
	{"sluice", `{"time":"2016-02-20T00:00:45.123456789Z","level":"INFO","msg":"decision","allowed":true,"method":"POST","path":"/login","rule":"login","limit":"login","cost":3,"key":"login|192.0.2.1"}`, `2016-02-20T00:00:45.123456 ip=192.0.2.1 method=POST path=/login key=login|192.0.2.1 cost=3 attribute:rule=login`},
	{"sluice", `{"time":"2016-02-20T00:00:45Z","msg":"rules reloaded"}`, `[` + string(accesslog.Other) + `]`},
	{"sluice-text", `time=2016-02-20T00:00:45.123Z level=INFO msg=decision allowed=false method=GET path="/a b" rule=r limit=r reason=limited cost=1 key=9f2c`, `2016-02-20T00:00:45.123 method=GET path=/a b key=9f2c cost=1 attribute:rule=r`},
	{"sluice-text", `time=2016-02-20T00:00:45.123Z level=INFO msg="listening on :80"`, `[` + string(accesslog.Other) + `]`},
	{"sluice-gateway", `{"time":"2016-02-20T00:00:45.123456Z","method":"GET","host":"h","path":"/a","query":"b=1","ip":"192.0.2.1","user":"ann","status":200,"agent":"x","bytes":5,"duration":0.002}`, `2016-02-20T00:00:45.123456 ip=192.0.2.1 user=ann method=GET host=h path=/a query=b=1 agent=x status=200 bytes=5 ms=2`},
	{"json", `{"@timestamp":1455926445123,"client_ip":"192.0.2.1","url":"https://h/a?b"}`, `2016-02-20T00:00:45.123 ip=192.0.2.1 host=h path=/a query=b`},
	{"json", `{"ip":"192.0.2.1"}`, `[` + string(accesslog.NoTime) + `]`},
	{"json", `{"time":"yesterday"}`, `[` + string(accesslog.BadTime) + `]`},
	{"json", `{"time":1455926445,"ip":"192.0.2.1"`, `[` + string(accesslog.BadJSON) + `]`},
	{"json", `{"time":1455926445}{}`, `[` + string(accesslog.BadJSON) + `]`},
	{"json", `{"time":` + strings.Repeat("[", 100), `[` + string(accesslog.BadJSON) + `]`},
	{"alb", `https 2018-07-02T22:23:00.186641Z app/my-loadbalancer/50dc6c495c0c9188 192.0.2.1:2817 10.0.0.1:80 0.086 0.048 0.037 200 200 34 366 "GET https://www.example.com:443/a?b=1 HTTP/1.1" "curl/7.46.0" ECDHE TLSv1.2 arn "Root=1" "www.example.com" "arn"`, `2018-07-02T22:23:00.186641 ip=192.0.2.1 method=GET host=www.example.com path=/a query=b=1 agent=curl/7.46.0 status=200 bytes=366 length=34 ms=48`},
	{"alb", `h2 2026-01-02T03:04:15.5Z app/shop/77aa [2001:db8::7]:40000 10.0.0.9:443 0.001 0.002 0.000 200 200 5 257 "POST https://shop.example.com:443/cart?add=7 HTTP/2.0" "shop/3 (\x22beta\x22)" TLS_AES_128_GCM_SHA256 TLSv1.3 arn:aws:elasticloadbalancing:x:1:targetgroup/shop/1 "Root=1-aa" "shop.example.com" "arn:aws:acm:x:1:certificate/1" 1 2026-01-02T03:04:05.006000Z "waf,forward" "-" "-" "10.0.0.9:443" "200" "-" "-" TID_1`, `2026-01-02T03:04:05.006 ip=2001:db8::7 method=POST host=shop.example.com path=/cart query=add=7 agent=shop/3 (\x22beta\x22) status=200 bytes=257 length=5 ms=2`},
	{"alb", `http 2026-01-02T03:04:05.006Z app/shop/77aa 192.0.2.1:2817 - -1 -1 -1 400 - 0 272 "- http://shop.example.com:80- " "-" - - - "-" "-" "-" - 2026-01-02T03:04:05.005Z "-" "-" "-" "-" "-" "Severe" "UriTooLong"`, `2026-01-02T03:04:05.005 ip=192.0.2.1 host=shop.example.com:80 status=400 bytes=272`},
	{"alb", `wss 2026-01-02T03:04:05.006Z app/shop/77aa - - -1 -1 -1 - - 0 0 "-" "-" - - - "-" "-" "-"`, `2026-01-02T03:04:05.006`},
	{"alb", `http 2026-01-02T03:04:05.006Z app/shop/77aa 192.0.2.1:2817 - -1 -1 -1 400 - 0 272 "GET http://shop.exam`, `[` + string(accesslog.Shape) + `]`},
	{"alb", `http 2018-07-02T22:23:00.186641Z app/x 192.0.2.1:2817 - -1 -1 -1 502 - 34 366 "GET http://h:80/ HTTP/1.1" "-" - - - "-" "-" "-"`, `2018-07-02T22:23:00.186641 ip=192.0.2.1 method=GET host=h:80 path=/ status=502 bytes=366 length=34`},
}

func TestLines(t *testing.T) {
	for _, c := range lineTests {
		f, err := accesslog.Lookup(c.format, accesslog.Settings{})
		if c.want == "" {
			if err == nil {
				t.Errorf("%s: no error", c.format)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.format, err)
			continue
		}
		var e accesslog.Entry
		got := ""
		if reason := f.Parser().Parse(c.line, &e); reason != "" {
			got = "[" + string(reason) + "]"
		} else {
			got = show(&e)
		}
		if got != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", c.format, c.line, got, c.want)
		}
	}
}

// readAll reads a text as a log.
func readAll(t testing.TB, text string, o accesslog.Options) ([]string, accesslog.Lines) {
	t.Helper()
	log := accesslog.New([]accesslog.Source{accesslog.Stream("log", strings.NewReader(text))}, o)
	var entries []string
	for e := range log.Entries(t.Context()) {
		entries = append(entries, show(e))
	}
	l := log.Lines()
	if l.Parsed+l.Rejected != l.Total || int64(len(entries)) != l.Parsed {
		t.Errorf("%d entries, %+v", len(entries), l)
	}
	return entries, l
}

// TestFiles: formats whose files tell what stands in their lines, found out.
func TestFiles(t *testing.T) {
	for _, c := range []struct {
		name, text string
		fields     map[string]string
		formats    string
		rejected   int64
		want       []string
	}{
		{
			"iis", "#Software: IIS\r\n#Fields: date time c-ip cs-method cs-uri-stem cs-uri-query sc-status cs(User-Agent) cs(X-Key) time-taken\r\n" +
				"2016-02-20 00:00:45 192.0.2.1 GET /a b=1 200 Mozilla/5.0+(X11) k1 31\r\n" +
				"#Fields: date time cs-method c-ip\r\n2016-02-20 00:00:46 POST 192.0.2.2\r\n", nil, "w3c", 3,
			[]string{"2016-02-20T00:00:45~ ip=192.0.2.1 method=GET path=/a query=b=1 agent=Mozilla/5.0 (X11) status=200 ms=31 header:x-key=k1", "2016-02-20T00:00:46~ ip=192.0.2.2 method=POST"},
		},
		{
			"cloudfront", "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query time-taken x-host-header\n" +
				"2016-02-20\t00:00:45\tFRA\t10\t2001:db8::1\tGET\td1.cloudfront.net\t/a\t200\t-\tMozilla/5.0%20(X11)\t-\t0.050\twww.example.com\n", nil, "w3c,cloudfront", 2,
			[]string{"2016-02-20T00:00:45~ ip=2001:db8::1 method=GET host=www.example.com path=/a agent=Mozilla/5.0 (X11) status=200 bytes=10 ms=50"},
		},
		{
			"iis, as it is", "#Software: Microsoft Internet Information Services 10.0\r\n#Version: 1.0\r\n#Date: 2026-01-02 03:04:05\r\n" +
				"#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status time-taken \r\n" +
				"2026-01-02 03:04:05 10.0.0.1 POST /login.aspx ReturnUrl=%2f 443 CORP\\ann 192.0.2.7 Mozilla/5.0+(Windows+NT+10.0;+Win64;+x64) https://shop.example.com/ 302 0 0 46 \r\n" +
				"2026-01-02 03:04:06 10.0.0.1 GET /short - 443 - 192.0.2.7 - - 200 0 0\r\n" +
				"2026-01-02 03:04:06 10.0.0.1 GET /a space - 443 - 192.0.2.7 - - 200 0 0 1\r\n" +
				"2026-01-02 25:04:06 10.0.0.1 GET / - 443 - 192.0.2.7 - - 200 0 0 1\r\n" +
				strings.Repeat("\x00", 500), nil, "w3c", 8,
			[]string{"2026-01-02T03:04:05~ ip=192.0.2.7 user=CORP\\ann method=POST path=/login.aspx query=ReturnUrl=%2f agent=Mozilla/5.0 (Windows NT 10.0; Win64; x64) status=302 ms=46 header:Referer=https://shop.example.com/"},
		},
		{
			"cloudfront, as it is", "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header cs-protocol cs-bytes time-taken x-forwarded-for ssl-protocol ssl-cipher x-edge-response-result-type cs-protocol-version fle-status fle-encrypted-fields c-port time-to-first-byte x-edge-detailed-result-type sc-content-type sc-content-len sc-range-start sc-range-end\n" +
				"2026-01-02\t03:04:05\tFRA60-P1\t1045\t2001:db8::7\tGET\td1.cloudfront.net\t/a%20b.html\t200\thttps://shop.example.com/\tMozilla/5.0%20(X11;%20Linux)%20\"x\"\tq=1\tsid=1;%20b=2\tHit\tAbC==\tshop.example.com\thttps\t33\t0.001\t-\tTLSv1.3\tTLS_AES_128_GCM_SHA256\tHit\tHTTP/2.0\t-\t-\t11040\t0.001\tHit\ttext/html\t78\t-\t-\n" +
				"2026-01-02\t03:04:06\tFRA60-P1\t1045\tnobody\"s\tGET\td1.cloudfront.net\t/\t200\t-\t-\t-\t-\tHit\tAbC==\tshop.example.com\thttps\t33\t0.001\t-\tTLSv1.3\tX\tHit\tHTTP/2.0\t-\t-\t1\t0.001\tHit\t-\t-\t-\t-\n" +
				"2026-01-02\t03:04:06\tFRA60-P1\t1045\t192.0.2.1\tGET\td1.cloud", nil, "w3c,cloudfront", 4,
			[]string{"2026-01-02T03:04:05~ ip=2001:db8::7 method=GET host=shop.example.com path=/a%20b.html query=q=1 agent=Mozilla/5.0 (X11; Linux) \"x\" status=200 bytes=1045 length=33 ms=1 header:Referer=https://shop.example.com/ header:Cookie=sid=1;%20b=2"},
		},
		{
			"csv", "Timestamp,client,verb,url,User_Agent,plan\n2016-02-20 00:00:45.5,192.0.2.1,GET,/a?b,\"x, \"\"y\"\"\",free\n2016-02-20 00:00:46,192.0.2.1\n\"open\n",
			map[string]string{"attribute:plan": "plan"},
			"csv", 2,
			[]string{`2016-02-20T00:00:45.5 ip=192.0.2.1 method=GET path=/a query=b agent=x, "y" attribute:plan=free`, "2016-02-20T00:00:46~ ip=192.0.2.1"},
		},
		{
			"tsv", "when\tip\tcost\n1455926445\t192.0.2.1\t5\n",
			map[string]string{"time": "when"},
			"tsv", 1,
			[]string{"2016-02-20T00:00:45~ ip=192.0.2.1 cost=5"},
		},
		{
			"csv after blank lines", "\n\r\ntime,ip\n2016-02-20T00:00:45Z,192.0.2.1\n", nil, "csv", 3,
			[]string{"2016-02-20T00:00:45~ ip=192.0.2.1"},
		},
		{
			"a log after more blank lines than a block holds", strings.Repeat("\n", 300<<10) + "192.0.2.1 - - [20/Feb/2016:00:00:45 +0000] \"GET / HTTP/1.0\" 200 5\n", nil, "combined", 300 << 10,
			[]string{"2016-02-20T00:00:45~ ip=192.0.2.1 method=GET path=/ status=200 bytes=5"},
		},
		{
			"a server that tells of itself before its first request", "Starting\n" + strings.Repeat(`{"level":"info","ts":1455926445.1,"msg":"starting"}`+"\n", 20) +
				`{"ts":1455926445.5,"request":{"client_ip":"192.0.2.1","method":"GET","uri":"/"},"status":200}` + "\n", nil, "json-caddy", 21,
			[]string{"2016-02-20T00:00:45.5 ip=192.0.2.1 method=GET path=/ status=200"},
		},
		{
			"times alone, which somebody asked for", "{\"at\":1455926445}\n",
			map[string]string{"time": "at"},
			"sluice-gateway", 0,
			[]string{"2016-02-20T00:00:45~"},
		},
		{
			"a byte order mark, blank lines, no newline at the end", "\xef\xbb\xbf\r\n{\"time\":\"2016-02-20T00:00:45Z\",\"ip\":\"192.0.2.1\",\"method\":\"GET\"}\n\n{\"time\":\"2016-02-20T00:00:44Z\",\"ip\":\"192.0.2.2\"}", nil, "sluice-gateway", 2,
			[]string{"2016-02-20T00:00:44~ ip=192.0.2.2", "2016-02-20T00:00:45~ ip=192.0.2.1 method=GET"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, lines := readAll(t, c.text, accesslog.Options{Settings: accesslog.Settings{Fields: c.fields}})
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") || lines.Rejected != c.rejected || strings.Join(lines.Formats, ",") != c.formats {
				t.Errorf("got\n%s\nwant\n%s\n%+v", strings.Join(got, "\n"), strings.Join(c.want, "\n"), lines)
			}
		})
	}
}

// TestDetect: each kind of line is known by itself.
func TestDetect(t *testing.T) {
	for _, c := range lineTests {
		if strings.HasPrefix(c.want, "[") || strings.Contains(c.format, "$") || c.want == "" {
			continue
		}
		want := c.format
		if want == "common" {
			want = "combined"
		}
		f := accesslog.Detect(c.line+"\n", accesslog.Settings{})
		if f == nil || f.Name() != want && want != "json" {
			t.Errorf("%v, want %s: %s", f, want, c.line)
		}
	}
	for _, text := range []string{"", "\n\n", "hello\n", "#no fields\n", "{}\n", strings.Repeat("x", 1000)} {
		if f := accesslog.Detect(text, accesslog.Settings{}); f != nil {
			t.Errorf("%q is %s", text, f.Name())
		}
	}
}

// TestZones: stamps without a zone are from where the settings say, also on the days
// when clocks change; the hour that comes twice is the first of them.
func TestZones(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	f, err := accesslog.Lookup("json", accesslog.Settings{Zone: berlin})
	if err != nil {
		t.Fatal(err)
	}
	p := f.Parser()
	for stamp, want := range map[string]string{
		"2016-03-27 01:59:59": "2016-03-27T00:59:59Z", "2016-03-27 03:00:00": "2016-03-27T01:00:00Z",
		"2016-10-30 01:59:59": "2016-10-29T23:59:59Z", "2016-10-30 02:30:00": "2016-10-30T00:30:00Z", "2016-10-30 03:00:00": "2016-10-30T02:00:00Z",
		"2016-10-30 02:30:00+01:00": "2016-10-30T01:30:00Z", "2016-07-01T12:00:00": "2016-07-01T10:00:00Z",
	} {
		var e accesslog.Entry
		if r := p.Parse(`{"time":"`+stamp+`","status":200}`, &e); r != "" || e.At().Format(time.RFC3339) != want {
			t.Errorf("%s: %v %s, want %s", stamp, e.At(), r, want)
		}
	}
	plain, _ := readAll(t, "192.0.2.1 - - [30/Oct/2016:03:00:00] \"GET / HTTP/1.1\" 200 1\n", accesslog.Options{Settings: accesslog.Settings{Zone: berlin}})
	if len(plain) != 1 || !strings.HasPrefix(plain[0], "2016-10-30T02:00:00~") {
		t.Errorf("combined without an offset: %q", plain)
	}
	// Both sides of the change, in one file with offsets.
	got, _ := readAll(t, "192.0.2.1 - - [30/Oct/2016:02:30:00 +0200] \"GET /first HTTP/1.1\" 200 1\n192.0.2.1 - - [30/Oct/2016:02:10:00 +0100] \"GET /second HTTP/1.1\" 200 1\n", accesslog.Options{})
	if len(got) != 2 || !strings.Contains(got[0], "/first") || !strings.HasPrefix(got[1], "2016-10-30T01:10:00") {
		t.Errorf("got %q", got)
	}
}
