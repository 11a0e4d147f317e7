// Package deploy holds the tests of what deploy/ offers to those who run the server: the
// dashboard and the alerts ask for metrics that exist, the unit and the image start the
// real program, the sample configuration is one that it accepts, and the manifests fit
// the schemas of Kubernetes.
package deploy
