package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluice-limiter/sluice/store/memstore"
)

// Stores in the memory of this process, as the label "store" names them.
const (
	StoreCluster  = "cluster"  // of limits of the fleet; with Redis, this instance's share while that is down
	StoreInstance = "instance" // of limits of the scopes instance and split
)

// Memory tells of a store in this process, and how much memory it may take.
func (m *Metrics) Memory(name string, limit int64, stats func() memstore.Stats) {
	m.memory.stores = append(m.memory.stores, memory{name, limit, stats})
}

type memory struct {
	name  string
	limit int64
	stats func() memstore.Stats
}

// memories asks each store once for all its figures, when somebody looks.
type memories struct {
	stores []memory // complete before anybody looks
	kinds  []memoryMetric
}

// memoryMetric is one figure of a store.
type memoryMetric struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	read func(memory, memstore.Stats) int64
}

func newMemories() *memories {
	m := &memories{}
	add := func(kind prometheus.ValueType, name, help string, read func(memory, memstore.Stats) int64) {
		m.kinds = append(m.kinds, memoryMetric{prometheus.NewDesc(name, help, []string{"store"}, nil), kind, read})
	}
	add(prometheus.GaugeValue, "sluice_memory_keys", "Keys that have a place in the memory of this process, idle ones included.",
		func(_ memory, s memstore.Stats) int64 { return s.Keys })
	add(prometheus.GaugeValue, "sluice_memory_bytes", "Memory that keys take.",
		func(_ memory, s memstore.Stats) int64 { return s.Bytes })
	add(prometheus.GaugeValue, "sluice_memory_limit_bytes", "Memory that keys may take: at the limit keys give way.",
		func(m memory, _ memstore.Stats) int64 { return m.limit })
	add(prometheus.CounterValue, "sluice_memory_evicted_keys_total", "Keys that gave way because the memory was full.",
		func(_ memory, s memstore.Stats) int64 { return s.Evicted })
	add(prometheus.CounterValue, "sluice_memory_forgotten_keys_total", "Keys that gave way although they were in use: their limits began anew.",
		func(_ memory, s memstore.Stats) int64 { return s.Forgotten })
	add(prometheus.GaugeValue, "sluice_memory_reservations", "Reservations that are open.",
		func(_ memory, s memstore.Stats) int64 { return s.Reservations })
	return m
}

// Describe is for the registry.
func (m *memories) Describe(to chan<- *prometheus.Desc) {
	for _, k := range m.kinds {
		to <- k.desc
	}
}

// Collect is for the registry.
func (m *memories) Collect(to chan<- prometheus.Metric) {
	for _, store := range m.stores {
		stats := store.stats()
		for _, k := range m.kinds {
			to <- prometheus.MustNewConstMetric(k.desc, k.kind, float64(k.read(store, stats)), store.name)
		}
	}
}
