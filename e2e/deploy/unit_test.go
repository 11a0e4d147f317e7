package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/e2e/program"
)

const (
	unitFile   = "deploy/systemd/sluice.service"
	installed  = "/usr/local/bin/sluice"
	configured = "/etc/sluice/sluice.yaml"
)

// unit holds the lines of the unit by section and key, such as "Service.Type".
func unit(t *testing.T) map[string][]string {
	t.Helper()
	lines, section := map[string][]string{}, ""
	for i, line := range strings.Split(read(t, unitFile), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		if name, ok := strings.CutPrefix(line, "["); ok {
			section = strings.TrimSuffix(name, "]")
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || section == "" || strings.TrimSpace(key) != key {
			t.Fatalf("%s:%d: %q is no setting", unitFile, i+1, line)
		}
		lines[section+"."+key] = append(lines[section+"."+key], value)
	}
	return lines
}

func TestUnit(t *testing.T) {
	u := unit(t)
	for key, want := range map[string]string{
		"Service.Type":                     "notify",
		"Service.NotifyAccess":             "main",
		"Service.User":                     "sluice",
		"Service.ExecStart":                installed + " serve --config " + configured,
		"Service.ExecReload":               installed + " check-config --test " + configured + "; /bin/kill -HUP $MAINPID",
		"Service.Restart":                  "on-failure",
		"Service.RestartPreventExitStatus": "2",
		"Service.StateDirectory":           "sluice",
		"Service.NoNewPrivileges":          "yes",
		"Service.CapabilityBoundingSet":    "",
		"Service.ProtectSystem":            "strict",
		"Service.ProtectHome":              "yes",
		"Service.PrivateTmp":               "yes",
		"Service.PrivateDevices":           "yes",
		"Service.ProtectKernelTunables":    "yes",
		"Service.ProtectControlGroups":     "yes",
		"Service.MemoryDenyWriteExecute":   "yes",
		"Service.RestrictAddressFamilies":  "AF_INET AF_INET6 AF_UNIX",
		"Service.SystemCallFilter":         "@system-service; ~@privileged",
		"Service.UMask":                    "0077",
		"Install.WantedBy":                 "multi-user.target",
	} {
		if got, ok := u[key]; !ok || strings.Join(got, "; ") != want {
			t.Errorf("%s=%q, want %q", key, got, want)
		}
	}
	if users := read(t, "deploy/systemd/sluice.sysusers.conf"); !strings.Contains(users, "\nu sluice ") {
		t.Error("nobody makes the user sluice")
	}
}

// TestUnitFitsTheSettings compares what the unit allows with what the server takes.
func TestUnitFitsTheSettings(t *testing.T) {
	u := unit(t)
	help, err := exec.Command(program.Path(t), "serve", "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	standard := func(flag string) string {
		found := regexp.MustCompile(`--` + flag + ` .*\(default "(.*)"\)`).FindSubmatch(help)
		if found == nil {
			t.Fatalf("serve --help tells no default of --%s", flag)
		}
		return string(found[1])
	}
	shutdown, err := time.ParseDuration(standard("shutdown"))
	if stop := number(t, u["Service.TimeoutStopSec"]); err != nil || time.Duration(stop)*time.Second < shutdown+5*time.Second {
		t.Errorf("TimeoutStopSec=%d, and a shutdown takes up to %v: %v", stop, shutdown, err)
	}
	if files, connections := number(t, u["Service.LimitNOFILE"]), number(t, []string{standard("limits-connections")}); files < connections+1024 {
		t.Errorf("LimitNOFILE=%d for %d connections", files, connections)
	}
	limit := strings.TrimPrefix(strings.Join(u["Service.Environment"], ""), "GOMEMLIMIT=")
	collector, most := mebibytes(t, limit), mebibytes(t, strings.Join(u["Service.MemoryMax"], ""))
	keys := regexp.MustCompile(`(?m)^  memory: (\S+)$`).FindStringSubmatch(read(t, sampleFile))
	if keys == nil {
		t.Fatal("the sample configuration does not set memory")
	}
	if collector > most*9/10 || mebibytes(t, keys[1]) > collector/2 {
		t.Errorf("memory %s, GOMEMLIMIT %s, MemoryMax %d MiB do not fit each other", keys[1], limit, most)
	}
}

func number(t *testing.T, text []string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.Join(text, ";"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func mebibytes(t *testing.T, text string) int {
	t.Helper()
	if g, ok := strings.CutSuffix(text, "G"); ok {
		return 1024 * number(t, []string{g})
	}
	return number(t, []string{strings.TrimSuffix(text, "MiB")})
}

// TestSystemdAnalyze asks systemd itself where it is installed. The tests above do not need it.
func TestSystemdAnalyze(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Log("systemd-analyze is not installed: the unit was read by the other tests alone")
		return
	}
	// The program has to be where the unit says, so the unit says where it is.
	here := filepath.Join(t.TempDir(), "sluice.service")
	text := strings.ReplaceAll(read(t, unitFile), installed, program.Path(t))
	if err := os.WriteFile(here, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(analyze, "verify", here).CombinedOutput(); err != nil || strings.Contains(string(out), here) {
		t.Errorf("%v\n%s", err, out)
	}
}
