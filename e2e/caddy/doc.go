// Package caddy runs the settings of examples/caddy with the real Caddy, the real
// sluice and an application behind them.
package caddy
