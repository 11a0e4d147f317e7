package lint

import "strings"

// modulePath is the root module. Every import path that starts with it is ours.
const modulePath = "github.com/sluice-limiter/sluice"

// layers lists all packages of the repository, lowest layer first. A package imports only
// packages of lower layers: never upwards, and never sideways within its own layer.
//
// "." is the root package. A name that ends in "/..." stands for all packages below it.
// A new package is added to the lowest layer that stands above everything it imports.
var layers = [][]string{
	{"algo", "internal/clock", "internal/redistest", "internal/topkeys", "accesslog", "probe"},
	{"store", "internal/resp"},
	{"store/memstore", "store/redisstore", "store/lease"},
	{"store/split"},
	{"store/failover"},
	{"."},
	{"algo/algotest"},
	{"store/storetest"},
	{"rule"},
	{"engine"},
	{"httplimit", "sqllimit", "adaptive", "replay", "sim"},
	{"compare", "recommend"},
	{"contrib/...", "examples/...", "internal/lint"},
	{"server/envoy"},
	{"server/audit", "server/config", "server/metrics"},
	{"server/api", "server/rls", "server/forwardauth", "server/resp", "server/gateway"},
	{"server/app"},
	{"server/cli"},
	{"server/cmd/..."},
}

// suites are the packages that an external test package (package x_test) of a lower layer
// may import besides what its package may: the conformance suites, and the facade.
var suites = []string{".", "algo/algotest", "store/storetest"}

// pureImports is all that the code of algo may import.
var pureImports = []string{"errors", "math", "math/bits"}

// clockFiles are the files that may call time.Now; everything else is given the time.
var clockFiles = []string{"internal/clock/clock.go", "server/app/clock.go"}

// clockFree are folders whose programs are nobody's library and may read the clock.
var clockFree = []string{"examples/"}

// outerTrees hold modules that are released on their own, and so must not use the root's
// internal packages: a user may upgrade one without the other.
var outerTrees = []string{"server", "contrib"}

// layerOf returns the number of the layer that dir stands in, or -1 if it is not listed.
func layerOf(dir string) int {
	for number, layer := range layers {
		for _, name := range layer {
			tree, isTree := strings.CutSuffix(name, "/...")
			if dir == name || isTree && (dir == tree || strings.HasPrefix(dir, tree+"/")) {
				return number
			}
		}
	}
	return -1
}

// ours turns an import path into a folder of the repository; ok is false for foreign paths.
func ours(importPath string) (dir string, ok bool) {
	if importPath == modulePath {
		return ".", true
	}
	return strings.CutPrefix(importPath, modulePath+"/")
}
