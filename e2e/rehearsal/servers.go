package rehearsal

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/lib/pq"
)

// password is that of the users of this Redis, which lives as long as the rehearsal.
const password = "rehearsal-only"

// redisName is that of its process.
const redisName = "Redis"

// startRedis runs a Redis on a socket in dir, with the users that the deployment has, and
// returns the socket.
func startRedis(ctx context.Context, dir, users string) (*process, string, error) {
	text, err := os.ReadFile(users)
	if err != nil {
		return nil, "", err
	}
	acl, socket := filepath.Join(dir, "users.acl"), filepath.Join(dir, "redis.sock")
	if !bytes.Contains(text, []byte(">PASSWORD ")) {
		return nil, "", fmt.Errorf("%s has no >PASSWORD to be replaced", users)
	}
	if err := os.WriteFile(acl, bytes.ReplaceAll(text, []byte(">PASSWORD "), []byte(">"+password+" ")), 0o600); err != nil {
		return nil, "", err
	}
	p, err := start(redisName, exec.Command("redis-server", "--port", "0", "--unixsocket", socket, "--dir", dir,
		"--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction", "--aclfile", acl))
	if err != nil {
		return nil, "", err
	}
	return p, socket, p.await(ctx, func() error {
		c, err := net.Dial("unix", socket)
		if err != nil {
			return err
		}
		return c.Close()
	})
}

// startPostgres makes a PostgreSQL on a socket in dir, and returns how to connect to it.
func startPostgres(ctx context.Context, dir string) (*process, string, error) {
	bin, err := postgresBinaries()
	if err != nil {
		return nil, "", err
	}
	as, err := postgresUser(dir)
	if err != nil {
		return nil, "", err
	}
	data := filepath.Join(dir, "data")
	create := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "--no-sync")
	create.SysProcAttr, create.Dir = as, "/"
	if out, err := create.CombinedOutput(); err != nil {
		return nil, "", fmt.Errorf("initdb: %w\n%s", err, out)
	}
	cmd := exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-k", dir, "-h", "", "-F")
	cmd.SysProcAttr, cmd.Dir = as, dir
	p, err := start("PostgreSQL", cmd)
	if err != nil {
		return nil, "", err
	}
	dsn := "host=" + dir + " user=postgres dbname=postgres sslmode=disable application_name="
	return p, dsn, p.await(ctx, func() error {
		db, err := connect(dsn + "await")
		if err != nil {
			return err
		}
		return errors.Join(db.PingContext(ctx), db.Close())
	})
}

func connect(dsn string) (*sql.DB, error) {
	connector, err := pq.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// postgresBinaries finds the newest server that Debian's packages have installed.
func postgresBinaries() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	path, err := exec.LookPath("initdb")
	if err != nil {
		return "", errors.New("there is no PostgreSQL server here: run `make deps`, or install the package postgresql")
	}
	return filepath.Dir(path), nil
}

// postgresUser gives the folder to a user that may run a server: root may not.
func postgresUser(dir string) (*syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return &syscall.SysProcAttr{}, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("%w: run `make deps`, or install the package postgresql", err)
	}
	uid, err1 := strconv.Atoi(u.Uid)
	gid, err2 := strconv.Atoi(u.Gid)
	if err := errors.Join(err1, err2, os.Chown(dir, uid, gid)); err != nil {
		return nil, err
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

// replaced returns a text in which every old is replaced. One that is not there is an error:
// the deployment has changed, and the rehearsal with it must.
func replaced(text string, pairs ...string) (string, error) {
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			return "", fmt.Errorf("%q is not there to be replaced", pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text, nil
}
