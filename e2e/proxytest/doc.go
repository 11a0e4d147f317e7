// Package proxytest is what the tests with real proxies share: the real sluice, an
// application behind the proxy, clients with addresses of their own, and a suite that
// every proxy has to pass.
package proxytest
