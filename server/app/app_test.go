package app_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/server/app"
	"github.com/sluice-limiter/sluice/server/config"
)

func TestWithoutConfiguration(t *testing.T) {
	r := start(t, config.Sources{})
	login := `{"method":"POST","path":"/login","ip":"192.0.2.1"}`
	for i := range 6 {
		response, body := r.do("POST", "/v1/check", login)
		if want := i < 5; response.StatusCode != 200 || strings.Contains(body, `"allowed":true`) != want {
			t.Errorf("try %d: %d %s", i+1, response.StatusCode, body)
		}
	}
	for _, path := range []string{"/healthz", "/readyz", "/v1/rules"} {
		if response, body := r.do("GET", path, ""); response.StatusCode != 200 {
			t.Errorf("%s: %d %s", path, response.StatusCode, body)
		}
	}
	for name, want := range map[string]string{
		`sluice_decision_duration_seconds_count`: `sluice_decision_duration_seconds_count{door="http"} 6`,
		`sluice_requests_in_flight_limit`:        `sluice_requests_in_flight_limit 4096`,
		`sluice_shadow_all`:                      `sluice_shadow_all 0`,
		`sluice_connections`:                     `sluice_connections 1`,
		`sluice_rules`:                           `sluice_rules 3`,
		`sluice_memory_keys`:                     `sluice_memory_keys{store="cluster"} 2`,
	} {
		if got := r.metric(name); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if r.metric("sluice_build_info") == "" {
		t.Error("no build info")
	}
	if r.AdminAddr() != nil {
		t.Error("there are profiles")
	}
	if response, _ := r.do("GET", "/debug/pprof/", ""); response.StatusCode != http.StatusNotFound {
		t.Error("profiles at the address of the API")
	}
	if _, v := r.Rules(); v.Source != config.BuiltIn {
		t.Errorf("%+v", v)
	}
	if change, err := r.Reload(context.Background(), "test"); err != nil || len(change.Lines) > 0 || len(r.Audit(0)) != 1 {
		t.Errorf("%+v, %v, %+v", change, err, r.Audit(0))
	}
}

func TestAdmin(t *testing.T) {
	r := start(t, config.Sources{Flags: map[string]string{"admin": "127.0.0.1:0"}})
	response, err := r.http.Get("http://" + r.AdminAddr().String() + "/debug/pprof/goroutine?debug=1")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, _ := io.ReadAll(response.Body); response.StatusCode != 200 || !strings.Contains(string(body), "goroutine profile") {
		t.Errorf("%d %s", response.StatusCode, body)
	}
}

// Nobody waits for a profile when the server ends, and it is no request that was cut off.
func TestProfilesDoNotHoldUpTheEnd(t *testing.T) {
	r := start(t, config.Sources{Flags: map[string]string{"admin": "127.0.0.1:0", "shutdown": "10s"}})
	c, err := net.Dial("tcp", r.AdminAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET /debug/pprof/trace?seconds=60 HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(c).ReadString('\n'); err != nil { // it has begun
		t.Fatal(err)
	}
	began := time.Now()
	if err := r.stop(); err != nil || time.Since(began) > 5*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

func TestAddressInUse(t *testing.T) {
	r := start(t, config.Sources{})
	_, err := open(t, config.Sources{Flags: map[string]string{"listen": r.Addr().String()}})
	if err == nil || !strings.Contains(err.Error(), "server.listen") {
		t.Errorf("err = %v", err)
	}
	_, err = open(t, config.Sources{Flags: map[string]string{"admin": r.Addr().String()}})
	if err == nil || !strings.Contains(err.Error(), "server.admin") {
		t.Errorf("err = %v", err)
	}
}

func TestStop(t *testing.T) {
	never, err := open(t, config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	never.Stop() // it was never run
	never.Stop()
	if err := never.Ready(); !errors.Is(err, app.ErrStopping) {
		t.Errorf("ready after the end: %v", err)
	}

	r := start(t, config.Sources{})
	r.do("GET", "/healthz", "")
	if err := r.Run(context.Background()); err == nil {
		t.Error("it runs twice")
	}
	r.http.CloseIdleConnections()
	r.Stop()
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", r.Addr().String()); err == nil {
		t.Error("the address is still open")
	}
	if _, err := r.Reload(context.Background(), "test"); !errors.Is(err, app.ErrStopping) {
		t.Errorf("reloaded after the end: %v", err)
	}
}

// half sends a request up to the middle of its body, and returns how to send the rest.
func (r *running) half() (finish func() (status string)) {
	r.t.Helper()
	c, err := net.Dial("tcp", r.Addr().String())
	if err != nil {
		r.t.Fatal(err)
	}
	body := `{"path":"/"}`
	_, err = io.WriteString(c, "POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n"+body[:6])
	if err != nil {
		r.t.Fatal(err)
	}
	return func() string {
		defer c.Close()
		if _, err := io.WriteString(c, body[6:]); err != nil {
			return err.Error()
		}
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil {
			return err.Error()
		}
		return strings.TrimSpace(line)
	}
}

// connected waits until there are so many connections, that of the test included.
func (r *running) connected(n int) {
	r.t.Helper()
	want := fmt.Sprintf("sluice_connections %d", n)
	eventually(r.t, want, func() bool { return r.metric("sluice_connections") == want })
}

func TestRequestsUnderWayAreFinished(t *testing.T) {
	r := start(t, config.Sources{})
	finish := r.half()
	r.connected(2)
	r.http.CloseIdleConnections()
	ended := make(chan error)
	go func() { ended <- r.stop() }()
	eventually(t, "it is not ready any more", func() bool { return r.Ready() != nil })
	select {
	case err := <-ended:
		t.Errorf("it ended while a request was under way: %v", err)
	default:
	}
	if got := finish(); got != "HTTP/1.1 200 OK" {
		t.Errorf("answer: %s", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestRequestsAreCutOffInTheEnd(t *testing.T) {
	r, err := open(t, config.Sources{Flags: map[string]string{"shutdown": "10ms"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- r.Run(ctx) }()
	finish := r.half()
	r.connected(2)
	r.http.CloseIdleConnections()
	cancel()
	if err := <-ended; !errors.Is(err, app.ErrCutOff) {
		t.Errorf("err = %v", err)
	}
	finish()
}

func TestTooManyAreShed(t *testing.T) {
	r := start(t, config.Sources{Flags: map[string]string{"limits.in_flight": "2"}})
	slow := []func() string{r.half(), r.half(), r.half()} // who sends slowly takes no place
	r.connected(4)
	if response, _ := r.do("POST", "/v1/check", `{"path":"/"}`); response.StatusCode != 200 {
		t.Errorf("beside slow bodies: %d", response.StatusCode)
	}
	leave := r.Occupy(2)
	if got := r.metric("sluice_requests_in_flight"); got != "sluice_requests_in_flight 2" {
		t.Error(got)
	}
	response, body := r.do("POST", "/v1/check", `{"path":"/"}`)
	if response.StatusCode != 503 || response.Header.Get("Retry-After") != "1" || response.Header.Get("Content-Type") != "application/problem+json" || !strings.Contains(body, `{"type":"urn:sluice:problem:overloaded","title":"Service Unavailable","status":503`) {
		t.Errorf("%d %v %s", response.StatusCode, response.Header, body)
	}
	if response, _ := r.do("GET", "/readyz", ""); response.StatusCode != 200 {
		t.Errorf("readyz: %d", response.StatusCode)
	}
	if got := r.metric("sluice_shed_requests_total"); got != "sluice_shed_requests_total 1" {
		t.Error(got)
	}
	leave()
	for _, finish := range slow {
		if got := finish(); got != "HTTP/1.1 200 OK" {
			t.Error(got)
		}
	}
	if got := r.metric("sluice_requests_in_flight"); got != "sluice_requests_in_flight 0" {
		t.Error(got)
	}
}

// Every request that was accepted is answered, whenever the server ends.
func TestShutdownUnderLoad(t *testing.T) {
	r := start(t, config.Sources{})
	var answered, broken atomic.Int64
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for {
				response, err := client.Post(r.url+"/v1/check", "application/json", strings.NewReader(`{"path":"/api/x","user":"ann"}`))
				if err != nil {
					// Refused, or an idle connection that was closed: nothing was answered by half.
					var refused *net.OpError
					if !errors.As(err, &refused) && !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "server closed idle connection") {
						t.Errorf("%v", err)
					}
					return
				}
				body, err := io.ReadAll(response.Body)
				_ = response.Body.Close()
				if err != nil || response.StatusCode != 200 || !strings.HasSuffix(strings.TrimSpace(string(body)), "}") {
					broken.Add(1)
					return
				}
				answered.Add(1)
			}
		})
	}
	eventually(t, "load", func() bool { return answered.Load() > 500 })
	if err := r.stop(); err != nil {
		t.Errorf("Run: %v", err)
	}
	clients.Wait()
	if broken.Load() > 0 {
		t.Errorf("%d answers of %d were broken", broken.Load(), answered.Load())
	}
}

func TestEventsEndWithTheServer(t *testing.T) {
	r := start(t, config.Sources{})
	response, err := r.http.Get(r.url + "/v1/events")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	r.ShadowAll(context.Background(), true, "test")
	lines := bufio.NewReader(response.Body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line, "shadow-all") {
			break
		}
	}
	if err := r.stop(); err != nil {
		t.Error(err)
	}
}
