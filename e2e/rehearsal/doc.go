// Package rehearsal runs the reference deployment on one machine, with processes in the
// place of pods: a gateway that limits addresses, three instances of an application that
// each have a limit of their own, and in front of PostgreSQL a guard whose limit they share
// through Redis. Then it asks for ten times as much as the application can do, and looks at
// what comes of it.
//
// The gateway has the settings and rules of deploy/k8s, Redis its users. Only addresses
// differ, and how long Redis may take.
package rehearsal
