package envoy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// page is where the commands stand.
const page = "../../docs/ENVOY.md"

// TestPage runs the commands of the page as they stand there. Only ports, the folder and
// the Redis are others.
func TestPage(t *testing.T) {
	commands := blockWith(t, "sluice serve --grpc")
	if len(commands) != 2 {
		t.Fatalf("the page has the commands %q", commands)
	}
	for n, command := range commands {
		door, api := freeAddress(t), freeAddress(t)
		replace := []string{"127.0.0.1:8081", door, "/etc/ratelimit/config", descriptors(t)}
		if n == 1 {
			replace = append(replace, "redis://10.0.0.5:6379", startRedis(t))
		}
		i := serve(t, door, shell(t, "", command, replace...), "SLUICE_LISTEN="+api, "SLUICE_DEADLINE=5s")
		i.logins(command)
		shadow := shell(t, "", mentioned(t, "sluice shadow-all on"))
		shadow.Env = append(shadow.Env, "SLUICE_SERVER=http://"+api)
		if out, err := shadow.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		for range 20 {
			if !i.request("192.0.2.1", "/login", "") {
				t.Fatal("in shadow a login is refused")
			}
		}
	}
}

// TestPageImport turns the example into rules as the page says, and lets them decide.
func TestPageImport(t *testing.T) {
	dir, door := t.TempDir(), freeAddress(t)
	command := mentioned(t, "sluice import envoy FOLDER > rules.yaml")
	if out, err := shell(t, dir, command, "FOLDER", descriptors(t)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	serve(t, door, shell(t, dir, "sluice serve --config rules.yaml --grpc "+door), "SLUICE_LISTEN="+freeAddress(t)).logins(command)
}

// logins are as many as the limit of the example lets through.
func (i *instance) logins(command string) {
	i.t.Helper()
	passed := 0
	for range 20 { // in one minute, or in two of them
		if i.ask("path=/login remote_address=192.0.2.1") {
			passed++
		}
	}
	if passed != 5 && passed != 10 {
		i.t.Errorf("%s: %d of 20 logins passed a limit of 5 a minute", command, passed)
	}
}

// descriptors is the folder of the example.
func descriptors(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs(example)
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// shell is a command line as somebody types it in a folder, with texts replaced, given as
// old and new in turn.
func shell(t *testing.T, dir, line string, replace ...string) *exec.Cmd {
	t.Helper()
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(line, replace[i]) {
			t.Fatalf("%q is not in %q", replace[i], line)
		}
		line = strings.ReplaceAll(line, replace[i], replace[i+1])
	}
	cmd := exec.Command("sh", "-c", "exec "+line)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
	return cmd
}

// serve runs a server until the test ends, and connects to it.
func serve(t *testing.T, door string, cmd *exec.Cmd, env ...string) *instance {
	t.Helper()
	i := &instance{t: t, cmd: cmd, log: &log{}}
	cmd.Env, cmd.Stdout, cmd.Stderr = append(cmd.Env, env...), i.log, i.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Errorf("it ended with %v\n%s", err, i.log)
		}
	})
	eventually(t, "it listens", func() bool { return listens(door) })
	i.connect(door)
	return i
}

// blockWith returns the lines of the block of the page in which a text stands.
func blockWith(t *testing.T, text string) []string {
	t.Helper()
	for n, block := range strings.Split(read(t), "```") {
		if n%2 == 1 && strings.Contains(block, text) {
			return strings.Split(strings.Trim(block, "\n"), "\n")
		}
	}
	t.Fatalf("%q is in no block of the page", text)
	return nil
}

// mentioned is a command in a sentence of the page.
func mentioned(t *testing.T, command string) string {
	t.Helper()
	if !strings.Contains(read(t), "`"+command+"`") {
		t.Fatalf("the page does not mention %q", command)
	}
	return command
}

func read(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
