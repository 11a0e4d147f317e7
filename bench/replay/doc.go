// Package replay measures how fast the command reads an access log and decides it, and
// how much memory a million keys take, beside a program that only counts: goaccess.
package replay
