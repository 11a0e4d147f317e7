package k8s

import (
	"maps"
	"slices"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// selected returns the names of the Deployments whose pods a selector finds.
func (o *objects) selected(t *testing.T, s *meta.LabelSelector) (names []string) {
	t.Helper()
	selector, err := meta.LabelSelectorAsSelector(s)
	if err != nil {
		t.Fatal(err)
	}
	for name, d := range o.deployments {
		if selector.Matches(labels.Set(d.Spec.Template.Labels)) {
			names = append(names, name)
		}
	}
	return names
}

// hasPort reports whether the pods of a Deployment have a port, by number or name.
func (o *objects) hasPort(deployment string, port intstr.IntOrString) bool {
	for _, c := range o.deployments[deployment].Spec.Template.Spec.Containers {
		for _, p := range c.Ports {
			if port.Type == intstr.String && p.Name == port.StrVal || port.Type == intstr.Int && p.ContainerPort == port.IntVal {
				return true
			}
		}
	}
	return false
}

// TestSelectors: whatever selects pods finds those of one Deployment, and ports that they have.
func TestSelectors(t *testing.T) {
	each(t, func(t *testing.T, o *objects) {
		want := func(kind, name string, s *meta.LabelSelector) {
			t.Helper()
			if found := o.selected(t, s); !slices.Equal(found, []string{name}) {
				t.Errorf("%s %s selects the pods of %q", kind, name, found)
			}
		}
		for name, d := range o.deployments {
			want("Deployment", name, d.Spec.Selector)
			for _, spread := range d.Spec.Template.Spec.TopologySpreadConstraints {
				want("topology of", name, spread.LabelSelector)
			}
		}
		for name, b := range o.budgets {
			want("PodDisruptionBudget", name, b.Spec.Selector)
		}
		for name, s := range o.services {
			want("Service", name, &meta.LabelSelector{MatchLabels: s.Spec.Selector})
			for _, p := range s.Spec.Ports {
				if !o.hasPort(name, p.TargetPort) {
					t.Errorf("Service %s: the pods have no port %s", name, &p.TargetPort)
				}
			}
		}
	})
}

// TestNetwork: policies name pods that are there and ports that they have, and every
// Deployment has one.
func TestNetwork(t *testing.T) {
	each(t, func(t *testing.T, o *objects) {
		covered := map[string]bool{}
		ports := func(policy string, deployments []string, list []networking.NetworkPolicyPort) {
			t.Helper()
			for _, d := range deployments {
				for _, p := range list {
					if !o.hasPort(d, *p.Port) {
						t.Errorf("NetworkPolicy %s: the pods of %s have no port %s", policy, d, p.Port)
					}
				}
			}
		}
		peers := func(policy string, list []networking.NetworkPolicyPeer) (found []string) {
			t.Helper()
			for _, p := range list {
				if p.PodSelector == nil {
					continue
				}
				names := o.selected(t, p.PodSelector)
				if len(names) == 0 {
					t.Errorf("NetworkPolicy %s names pods that are not there", policy)
				}
				found = append(found, names...)
			}
			return found
		}
		for name, p := range o.policies {
			own := o.selected(t, &p.Spec.PodSelector)
			for _, rule := range p.Spec.Ingress {
				peers(name, rule.From)
				ports(name, own, rule.Ports)
				for _, d := range own {
					covered[d] = true
				}
			}
			for _, rule := range p.Spec.Egress {
				ports(name, peers(name, rule.To), rule.Ports)
			}
		}
		deny := o.policies["default-deny"]
		if deny == nil || len(deny.Spec.PolicyTypes) != 2 || len(deny.Spec.Ingress)+len(deny.Spec.Egress) > 0 || len(o.selected(t, &deny.Spec.PodSelector)) != len(o.deployments) {
			t.Error("default-deny does not forbid everything to all")
		}
		for name := range o.deployments {
			if !covered[name] {
				t.Errorf("nobody may connect to %s", name)
			}
		}
	})
}

// TestVolumes: mounts have volumes, ConfigMaps are there, and the rules are a directory.
func TestVolumes(t *testing.T) {
	each(t, func(t *testing.T, o *objects) {
		for name, d := range o.deployments {
			spec, volumes := &d.Spec.Template.Spec, map[string]bool{}
			for _, v := range spec.Volumes {
				volumes[v.Name] = true
				if v.ConfigMap != nil && o.configs[v.ConfigMap.Name] == nil {
					t.Errorf("%s: there is no ConfigMap %s", name, v.ConfigMap.Name)
				}
			}
			for _, c := range spec.Containers {
				for _, m := range c.VolumeMounts {
					if !volumes[m.Name] || m.SubPath != "" || !m.ReadOnly {
						t.Errorf("%s: %s has no volume, is a subPath, or can be written", name, m.MountPath)
					}
				}
			}
		}
		if o.configs["sluice-rules"] == nil || len(o.configs["sluice-rules"].Data) != 2 {
			t.Error("the rules are not in a ConfigMap whose name stays")
		}
	})
}

// TestSecrets: secrets are not in the repository, and the page tells how to make each.
func TestSecrets(t *testing.T) {
	page := read(t, "docs/KUBERNETES.md")
	each(t, func(t *testing.T, o *objects) {
		needed := map[string]map[string]bool{}
		need := func(name, key string) {
			if needed[name] == nil {
				needed[name] = map[string]bool{}
			}
			needed[name][key] = true
		}
		for _, d := range o.deployments {
			for _, v := range d.Spec.Template.Spec.Volumes {
				if v.Secret != nil {
					need(v.Secret.SecretName, "")
					for _, item := range v.Secret.Items {
						need(v.Secret.SecretName, item.Key)
					}
				}
			}
			for _, e := range variables(d.Spec.Template.Spec.Containers) {
				if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
					need(e.ValueFrom.SecretKeyRef.Name, e.ValueFrom.SecretKeyRef.Key)
				}
			}
		}
		for name, keys := range needed {
			_, command, told := strings.Cut(page, "create secret generic "+name+" ")
			command, _, _ = strings.Cut(strings.ReplaceAll(command, "\\\n", ""), "\n")
			for key := range maps.Keys(keys) {
				if !told || key != "" && !strings.Contains(command, "="+key+"=") && !strings.Contains(command, "="+key) {
					t.Errorf("docs/KUBERNETES.md does not tell how to make the secret %s with %q", name, key)
				}
			}
		}
	})
}

func variables(containers []core.Container) (all []core.EnvVar) {
	for _, c := range containers {
		all = append(all, c.Env...)
	}
	return all
}
