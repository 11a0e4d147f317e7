package redistest

import (
	"strconv"
	"time"
)

// failoverTime is how long nodes try to agree on a failover before they give up.
const failoverTime = 6 * time.Second

// MoveSlot moves a slot with all its keys to another master while clients go on.
func (c *Cluster) MoveSlot(slot int, to *Server) {
	c.t.Helper()
	if c.Owner(slot) != to {
		c.BeginMove(slot, to)
		c.EndMove(slot, to)
	}
}

// BeginMove lets a slot be served by two masters: for keys that are gone from the
// old one, or not there yet, clients are sent to the new one (ASK).
func (c *Cluster) BeginMove(slot int, to *Server) {
	c.t.Helper()
	from, number := c.Owner(slot), strconv.Itoa(slot)
	to.Do("CLUSTER", "SETSLOT", number, "IMPORTING", from.id())
	from.Do("CLUSTER", "SETSLOT", number, "MIGRATING", to.id())
}

// EndMove moves the keys of a slot, and then sends all clients to its new master
// (MOVED).
func (c *Cluster) EndMove(slot int, to *Server) {
	c.t.Helper()
	from, number, owner := c.Owner(slot), strconv.Itoa(slot), to.id()
	c.moveKeys(number, from, to)
	to.Do("CLUSTER", "SETSLOT", number, "NODE", owner)
	from.Do("CLUSTER", "SETSLOT", number, "NODE", owner)
	for _, node := range c.Serving() {
		node.Do("CLUSTER", "SETSLOT", number, "NODE", owner)
	}
}

// moveKeys moves all keys of a slot, until none is left.
func (c *Cluster) moveKeys(slot string, from, to *Server) {
	c.t.Helper()
	port := strconv.Itoa(to.port)
	for {
		keys := from.Do("CLUSTER", "GETKEYSINSLOT", slot, "100").([]any)
		if len(keys) == 0 {
			return
		}
		for _, key := range keys {
			from.Do("MIGRATE", "127.0.0.1", port, key.(string), "0", "5000")
		}
	}
}

// Promote makes a replica the master of its slots, by agreement with the old one.
func (c *Cluster) Promote(replica *Server) {
	c.t.Helper()
	asked := time.Time{}
	Wait(c.t, "the replica is a master", func() bool {
		if time.Since(asked) > failoverTime {
			replica.Do("CLUSTER", "FAILOVER")
			asked = time.Now()
		}
		return replica.isMaster()
	})
	c.Settle()
}

// ReplicaOf returns the replica of a master: the other one of the pair that they
// were at the start.
func (c *Cluster) ReplicaOf(master *Server) *Server {
	for i := range c.Masters {
		switch master {
		case c.Masters[i]:
			return c.Replicas[i]
		case c.Replicas[i]:
			return c.Masters[i]
		}
	}
	return nil
}

// isMaster reports whether a server runs and is a master.
func (s *Server) isMaster() bool {
	return s.proc.running() && s.Ready() && s.Info("replication")["role"] == "master"
}
