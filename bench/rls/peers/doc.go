// Package peers pins the services that are measured beside ours. It is a module of its
// own: they need other versions of what we use.
package peers
