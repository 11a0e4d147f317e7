// Package server holds tests of the real program under attack and under load: thousands
// of slow connections, restarts and crashes, more requests than it takes.
package server
