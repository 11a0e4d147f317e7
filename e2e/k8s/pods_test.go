package k8s

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestPodsAreRestricted: pods are as the namespace demands it, and have nothing to spare.
func TestPodsAreRestricted(t *testing.T) {
	each(t, func(t *testing.T, o *objects) {
		for name, d := range o.deployments {
			pod := &d.Spec.Template.Spec
			s := pod.SecurityContext
			if s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || s.RunAsUser == nil || *s.RunAsUser == 0 ||
				s.SeccompProfile == nil || s.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault {
				t.Errorf("%s: the securityContext of the pod is too weak", name)
			}
			if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken || pod.EnableServiceLinks == nil || *pod.EnableServiceLinks {
				t.Errorf("%s has a token of the cluster, or variables of all services", name)
			}
			for _, c := range pod.Containers {
				s := c.SecurityContext
				if s == nil || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || s.ReadOnlyRootFilesystem == nil ||
					!*s.ReadOnlyRootFilesystem || s.Capabilities == nil || !slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}) || len(s.Capabilities.Add) > 0 {
					t.Errorf("%s: the securityContext of the container is too weak", name)
				}
			}
		}
	})
}

// TestResources: memory is bounded, Go knows the bound, and the scheduler knows what is needed.
func TestResources(t *testing.T) {
	each(t, func(t *testing.T, o *objects) {
		for name, d := range o.deployments {
			c := &d.Spec.Template.Spec.Containers[0]
			limit, request := c.Resources.Limits.Memory(), c.Resources.Requests.Memory()
			if limit.IsZero() || limit.Cmp(*request) != 0 || c.Resources.Requests.Cpu().IsZero() || !c.Resources.Limits.Cpu().IsZero() {
				t.Errorf("%s: want memory that is asked for and bounded alike, and a processor that is not bounded", name)
			}
			if name == "redis" {
				continue
			}
			soft, ok := strings.CutSuffix(variable(c, "GOMEMLIMIT"), "B")
			quantity, err := resource.ParseQuantity(soft)
			if share := float64(quantity.Value()) / float64(limit.Value()); !ok || err != nil || share < 0.85 || share > 0.95 {
				t.Errorf("%s: GOMEMLIMIT is %.0f %% of the memory (%v), want 90", name, 100*share, err)
			}
		}
	})
}

// TestEnds: Kubernetes waits longer than a pod needs to end.
func TestEnds(t *testing.T) {
	settings := read(t, manifests+"/base/rules/gateway.yaml")
	_, shutdown, _ := strings.Cut(settings, "shutdown: ")
	shutdown, _, _ = strings.Cut(shutdown, "\n")
	source := read(t, "e2e/rehearsal/shop/main.go")
	if !strings.Contains(source, "15*time.Second") {
		t.Error("the shop gives requests another time than the manifest says")
	}
	each(t, func(t *testing.T, o *objects) {
		gateway, shop := &o.deployments["gateway"].Spec.Template.Spec, &o.deployments["shop"].Spec.Template.Spec
		needs := time.Duration(gateway.Containers[0].Lifecycle.PreStop.Sleep.Seconds)*time.Second + duration(t, shutdown)
		if has := time.Duration(*gateway.TerminationGracePeriodSeconds) * time.Second; has <= needs {
			t.Errorf("the gateway has %v to end, and needs %v", has, needs)
		}
		drain := duration(t, variable(&shop.Containers[0], "SHOP_DRAIN"))
		if has := time.Duration(*shop.TerminationGracePeriodSeconds) * time.Second; has <= drain+15*time.Second {
			t.Errorf("the shop has %v to end, and needs %v", has, drain+15*time.Second)
		}
		probe := shop.Containers[0].ReadinessProbe
		if notices := time.Duration(probe.PeriodSeconds*probe.FailureThreshold) * time.Second; drain < notices {
			t.Errorf("the shop drains for %v, and is found not ready after %v", drain, notices)
		}
	})
}

func variable(c *core.Container, name string) string {
	for _, e := range c.Env {
		if e.Name == name {
			return e.Value
		}
	}
	return ""
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Error(err)
	}
	return n
}

func duration(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Error(err)
	}
	return d
}
