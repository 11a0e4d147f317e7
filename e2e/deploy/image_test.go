package deploy

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/e2e/program"
)

// instructions returns those of the last stage of the Dockerfile, by their name.
func instructions(t *testing.T) map[string][]string {
	t.Helper()
	text := strings.ReplaceAll(read(t, "deploy/Dockerfile"), "\\\n", "")
	all := map[string][]string{}
	for _, line := range strings.Split(text, "\n") {
		name, rest, ok := strings.Cut(line, " ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		if name == "FROM" {
			clear(all)
		}
		all[name] = append(all[name], rest)
	}
	return all
}

func TestImageIsBare(t *testing.T) {
	last := instructions(t)
	if from := last["FROM"]; len(from) != 1 || from[0] != "scratch" {
		t.Errorf("the last stage is FROM %v, want scratch", from)
	}
	if user := strings.Join(last["USER"], ""); !regexp.MustCompile(`^[1-9][0-9]*:[1-9][0-9]*$`).MatchString(user) {
		t.Errorf("USER %s: want numbers, not those of root", user)
	}
	if len(last["RUN"]) > 0 {
		t.Errorf("RUN %v: there is nothing that could run", last["RUN"])
	}
	if copies := strings.Join(last["COPY"], "\n"); !strings.Contains(copies, "--from=build /out/sluice /sluice") || !strings.Contains(copies, "ca-certificates.crt") {
		t.Errorf("COPY %s: want the program and the certificates of authorities", copies)
	}
}

func TestImageIsBuiltAsTested(t *testing.T) {
	text := read(t, "deploy/Dockerfile")
	for _, want := range []string{"CGO_ENABLED=0", "GOWORK=off", "WORKDIR /src/server", "-o /out/sluice ./cmd/sluice"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing", want)
		}
	}
	needs := regexp.MustCompile(`(?m)^go (1\.[0-9]+)`).FindStringSubmatch(read(t, "server/go.mod"))
	if needs == nil || !strings.Contains(text, " golang:"+needs[1]+"-") {
		t.Errorf("server/go.mod wants %v: the image that builds has another version", needs)
	}
}

// TestImageStartsTheServer runs what the image would, and shows that it does not open
// itself to everybody.
func TestImageStartsTheServer(t *testing.T) {
	last := instructions(t)
	entry, arguments := words(t, last["ENTRYPOINT"]), words(t, last["CMD"])
	if strings.Join(entry, " ") != "/sluice" || strings.Join(arguments, " ") != "serve" {
		t.Fatalf("ENTRYPOINT %q CMD %q", entry, arguments)
	}
	cmd := exec.Command(program.Path(t), arguments...)
	cmd.Env = last["ENV"]
	out, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "SLUICE_TOKENS_FILE") {
		t.Errorf("without tokens: %v, want status 2 and what to do:\n%s", err, out)
	}
}

// healthCommand is the health check of the image, for another place of the program.
func healthCommand(t *testing.T) *exec.Cmd {
	t.Helper()
	_, command, ok := strings.Cut(strings.Join(instructions(t)["HEALTHCHECK"], ""), " CMD ")
	if !ok {
		t.Fatal("HEALTHCHECK has no CMD")
	}
	args := words(t, []string{command})
	if args[0] != "/sluice" {
		t.Fatalf("HEALTHCHECK asks %s", args[0])
	}
	return exec.Command(program.Path(t), args[1:]...)
}

// words reads an instruction in the form of a list: the image has no shell for another.
func words(t *testing.T, instruction []string) (list []string) {
	t.Helper()
	if err := json.Unmarshal([]byte(strings.Join(instruction, "")), &list); err != nil || len(list) == 0 {
		t.Fatalf("%v is no list of words: %v", instruction, err)
	}
	return list
}
