// Package haproxy runs the settings of examples/haproxy with the real HAProxy, the real
// sluice and an application behind them.
package haproxy
