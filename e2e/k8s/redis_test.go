package k8s

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRedis runs the container's command: nobody gets in without a name, and everybody only
// to their own keys.
func TestRedis(t *testing.T) {
	acl := read(t, manifests+"/components/redis/users.acl")
	each(t, func(t *testing.T, o *objects) {
		d := o.deployments["redis"]
		if d == nil {
			return // base has none
		}
		dir := t.TempDir()
		users, socket := filepath.Join(dir, "users.acl"), filepath.Join(dir, "redis.sock")
		if err := os.WriteFile(users, []byte(strings.ReplaceAll(acl, "PASSWORD", "secret")), 0o600); err != nil {
			t.Fatal(err)
		}
		args := strings.Split(strings.NewReplacer("/etc/redis/users.acl", users, "\x006379", "\x000").Replace(strings.Join(d.Spec.Template.Spec.Containers[0].Args, "\x00")), "\x00")
		cmd := exec.Command(args[0], append(args[1:], "--unixsocket", socket, "--dir", dir)...)
		if err := cmd.Start(); err != nil {
			t.Fatalf("%v: run `make deps`, or install the package redis-server", err)
		}
		defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
		var c net.Conn
		await(t, "to connect to Redis", func() (ok bool) {
			var err error
			c, err = net.Dial("unix", socket)
			return err == nil
		})
		defer c.Close()
		answers := bufio.NewReader(c)
		for _, step := range []struct{ command, want string }{
			{"PING", "-NOAUTH"},
			{"AUTH default secret", "-WRONGPASS"},
			{"AUTH sluice secret", "+OK"},
			{"PING", "+PONG"},
			{"SET sluice:1 a", "+OK"},
			{"SET shop:1 a", "-NOPERM"},
			{"FLUSHALL", "-NOPERM"},
			{"CONFIG GET maxmemory", "-NOPERM"},
			{"AUTH shop secret", "+OK"},
			{"SET shop:1 a", "+OK"},
			{"SET sluice:1 a", "-NOPERM"},
		} {
			fmt.Fprintf(c, "%s\r\n", step.command)
			if line, err := answers.ReadString('\n'); err != nil || !strings.HasPrefix(line, step.want) {
				t.Errorf("%s: %q, %v; want %s", step.command, line, err, step.want)
			}
		}
	})
}

// TestRights: users have the rights that docs/REDIS.md tells of, and no others.
func TestRights(t *testing.T) {
	_, rights, _ := strings.Cut(read(t, "docs/REDIS.md"), "ACL SETUSER sluice ")
	rights, _, _ = strings.Cut(rights, "\n")
	want := "user default off\nuser sluice " + rights + "\nuser shop " + strings.ReplaceAll(rights, "~sluice:*", "~shop:*") + "\n"
	if got := read(t, manifests+"/components/redis/users.acl"); got != want {
		t.Errorf("users.acl is\n%swant\n%s", got, want)
	}
}
