// Package tidy holds the house rules that a program can check, as tests: who
// may import whom, how long files and functions get, that every package says
// what it is for, that documents point at things that exist, that migrations
// hold no table for long, and that the store offers nothing that nobody uses.
// Each rule reports one line for each place that breaks it, with what to do about it.
package tidy
