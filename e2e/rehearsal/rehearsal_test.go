package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// programs are those of the deployment, made once for all tests.
var programs string

// TestMain makes the programs, and finds goroutines that were left behind.
func TestMain(m *testing.M) {
	var err error
	if programs, err = os.MkdirTemp("", "sluice-programs"); err == nil {
		err = Build(context.Background(), "../..", programs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(programs)
		os.Exit(code)
	}))
}

// TestRehearsal is a short one. How much is served depends on the machine; what must not
// happen does not.
func TestRehearsal(t *testing.T) {
	reports, err := Run(t.Context(), Options{Repository: "../..", Programs: programs, Part: 2 * time.Second, Progress: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	if len(reports) != 3 {
		t.Errorf("%d parts, want 3", len(reports))
	}
	for i := range reports {
		t.Logf("%+v", reports[i])
		for _, p := range reports[i].Problems() {
			t.Error(p)
		}
	}
}

// trigger calls a function when a text has been written.
type trigger struct {
	mu   sync.Mutex
	text strings.Builder
	on   string
	call func()
}

func (w *trigger) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(p)
	if strings.Contains(w.text.String(), w.on) {
		w.call()
	}
	return len(p), nil
}

// TestInterrupted: whenever it is interrupted, everything ends, and nothing is left.
func TestInterrupted(t *testing.T) {
	for _, when := range []string{"starting Redis", "starting the gateway", "served"} {
		t.Run(when, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			progress := &trigger{on: when, call: cancel}
			before := left(t)
			_, err := Run(ctx, Options{Repository: "../..", Programs: programs, Part: time.Minute, Progress: progress})
			if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "has ended") {
				t.Errorf("error %v, want one that says that it was interrupted, and all ended well", err)
			}
			if now := left(t); len(now) > len(before) {
				t.Errorf("left behind: %v", now)
			}
		})
	}
}

// left returns the folders of rehearsals, and what their processes are.
func left(t *testing.T) (all []string) {
	t.Helper()
	all, err := filepath.Glob("/tmp/sluice-rehearsal*")
	if err != nil {
		t.Fatal(err)
	}
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range commands {
		if line, err := os.ReadFile(file); err == nil && strings.Contains(string(line), "/tmp/sluice-rehearsal") {
			all = append(all, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return all
}

// TestWrongRepository: an error tells what is missing.
func TestWrongRepository(t *testing.T) {
	_, err := Run(t.Context(), Options{Repository: t.TempDir(), Part: time.Second})
	if err == nil || !strings.Contains(err.Error(), "building sluice") {
		t.Errorf("error %v, want one that says what was being done", err)
	}
}

// TestNumbers: what the judge goes by stands in the manifests.
func TestNumbers(t *testing.T) {
	for file, want := range map[string]string{
		"base/rules/rules.yaml": fmt.Sprintf("limits: [%d/s burst=%d]", perAddress, addressBurst),
		"base/shop.yaml":        fmt.Sprintf("{name: SHOP_PER_SECOND, value: \"%d\"}", perInstance),
	} {
		text, err := os.ReadFile(filepath.Join("../..", kubernetes, file))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s does not say %q (%v)", file, want, err)
		}
	}
}
