package app_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/server/audit"
	"github.com/sluice-limiter/sluice/server/config"
)

// Who resets or refunds a budget is remembered, with the rules and not with the key, unless
// the settings want it.
func TestBudgetsAreAudited(t *testing.T) {
	const rules = "rules: [{name: login, key: ['header:X-Api-Key'], limits: [5/h]}, {name: all, limits: [100/h]}]\n"
	const body = `{"path":"/","headers":{"X-Api-Key":"s3cr3t"},"cost":2}`
	for how, shown := range map[string]string{"hash": ", key ", "plain": "s3cr3t", "none": "rule login"} {
		t.Run(how, func(t *testing.T) {
			r := start(t, config.Sources{Path: newFile(t, rules).path, Flags: map[string]string{"log.keys": how}})
			for _, action := range []string{audit.ActionReset, audit.ActionRefund} {
				if response, text := r.do("POST", "/v1/"+action, body); response.StatusCode != 204 {
					t.Fatal(response.Status, text)
				}
				e := r.Audit(1)[0]
				text := fmt.Sprint(e.Lines)
				if e.Action != action || e.Source != "api from 127.0.0.1" || e.Hash == "" || len(e.Lines) != 2 || e.Lines[1] != "rule all" ||
					!strings.Contains(text, shown) || strings.Contains(text, "s3cr3t") != (how == "plain") || strings.Contains(text, "key") != (how != "none") {
					t.Errorf("%+v", e)
				}
			}
		})
	}
}

// An attempt that failed is told with the reason.
func TestFailedResetIsAudited(t *testing.T) {
	redis := newRedis(t) // nobody listens there
	f := newFile(t, "server: {redis: '"+redis.url()+"'}\n"+shared)
	r := start(t, config.Sources{Path: f.path})
	if response, _ := r.do("POST", "/v1/reset", `{"path":"/"}`); response.StatusCode/100 != 5 {
		t.Error(response.Status)
	}
	if e := r.Audit(1)[0]; e.Action != audit.ActionReset || e.Error == "" {
		t.Errorf("%+v", e)
	}
}
