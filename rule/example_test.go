package rule_test

import (
	"fmt"
	"net/netip"

	"github.com/sluice-limiter/sluice/rule"
)

func ExampleCompile() {
	config, err := rule.ParseJSON([]byte(`{
		"rules": [
			{"name": "login", "match": {"methods": ["POST"], "paths": ["/login"]}, "key": ["ip", "user"], "limits": ["5/m", "50/h"]},
			{"name": "api", "match": {"paths": ["/api/*"]}, "key": ["user"], "limits": ["100/s"]}
		]
	}`))
	if err != nil {
		panic(err)
	}
	set, err := rule.Compile(config)
	if err != nil {
		panic(err)
	}
	request := rule.Request{Method: "POST", Path: "/api/../login", IP: netip.MustParseAddr("203.0.113.7"), User: "ann"}
	var matches rule.Matches
	set.Match(&request, &matches)
	for _, hit := range matches.Hits {
		fmt.Printf("%s costs %d\n", hit.Key, hit.Cost)
	}
	for _, why := range set.Explain(&request) {
		fmt.Printf("%s: %s: %s\n", why.Rule.Name, why.Field, why.Why)
	}
	// Output:
	// login|203.0.113.7|ann costs 1
	// login: match: fits POST, path /login
	// api: match.paths: path "/login" is not /api/*
}

func ExampleExamine() {
	config, err := rule.ParseJSON([]byte(`{"rules": [{"name": "api", "key": ["header:X-Api-Key"], "limits": ["100/s"]}]}`))
	if err != nil {
		panic(err)
	}
	set, findings := rule.Examine(config)
	if err := findings.Err(); err != nil {
		panic(err)
	}
	for _, warning := range findings {
		fmt.Println(warning)
	}
	fmt.Println(len(set.Rules()), "rule in force")
	// Output:
	// warning: rule "api": missing: requests without header:X-Api-Key are not limited by this rule (say what happens to them: missing: deny, shared or skip)
	// 1 rule in force
}

func ExampleValidate() {
	config, err := rule.ParseJSON([]byte(`{
		"rules": [
			{"name": "api", "key": ["usr"], "limits": ["100/s"]},
			{"name": "shop", "key": ["ip"], "limits": ["10/s", "fixed_window 1000/m"]}
		]
	}`))
	if err != nil {
		panic(err)
	}
	for _, finding := range rule.Validate(config) {
		fmt.Println(finding)
	}
	// Output:
	// rule "api": key[0]: unknown part "usr" (did you mean "user"?)
	// warning: rule "shop": limits[1].limit: "fixed_window 1000/m" can never bind: limits[0] (10/s) lets at most 609 through in that time (leave it out, or change one of the two)
}
