// Package nginx runs the settings of examples/nginx with the real nginx, the real
// sluice and an application behind them.
package nginx
