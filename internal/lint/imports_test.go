package lint

import (
	"fmt"
	"testing"
)

// imports is a Go file of the given package that imports the given paths, from line 2 on.
func imports(pkg string, paths ...string) string {
	text := "package " + pkg + "\n"
	for _, path := range paths {
		text += fmt.Sprintf("import _ %q\n", path)
	}
	return text
}

func TestUnlistedPackage(t *testing.T) {
	expect(t, tree{
		"store/newstore/a.go":      imports("newstore"),
		"store/newstore/b.go":      imports("newstore"),
		"algorithm/a.go":           imports("algorithm"),
		"examples/limiter/main.go": imports("main"),
	},
		`algorithm/a.go:1: add it to the table in internal/lint/table.go`,
		`store/newstore/a.go:1: package folder "store/newstore" has no layer`,
	)
}

func TestArrowsDown(t *testing.T) {
	expect(t, tree{
		"store/store.go":           imports("store", modulePath+"/algo", modulePath+"/internal/clock"),
		"store/memstore/m.go":      imports("memstore", modulePath+"/store", modulePath+"/algo"),
		"sluice.go":                imports("sluice", modulePath+"/store/memstore", "context"),
		"algo/algotest/a.go":       imports("algotest", modulePath),
		"engine/engine.go":         imports("engine", modulePath+"/rule"),
		"examples/limiter/main.go": imports("main", modulePath),
	})
}

func TestArrowsUpAndSideways(t *testing.T) {
	expect(t, tree{
		"algo/a_test.go":        imports("algo", modulePath+"/internal/clock"),
		"engine/e.go":           imports("engine", modulePath+"/httplimit"),
		"rule/r.go":             imports("rule", modulePath+"/examples/limiter"),
		"sluice.go":             imports("sluice", "errors", modulePath+"/rule", modulePath+"/bench"),
		"store/lease/l.go":      imports("lease", modulePath+"/store/memstore"),
		"store/s.go":            imports("store", modulePath),
		"store/s_test.go":       imports("store", modulePath+"/store/storetest"),
		"store/failover/arm.go": "//go:build arm\n\n" + imports("failover", modulePath+"/engine"),
	},
		`algo/a_test.go:2: "algo" imports its neighbour "internal/clock"`,
		`engine/e.go:2: "engine" imports "httplimit", which stands above it`,
		`rule/r.go:2: "rule" imports "examples/limiter", which stands above it`,
		`sluice.go:3: the root package imports "rule", which stands above it`,
		`sluice.go:4: the root package imports "bench", which has no layer`,
		`store/failover/arm.go:4: imports "engine", which stands above it`,
		`store/lease/l.go:2: "store/lease" imports its neighbour "store/memstore"`,
		`store/s.go:2: "store" imports the root package, which stands above it`,
		`store/s_test.go:2: "store" imports "store/storetest", which stands above it`,
	)
}

func TestArrowsOfExternalTests(t *testing.T) {
	expect(t, tree{
		"algo/a_test.go":           imports("algo_test", modulePath+"/algo", modulePath+"/algo/algotest", modulePath),
		"store/memstore/m_test.go": imports("memstore_test", modulePath+"/store/storetest"),
		"store/lease/l_test.go":    imports("lease_test", modulePath+"/store/memstore"),
		"rule/r_test.go":           imports("rule_test", modulePath+"/rule", modulePath+"/engine"),
	},
		`rule/r_test.go:3: "rule" imports "engine", which stands above it`,
		`store/lease/l_test.go:2: "store/lease" imports its neighbour "store/memstore"`,
	)
}

func TestAlgoIsPure(t *testing.T) {
	expect(t, tree{
		"algo/a.go":          imports("algo", "math", "math/bits", "errors", "time"),
		"algo/b.go":          imports("algo", "math/big"),
		"algo/a_test.go":     imports("algo", "testing", "math/big", "fmt"),
		"algo/algotest/a.go": imports("algotest", "fmt"),
	},
		`algo/a.go:5: algo imports "time", but decisions are pure and use only errors, math, math/bits`,
		`algo/b.go:2: algo imports "math/big"`,
	)
}

func TestStandardLibraryOnly(t *testing.T) {
	expect(t, tree{
		"limit.go":         imports("sluice", "net/http", "go/ast", "golang.org/x/time/rate"),
		"limit_test.go":    imports("sluice_test", "testing", "pgregory.net/rapid"),
		"engine/engine.go": imports("engine", "C"),
		"rule/rule.go":     imports("rule", modulePath+"x/other"),
	},
		`engine/engine.go:2: "C" is not of the standard library`,
		`limit.go:4: "golang.org/x/time/rate" is not of the standard library`,
		`limit_test.go:3: "pgregory.net/rapid" is not of the standard library`,
		`rule/rule.go:2: is not of the standard library`,
	)
}

func TestOuterModulesUsePublicPackages(t *testing.T) {
	expect(t, tree{
		"contrib/gin/go.mod":      "module " + modulePath + "/contrib/gin\n",
		"contrib/gin/gin.go":      imports("gin", modulePath+"/httplimit", "github.com/gin-gonic/gin"),
		"contrib/gin/gin_test.go": imports("gin", modulePath+"/internal/clock"),
		"server/go.mod":           "module " + modulePath + "/server\n",
		"server/app/app.go":       imports("app", modulePath+"/server/internal/x", modulePath+"/internal/clock"),
	},
		`contrib/gin/gin_test.go:2: is internal to the root module`,
		`server/app/app.go:3: is internal to the root module`,
	)
}

func TestGoModHasNoDependencies(t *testing.T) {
	head := "module " + modulePath + "\n\ngo 1.26\n"
	expect(t, tree{"go.mod": head + "// require nothing\nretract v0.0.1\n"})
	expect(t, tree{"go.mod": head + "require example.com/a v1.0.0\n"}, `go.mod:4: has a "require" directive`)
	expect(t, tree{"go.mod": head + "require(\n\texample.com/a v1.0.0\n)\n"}, `go.mod:4: has a "require" directive`)
	expect(t, tree{"go.mod": head + "tool example.com/a\n"}, `go.mod:4: has a "tool" directive`)
	expect(t, tree{"go.mod": head + "replace (\n)\n"}, `go.mod:4: has a "replace" directive`)
}
