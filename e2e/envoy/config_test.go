package envoy

import (
	"os"
	"testing"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	ratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ratelimit/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3" // what the example names
	managerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3" // what the example names
	"github.com/goccy/go-yaml"
	"google.golang.org/protobuf/encoding/protojson"
)

// TestExampleIsGood reads the example as strictly as Envoy does.
func TestExampleIsGood(t *testing.T) {
	text, err := os.ReadFile("../../examples/envoy/envoy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	json, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	var config bootstrapv3.Bootstrap
	if err := protojson.Unmarshal(json, &config); err != nil {
		t.Fatal(err)
	}
	if err := config.ValidateAll(); err != nil {
		t.Error(err)
	}
	var manager managerv3.HttpConnectionManager
	filter := config.GetStaticResources().GetListeners()[0].GetFilterChains()[0].GetFilters()[0]
	if err := filter.GetTypedConfig().UnmarshalTo(&manager); err != nil {
		t.Fatal(err)
	}
	if err := manager.ValidateAll(); err != nil {
		t.Error(err)
	}
	var limits ratelimitv3.RateLimit
	if err := manager.GetHttpFilters()[0].GetTypedConfig().UnmarshalTo(&limits); err != nil {
		t.Fatal(err)
	}
	if err := limits.ValidateAll(); err != nil {
		t.Error(err)
	}
	cluster := limits.GetRateLimitService().GetGrpcService().GetEnvoyGrpc().GetClusterName()
	if known := config.GetStaticResources().GetClusters()[1].GetName(); cluster != known || limits.GetDomain() != "shop" {
		t.Errorf("it asks the cluster %q for the domain %q; there is %q", cluster, limits.GetDomain(), known)
	}
}
