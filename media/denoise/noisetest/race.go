//go:build race

package noisetest

// Under the race detector, which makes signal processing ten times slower and finds
// nothing in code of one goroutine, a few sentences must do.
const maxSentences = 3
