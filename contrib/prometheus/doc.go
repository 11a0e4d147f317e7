// Package sluiceprometheus counts the decisions of a sluice engine for Prometheus.
//
// An [Observer] is given to the engine and registered at a registry:
//
//	metrics := sluiceprometheus.New()
//	registry.MustRegister(metrics)
//	e, err := engine.New(set, store, engine.WithObserver(metrics))
//
// The metrics, listed at [New], are an interface that alerts rely on. No label ever
// holds a key, a path or anything else that a client can choose.
package sluiceprometheus
