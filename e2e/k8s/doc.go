// Package k8s holds the tests of the manifests in deploy/k8s: they are rendered as kubectl
// does it, read strictly into the types of Kubernetes' own API, and compared with each other
// and with the real programs: every flag, setting, port, path and metric in them is one that
// exists. It is a module of its own because of what Kubernetes' types bring along.
package k8s
