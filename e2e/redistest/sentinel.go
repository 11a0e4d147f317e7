package redistest

import (
	"fmt"
	"strconv"
	"testing"
)

// MasterName is what Sentinels call the master.
const MasterName = "sluice"

// Sentinels are a master, its replica, and three Sentinels that watch them.
type Sentinels struct {
	t       testing.TB
	Servers []*Server // the first one is the master at the start
	Watch   []*Server // the Sentinels
}

// StartSentinels starts all five and waits until every Sentinel knows all others.
// Options are lines of the configuration of master and replica.
func StartSentinels(t testing.TB, options ...string) *Sentinels {
	t.Helper()
	options = append([]string{"repl-diskless-sync-delay 0"}, options...)
	master := Start(t, options...)
	replica := Start(t, append(options, fmt.Sprint("replicaof 127.0.0.1 ", master.port))...)
	Wait(t, "the replica follows the master", replica.synced)
	s := &Sentinels{t: t, Servers: []*Server{master, replica}}
	for range 3 {
		s.Watch = append(s.Watch, start(t, []string{"--sentinel"}, []string{
			fmt.Sprintf("sentinel monitor %s 127.0.0.1 %d 2", MasterName, master.port),
			fmt.Sprintf("sentinel down-after-milliseconds %s 2000", MasterName),
			fmt.Sprintf("sentinel failover-timeout %s 5000", MasterName),
		}))
	}
	s.Settle()
	return s
}

// Settle waits until all Sentinels see the same master, one replica and each other,
// and the replica has caught up.
func (s *Sentinels) Settle() {
	s.t.Helper()
	Wait(s.t, "all sentinels see the same", func() bool {
		master := s.Master()
		if other := s.other(master); other.isMaster() || !other.synced() {
			return false
		}
		for _, w := range s.Watch {
			view := w.masterView()
			if view["port"] != strconv.Itoa(master.port) || view["flags"] != "master" ||
				view["num-other-sentinels"] != "2" || view["num-slaves"] != "1" {
				return false
			}
		}
		return true
	})
}

// synced reports whether a replica is connected to its master.
func (s *Server) synced() bool { return s.Info("replication")["master_link_status"] == "up" }

// masterView is what a Sentinel knows about the master.
func (s *Server) masterView() map[string]string {
	s.t.Helper()
	fields := s.Do("SENTINEL", "MASTER", MasterName).([]any)
	view := map[string]string{}
	for i := 0; i+1 < len(fields); i += 2 {
		view[fields[i].(string)] = fields[i+1].(string)
	}
	return view
}

// Addrs returns the addresses of the Sentinels, which clients ask for the master.
func (s *Sentinels) Addrs() []string {
	var addrs []string
	for _, w := range s.Watch {
		addrs = append(addrs, w.Addr())
	}
	return addrs
}

// Master returns the server that runs as a master. During a failover there may be
// none; then it waits.
func (s *Sentinels) Master() *Server {
	s.t.Helper()
	var master *Server
	Wait(s.t, "there is a master", func() bool {
		for _, server := range s.Servers {
			if server.isMaster() {
				master = server
			}
		}
		return master != nil
	})
	return master
}

// Failover lets the Sentinels promote the replica, and waits until all of them name
// it as the master and the old master follows it.
func (s *Sentinels) Failover() {
	s.t.Helper()
	old := s.Master()
	next := s.other(old)
	Wait(s.t, "a sentinel begins the failover", func() bool {
		_, err := s.Watch[0].Try("SENTINEL", "FAILOVER", MasterName)
		return err == nil
	})
	s.await(next)
	s.follow(old, next)
}

// AwaitFailover waits until the Sentinels have made the other server the master,
// after a death of the given one.
func (s *Sentinels) AwaitFailover(dead *Server) {
	s.t.Helper()
	s.await(s.other(dead))
}

// Rejoin starts a dead server again, as a replica of the other one.
func (s *Sentinels) Rejoin(dead *Server) {
	s.t.Helper()
	dead.Restart()
	s.follow(dead, s.other(dead))
	s.Settle()
}

func (s *Sentinels) other(server *Server) *Server {
	if server == s.Servers[0] {
		return s.Servers[1]
	}
	return s.Servers[0]
}

// await waits until all Sentinels name a server as the master, and it is one.
func (s *Sentinels) await(next *Server) {
	s.t.Helper()
	port := strconv.Itoa(next.port)
	for _, w := range s.Watch {
		Wait(s.t, "a sentinel names the new master", func() bool { return w.masterView()["port"] == port && next.isMaster() })
	}
}

// follow makes a server the replica of another. The Sentinels would do so too, but
// only after ten seconds.
func (s *Sentinels) follow(old, next *Server) {
	s.t.Helper()
	old.Do("REPLICAOF", "127.0.0.1", strconv.Itoa(next.port))
	Wait(s.t, "the old master follows the new one", old.synced)
}
