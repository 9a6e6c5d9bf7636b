//go:build !race

package main

// raceFlag builds the tested program like the test.
const raceFlag = "-race=false"
