//go:build !race

package noisetest

const maxSentences = 100
