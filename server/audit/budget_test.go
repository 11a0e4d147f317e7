package audit_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/server/audit"
)

// However many budgets are reset, what was done to rules is remembered, the file stays
// readable, and nothing is lost without a word.
func TestManyBudgets(t *testing.T) { synctest.Test(t, manyBudgets) }

func manyBudgets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, path)
	at := time.Unix(100, 0)
	l.Add(audit.Entry{Time: at, Action: "reload"})
	const n = 5000
	for i := range n {
		l.AddBudget(audit.Entry{Time: at.Add(time.Duration(i+1) * time.Second), Action: audit.ActionReset})
	}
	time.Sleep(time.Second) // one more may be written down, and tells of the others
	l.AddBudget(audit.Entry{Time: at.Add(2 * n * time.Second), Action: audit.ActionRefund})
	all := l.Last(0)
	if all[len(all)-1].Action != "reload" || all[0].Action != audit.ActionRefund {
		t.Errorf("the first is %v, the last %v", all[len(all)-1], all[0])
	}
	told := len(all) - 1
	for _, e := range all {
		for _, line := range e.Lines {
			var left int
			if _, err := fmt.Sscanf(line, "%d more", &left); err == nil {
				told += left
			}
		}
	}
	if told != n+1 || len(all) != 52 {
		t.Errorf("%d entries tell of %d, want %d", len(all), told, n+1)
	}
	if text, err := os.ReadFile(path); err != nil || bytes.Count(text, []byte("\n")) != len(all) {
		t.Errorf("%v, %d lines", err, bytes.Count(text, []byte("\n")))
	}
}

// The last entries are those of all kinds, newest first.
func TestLastOfBoth(t *testing.T) {
	l := open(t, "")
	for i := range 6 {
		e := audit.Entry{Time: time.Unix(int64(i), 0), Hash: fmt.Sprint(i)}
		if i%2 == 0 {
			l.Add(e)
		} else {
			l.AddBudget(e)
		}
	}
	for n := range 7 {
		last := l.Last(n)
		if want := n; n > 0 && len(last) != want {
			t.Errorf("Last(%d) has %d", n, len(last))
		}
		for i, e := range last {
			if e.Hash != fmt.Sprint(5-i) {
				t.Errorf("Last(%d): number %d is %s", n, i, e.Hash)
			}
		}
	}
}
