package rulefile

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// minified returns rules as a program writes them: JSON on one line.
func minified(t testing.TB, rules int) string {
	t.Helper()
	list := make([]any, rules)
	for i := range list {
		list[i] = map[string]any{
			"name":   fmt.Sprintf("rule-%d", i),
			"match":  map[string]any{"methods": []string{"GET"}, "paths": []string{fmt.Sprintf("/p%d", i)}},
			"key":    []string{"ip"},
			"limits": []string{"10/s", "100/m"},
		}
	}
	data, err := json.Marshal(map[string]any{"rules": list})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A line of 200 KB takes no longer than as much text in many lines: far below the bound,
// which time that grows with the square of the line misses by minutes.
func TestOneLongLine(t *testing.T) {
	text := minified(t, 2200)
	if len(text) < 200<<10 {
		t.Fatalf("only %d bytes", len(text))
	}
	begun := time.Now()
	r, err := Parse("x.json", []byte(text))
	if err != nil || len(r.Config.Rules) != 2200 {
		t.Fatal(err)
	}
	// The same with something wrong in every rule: places cost no more.
	wrong := strings.ReplaceAll(text, `"10/s"`, `"10/s brust=2"`)
	if _, err := Parse("x.json", []byte(wrong)); err == nil || len(err.Error()) == 0 {
		t.Error("no error")
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}
