package deploy

import (
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/e2e/program"
)

const sampleFile = "deploy/systemd/sluice.yaml"

// TestSampleIsAccepted also tries what stands in the sample as a comment.
func TestSampleIsAccepted(t *testing.T) {
	sample := read(t, sampleFile)
	setting := regexp.MustCompile(`(?m)^( *)#([a-z])`)
	if n := len(setting.FindAllString(sample, -1)); n < 5 {
		t.Errorf("only %d settings are offered as comments", n)
	}
	// A setting that is offered twice, as it is and as a comment, must not stand there twice.
	alternative := regexp.MustCompile(`(?m)^  (listen: 127|log: .*info\}).*\n`).ReplaceAllString(sample, "")
	for name, text := range map[string]string{"as it is": sample, "with all settings": setting.ReplaceAllString(alternative, "$1$2")} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "sluice.yaml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command(program.Path(t), "check-config", "--test", file).CombinedOutput()
			if err != nil || !strings.Contains(string(out), " 0 warnings") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// service is the server as systemd runs it.
type service struct {
	cmd    *exec.Cmd
	notify *net.UnixConn
	url    string
	out    string // file with what it prints
}

// start runs ExecStart of the unit, with the program, the file and the port of this test.
func start(t *testing.T) *service {
	t.Helper()
	dir, err := os.MkdirTemp("", "sluice") // not t.TempDir: the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &service{out: filepath.Join(dir, "out")}
	socket := filepath.Join(dir, "notify")
	if s.notify, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.notify.Close() })
	out, err := os.Create(s.out)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	s.cmd = line(t, unit(t)["Service.ExecStart"][0], 0)
	s.cmd.Stdout, s.cmd.Stderr = out, out
	s.cmd.Env = []string{"NOTIFY_SOCKET=" + socket, "SLUICE_LISTEN=127.0.0.1:0", "SLUICE_AUDIT=" + filepath.Join(dir, "audit")}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill(); _ = s.cmd.Wait() })
	s.await(t, "READY=1")
	said, _ := os.ReadFile(s.out)
	url := regexp.MustCompile(`http://127\.0\.0\.1:[0-9]+`).Find(said)
	if url == nil {
		t.Fatalf("it does not say where it listens:\n%s", said)
	}
	s.url = string(url)
	return s
}

// line makes a command of a line of the unit.
func line(t *testing.T, text string, pid int) *exec.Cmd {
	t.Helper()
	sample, err := filepath.Abs(filepath.Join(program.Root, sampleFile))
	if err != nil {
		t.Fatal(err)
	}
	text = strings.NewReplacer(installed, program.Path(t), configured, sample, "$MAINPID", strconv.Itoa(pid)).Replace(text)
	args := strings.Fields(text)
	return exec.Command(args[0], args[1:]...)
}

// await waits for a message to systemd.
func (s *service) await(t *testing.T, message string) {
	t.Helper()
	buffer := make([]byte, 1024)
	_ = s.notify.SetReadDeadline(time.Now().Add(30 * time.Second))
	n, err := s.notify.Read(buffer)
	if err != nil || !strings.HasPrefix(string(buffer[:n]), message) {
		said, _ := os.ReadFile(s.out)
		t.Fatalf("systemd was told %q, error %v; want %s\n%s", buffer[:n], err, message, said)
	}
}

// TestService lives the life of the unit: start, health, metrics, reload, stop.
func TestService(t *testing.T) {
	s := start(t)
	health := healthCommand(t)
	health.Env = []string{"SLUICE_SERVER=" + s.url}
	if out, err := health.CombinedOutput(); err != nil {
		t.Errorf("the health check of the image: %v\n%s", err, out)
	}
	s.hasMetricsOfProcess(t)
	for _, reload := range unit(t)["Service.ExecReload"] {
		if out, err := line(t, reload, s.cmd.Process.Pid).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", reload, err, out)
		}
	}
	s.await(t, "RELOADING=1")
	s.await(t, "READY=1")
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.await(t, "STOPPING=1")
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	health = healthCommand(t)
	health.Env = []string{"SLUICE_SERVER=" + s.url}
	if err := health.Run(); err == nil {
		t.Error("the health check finds a server that has ended in good health")
	}
}

// hasMetricsOfProcess compares what the dashboard shows of Go and the process.
func (s *service) hasMetricsOfProcess(t *testing.T) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	res, err := client.Get(s.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	d := readDashboard(t)
	for where, query := range d.queries() {
		for _, use := range metricInUse.FindAllStringSubmatch(query, -1) {
			if name := use[2]; !strings.HasPrefix(name, "sluice_") && !strings.Contains(string(text), "\n"+name) {
				t.Errorf("%s: the server has no metric %s", where, name)
			}
		}
	}
}
