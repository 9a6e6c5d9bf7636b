//go:build !race

package acceptance

// race says whether the race detector is on.
const race = false
