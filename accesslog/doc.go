// Package accesslog reads the logs of web servers, proxies and load balancers as a
// stream of requests in the order of time.
//
// A [Log] reads one or many files, plain or compressed, on all cores, and keeps only a
// window of lines in memory. Every line becomes an [Entry] or is rejected for a
// [Reason] that is counted, with a sample; nothing is dropped silently:
//
//	log := accesslog.New([]accesslog.Source{accesslog.File("access.log.gz")}, accesslog.Options{})
//	for e := range log.Entries(ctx) {
//		fmt.Println(e.At(), e.IP, e.Method, e.Path)
//	}
//	if err := log.Err(); err != nil { … }
//	fmt.Println(log.Lines().Parsed, log.Lines().Rejected)
//
// The format is found by looking at the first lines, or named: see [Lookup].
package accesslog
