package respdoor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/sluice-limiter/sluice/e2e/program"
)

// programs are the examples, with what runs them.
var programs = []struct{ file, interpreter, install string }{
	{"throttle.sh", "sh", "redis-tools"},
	{"throttle.py", "/usr/bin/python3", "python3-redis"},
	{"throttle.js", "node", "node-redis"},
	{"throttle.rb", "ruby", "ruby-redis"},
	{"throttle.php", "php", "php-cli php-redis"},
}

const (
	examples = program.Root + "/examples/redis-clients"
	printed  = "limited 0, remaining 15\nallowed 1, remaining 4\n"
)

// TestLanguages runs the example of each language against a server of its own.
func TestLanguages(t *testing.T) {
	for _, p := range programs {
		t.Run(p.file, func(t *testing.T) {
			cmd := exec.Command(p.interpreter, filepath.Join(examples, p.file))
			cmd.Env = append(os.Environ(), "REDIS_URL=redis://"+serve(t), "NODE_PATH=/usr/share/nodejs")
			if out, err := cmd.CombinedOutput(); err != nil || string(out) != printed {
				t.Errorf("%v: %s\nIf something is missing: apt-get install %s", err, out, p.install)
			}
		})
	}
}

// TestExamplesAreDocumented: the page shows the programs that are tested, word for word.
func TestExamplesAreDocumented(t *testing.T) {
	page, err := os.ReadFile(program.Root + "/docs/REDIS-CLIENTS.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		text, err := os.ReadFile(filepath.Join(examples, p.file))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), "\n"+string(text)+"```\n") {
			t.Errorf("%s is not shown as it is", p.file)
		}
	}
}

// throttle is the example of the page for Go.
func throttle(ctx context.Context, address string) error {
	sluice := redis.NewClient(&redis.Options{Addr: address, MaxRetries: -1})
	defer sluice.Close()
	answer, err := sluice.Do(ctx, "CL.THROTTLE", "user:42", 15, 30, 60).Int64Slice()
	if err != nil {
		return err
	}
	fmt.Printf("limited %d, remaining %d\n", answer[0], answer[2])
	decision, err := sluice.Do(ctx, "SLUICE.CHECK", "login", "ip=192.0.2.1").Result()
	if err != nil {
		return err
	}
	fmt.Println(decision.(map[any]any)["allowed"])
	return nil
}

// TestGoExample runs it.
func TestGoExample(t *testing.T) {
	if err := throttle(context.Background(), serve(t)); err != nil {
		t.Error(err)
	}
}
