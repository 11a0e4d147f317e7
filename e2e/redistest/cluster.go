package redistest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// masters is the number of masters of a Cluster; each has one replica.
const masters = 3

// Cluster is a Redis Cluster of three masters with a replica each.
type Cluster struct {
	t        testing.TB
	Masters  []*Server // as they were at the start
	Replicas []*Server // Replicas[i] follows Masters[i]
}

// StartCluster starts a Cluster and waits until it serves all slots. Options are
// lines of the configuration of every node.
func StartCluster(t testing.TB, options ...string) *Cluster {
	t.Helper()
	lines := []string{
		`save ""`, "appendonly no", "cluster-enabled yes", "cluster-node-timeout 2500",
		"repl-diskless-sync-delay 0", "cluster-allow-replica-migration no",
	}
	nodes := make([]*Server, 2*masters)
	for i := range nodes {
		nodes[i] = start(t, nil, append(lines, options...))
	}
	c := &Cluster{t: t, Masters: nodes[:masters], Replicas: nodes[masters:]}
	c.meet()
	for i, replica := range c.Replicas {
		replica.Do("CLUSTER", "REPLICATE", c.Masters[i].id())
	}
	c.Settle()
	return c
}

// meet gives the masters their slots and makes all nodes known to each other.
func (c *Cluster) meet() {
	c.t.Helper()
	for i, node := range c.Nodes() {
		node.Do("CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
		if i < masters {
			node.Do("CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(i*Slots/masters), strconv.Itoa((i+1)*Slots/masters-1))
		}
		if i > 0 {
			node.Do("CLUSTER", "MEET", "127.0.0.1", strconv.Itoa(c.Masters[0].port))
		}
	}
	for _, node := range c.Nodes() {
		Wait(c.t, "all nodes of the cluster know each other", func() bool {
			list := node.Text("CLUSTER", "NODES")
			return strings.Count(list, "\n") == 2*masters && !strings.Contains(list, "handshake")
		})
	}
}

// Settle waits until all running nodes find the Cluster in order and agree on who
// serves what, and the running replicas have caught up with their masters.
func (c *Cluster) Settle() {
	c.t.Helper()
	Wait(c.t, "the cluster is in order", func() bool {
		view := ""
		for _, node := range c.Nodes() {
			if !node.proc.running() {
				continue
			}
			owners := node.owners()
			if view == "" {
				view = owners
			}
			link := node.Info("replication")["master_link_status"]
			if owners != view || link == "down" || !strings.Contains(node.Text("CLUSTER", "INFO"), "cluster_state:ok") {
				return false
			}
		}
		return len(c.Serving()) == masters
	})
}

// owners is who serves what as a node sees it.
func (s *Server) owners() string {
	s.t.Helper()
	var rows []string
	for _, part := range s.Do("CLUSTER", "SLOTS").([]any) {
		row := part.([]any)
		rows = append(rows, fmt.Sprint(row[0], row[1], row[2].([]any)[1]))
	}
	slices.Sort(rows)
	return strings.Join(rows, "\n")
}

// Nodes returns all nodes, masters first.
func (c *Cluster) Nodes() []*Server {
	return append(append([]*Server(nil), c.Masters...), c.Replicas...)
}

// Serving returns the nodes that are masters now.
func (c *Cluster) Serving() []*Server {
	c.t.Helper()
	var serving []*Server
	for _, node := range c.Nodes() {
		if node.isMaster() {
			serving = append(serving, node)
		}
	}
	return serving
}

// Addrs returns the addresses of all nodes.
func (c *Cluster) Addrs() []string {
	var addrs []string
	for _, node := range c.Nodes() {
		addrs = append(addrs, node.Addr())
	}
	return addrs
}

// id is the name by which the nodes of a Cluster know a server.
func (s *Server) id() string {
	s.t.Helper()
	return s.Text("CLUSTER", "MYID")
}

// Owner returns the master that serves a slot.
func (c *Cluster) Owner(slot int) *Server {
	c.t.Helper()
	for _, part := range c.anyNode().Do("CLUSTER", "SLOTS").([]any) {
		row := part.([]any)
		if row[0].(int64) <= int64(slot) && int64(slot) <= row[1].(int64) {
			port := row[2].([]any)[1].(int64)
			for _, node := range c.Nodes() {
				if int64(node.port) == port {
					return node
				}
			}
		}
	}
	c.t.Fatalf("redistest: nobody serves slot %d", slot)
	return nil
}

func (c *Cluster) anyNode() *Server {
	for _, node := range c.Nodes() {
		if node.proc.running() {
			return node
		}
	}
	c.t.Fatal("redistest: all nodes of the cluster are dead")
	return nil
}
