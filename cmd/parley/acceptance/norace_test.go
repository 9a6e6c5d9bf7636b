//go:build !race

package acceptance

// raceFlag builds the tested program like the test.
const raceFlag = "-race=false"
