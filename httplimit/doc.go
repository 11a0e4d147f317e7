// Package httplimit limits HTTP requests, those that a server gets and those that a
// client sends.
//
// For servers there are three rungs, each enough for someone. All of them are
// func(http.Handler) http.Handler, which every router takes:
//
//   - [ByIP]: so many requests per client address.
//   - [Middleware]: any limits per any key, in this process or over a fleet.
//   - [Rules]: what an engine and its rules say.
//
// No header is believed about who the client is unless an option names the proxies
// that set it: see [TrustProxies] and its neighbours.
//
// Clients are told of their limits in header fields, and a refused one when to come
// back: as application/problem+json, or as a page that reloads itself if it is a
// browser. The http.ResponseWriter is passed on as it is, so that everything that a
// handler could do with it, it still can.
//
// [Transport] does the same for outgoing calls, and heeds what servers answer.
package httplimit
