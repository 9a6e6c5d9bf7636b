//go:build !race

package mediatest

const raceEnabled = false
