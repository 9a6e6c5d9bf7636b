//go:build race

package mediatest

const raceEnabled = true
