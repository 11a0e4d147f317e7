package k8s

import (
	"fmt"
	"strings"
	"testing"

	autoscaling "k8s.io/api/autoscaling/v2"
)

// TestOneAutoscaler: every Deployment that can grow has one autoscaler, which sets its
// replicas alone, and a budget for disruptions that lets a node be emptied.
func TestOneAutoscaler(t *testing.T) {
	each(t, func(t *testing.T, o *objects) {
		scalers := map[string]int{}
		for _, a := range o.autoscalers {
			scalers[a.Spec.ScaleTargetRef.Name]++
		}
		for _, a := range o.scaled {
			scalers[a.Spec.ScaleTargetRef.Name]++
		}
		for _, name := range []string{"gateway", "shop"} {
			d, b := o.deployments[name], o.budgets[name]
			if scalers[name] != 1 || d.Spec.Replicas != nil {
				t.Errorf("%s has %d autoscalers, and replicas %v", name, scalers[name], d.Spec.Replicas)
			}
			if b == nil || b.Spec.MaxUnavailable == nil || b.Spec.MaxUnavailable.IntVal != 1 {
				t.Errorf("%s has no PodDisruptionBudget of 1", name)
			}
		}
	})
}

// cpu returns the target of a Resource metric, in per cent.
func cpu(a *autoscaling.HorizontalPodAutoscaler) int32 {
	for _, m := range a.Spec.Metrics {
		if m.Type == autoscaling.ResourceMetricSourceType && m.Resource.Name == "cpu" {
			return *m.Resource.Target.AverageUtilization
		}
	}
	return 0
}

// TestScaling: both ways to scale on what is asked for say the same, and leave room.
func TestScaling(t *testing.T) {
	type target struct {
		least, most int32
		cpu, load   string
	}
	want := target{3, 10, "70", "30"}
	each(t, func(t *testing.T, o *objects) {
		if got := cpu(o.autoscalers["gateway"]); got != 70 {
			t.Errorf("the gateway scales at %d %% of the processor", got)
		}
		got := target{load: want.load} // which base does not look at
		if a := o.autoscalers["shop"]; a != nil {
			got.least, got.most, got.cpu = *a.Spec.MinReplicas, a.Spec.MaxReplicas, fmt.Sprint(cpu(a))
			for _, m := range a.Spec.Metrics {
				if m.External != nil {
					got.load = m.External.Target.AverageValue.String()
					if adapter := read(t, manifests+"/components/offered-load/prometheus-adapter.yaml"); !strings.Contains(adapter, "name: {as: "+m.External.Metric.Name+"}") {
						t.Errorf("the adapter does not make %s", m.External.Metric.Name)
					}
				}
			}
		} else {
			spec := o.scaled["shop"].Spec
			got = target{spec.MinReplicaCount, spec.MaxReplicaCount, spec.Triggers[0].Metadata["value"], spec.Triggers[1].Metadata["threshold"]}
		}
		if got != want {
			t.Errorf("the shop scales as %+v, want %+v", got, want)
		}
	})
}

// TestNumbers: limits fit to each other.
func TestNumbers(t *testing.T) {
	settings, rules := read(t, manifests+"/base/rules/gateway.yaml"), read(t, manifests+"/base/rules/rules.yaml")
	each(t, func(t *testing.T, o *objects) {
		shop := &o.deployments["shop"].Spec.Template.Spec.Containers[0]
		perPod := number(t, variable(shop, "SHOP_PER_SECOND"))
		if !strings.Contains(rules, fmt.Sprintf("limits: [%d/s]", perPod)) {
			t.Errorf("the rule shop does not measure against the %d/s of a pod", perPod)
		}
		if perPod*3/4 != 30 {
			t.Errorf("30/s, at which pods are added, is not 75 %% of %d/s", perPod)
		}
		if least := *o.autoscalers["gateway"].Spec.MinReplicas; !strings.Contains(settings, fmt.Sprintf("split: {assume: %d}", least)) {
			t.Errorf("gateways do not assume that they are %d", least)
		}
		share := number(t, variable(shop, "SHOP_DATABASE_SHARE"))
		if limit := variable(shop, "SHOP_DATABASE_LIMIT"); limit == "" && share*10 != databaseLimit || limit != "" && number(t, limit) != databaseLimit {
			t.Errorf("the database gets another limit than %d: share %d, limit %q", databaseLimit, share, limit)
		}
	})
}

// databaseLimit is how much the database of the example takes at the same time.
const databaseLimit = 20
