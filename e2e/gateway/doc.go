// Package gateway tests the gateway as a program, with real clients and with hostile ones,
// and with servers behind it that die and come back.
package gateway
