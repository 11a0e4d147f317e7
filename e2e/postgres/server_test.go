package postgres

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/lib/pq"
	"go.uber.org/goleak"
)

// TestMain finds goroutines that were left behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is a PostgreSQL that listens on a socket in a folder of its own.
type server struct{ dir string }

// start starts a server for this test alone.
func start(t *testing.T) *server {
	t.Helper()
	bin := binaries(t)
	// Not t.TempDir: the path of a socket must be short, and the server's user must reach it.
	dir, err := os.MkdirTemp("/tmp", "sluice-pg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	as := owner(t, dir)
	data := filepath.Join(dir, "data")
	run(t, as, filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "--no-sync")
	var out bytes.Buffer
	cmd := exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-k", dir, "-h", "", "-F", "-c", "max_connections=120")
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr, cmd.Dir = &out, &out, as, dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT) // ends sessions and stops
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("PostgreSQL said:\n%s", out.String())
		}
	})
	s := &server{dir}
	s.await(t)
	return s
}

// binaries finds the newest server that Debian's packages have installed.
func binaries(t *testing.T) string {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1])
	}
	path, err := exec.LookPath("initdb")
	if err != nil {
		t.Fatal("there is no PostgreSQL server here: run `make deps`, or install the package postgresql")
	}
	return filepath.Dir(path)
}

// owner gives the folder to a user that may run a server: root may not.
func owner(t *testing.T, dir string) *syscall.SysProcAttr {
	t.Helper()
	as := &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
	if os.Getuid() != 0 {
		return as
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		t.Fatalf("%v: run `make deps`, or install the package postgresql", err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(dir, uid, gid); err != nil {
		t.Fatal(err)
	}
	as.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return as
}

func run(t *testing.T, as *syscall.SysProcAttr, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.SysProcAttr, cmd.Dir = as, "/"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

func (s *server) connector(t *testing.T, application string) driver.Connector {
	t.Helper()
	c, err := pq.NewConnector("host=" + s.dir + " user=postgres dbname=postgres sslmode=disable application_name=" + application)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// open opens the database; it is closed at the end of the test.
func open(t *testing.T, c driver.Connector) *sql.DB {
	t.Helper()
	db := sql.OpenDB(c)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func (s *server) await(t *testing.T) {
	t.Helper()
	db := sql.OpenDB(s.connector(t, "await"))
	defer db.Close()
	var err error
	for range 200 {
		if err = db.Ping(); err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("PostgreSQL does not answer: %v", err)
}
